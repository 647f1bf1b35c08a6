"""Worktrees of the user's own sessions: made by name, trusted as their workspace, removed only when all is stored."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.settings import (
    copy_rules,
    load,
    remember_rule,
    remembered_rules,
    trust_of,
)
from sightline.settings._trust import trust
from sightline.working_copies import (
    UserWorktree,
    find_worktree,
    leftovers,
    open_copy,
    open_worktree,
    remove_leftover,
    worktree_at,
    worktrees,
)
from sightline.working_copies import _records as records
from tests.cli.support import until
from tests.working_copies.conftest import git, make_repository, tree_of

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "tracked").write_text("one\ntwo\nthree\n")
    (workspace / ".gitignore").write_text(".env\n.sightline/\n")
    (workspace / "sub").mkdir()
    (workspace / "sub" / "file").write_text("x\n")
    make_repository(workspace)
    (workspace / "tracked").write_text("one\ntwo\nthree, changed by the user\n")
    (workspace / ".env").write_text("SECRET=1\n")
    return workspace


def commit(worktree: UserWorktree, message: str) -> str:
    git(worktree.tree, "commit", "-q", "-a", "-m", message)
    return git(worktree.tree, "rev-parse", "HEAD").strip()


def branches(project: Path) -> list[str]:
    return git(project, "branch", "--format=%(refname:short)", "--list", "sightline/*").split()


def test_it_is_made_once_and_found_by_its_name(project):
    """With the state of the workspace, beside what we store; the second time it is the same one."""
    made = []
    one = open_worktree(project / "sub", "fix", made.append)
    again = open_worktree(project, "fix", made.append)
    assert made == ["fix"]
    assert one.tree == again.tree
    assert tree_of(one.tree) == tree_of(project)
    assert (one.name, one.branch, one.workspace) == ("fix", "sightline/fix", project)
    assert one.tree.name.startswith("fix-")
    assert one.folder_for(project / "sub") == one.tree / "sub"
    assert [each.name for each in worktrees()] == ["fix"]
    assert find_worktree(project, "fix").tree == worktree_at(one.tree / "sub").tree == one.tree
    assert one.status().is_unchanged


def test_without_a_name_each_is_a_new_one(project):
    assert [open_worktree(project, "").name for _ in range(2)] == ["work-1", "work-2"]


@pytest.mark.parametrize(
    "name",
    ["-x", "--upload-pack=x", "..", ".", "../x", "a/b", "a b", "a..b", "x.lock", "x.", ".x", "a\n", "a\x1b[31m", "@{0}",
     "a~1", "a:b", "a^", "a?", "a*", "a[", "a\\b", "é", "a" * 101, "\udcff"],
)  # fmt: skip
def test_a_name_that_is_none_is_refused(project, name):
    """Before anything is made: it would be an option, lead elsewhere, or be no branch."""
    with pytest.raises(UserMistake, match="not a name for a worktree"):
        open_worktree(project, name)
    with pytest.raises(UserMistake, match="not a name for a worktree"):
        find_worktree(project, name)
    assert not worktrees()
    assert not branches(project)


def test_what_is_no_repository_is_reported_with_a_hint(workspace):
    with pytest.raises(UserMistake, match="not in a git repository") as mistake:
        open_worktree(workspace, "fix")
    assert "git init" in mistake.value.hint
    git(workspace, "init", "-q")
    with pytest.raises(UserMistake, match="no commit yet"):
        open_worktree(workspace, "fix")


def test_in_a_worktree_only_that_one_is_opened(project):
    one = open_worktree(project, "fix")
    assert open_worktree(one.tree, "fix").tree == open_worktree(one.tree / "sub", "").tree == one.tree
    with pytest.raises(UserMistake, match="is in the worktree fix already"):
        open_worktree(one.tree, "other")


def test_the_same_content_is_trusted_and_nothing_else(project):
    """Ignored settings are there, too: they may have rules that deny. The trust ends with the worktree."""
    settings = project / ".sightline" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('[permissions]\ndeny = ["exec(rm *)"]\n')
    trust(project)
    one = open_worktree(project, "fix")
    assert trust_of(one.tree) == "trusted"
    assert load(one.tree).settings.permissions.deny == ["exec(rm *)"]
    (one.tree / ".sightline" / "settings.toml").write_text("")
    assert trust_of(one.tree) == "changed"
    one.remove()
    assert str(one.tree) not in (records.data_folder() / "trusted.json").read_text()


def test_what_was_not_trusted_is_not_trusted_in_it(project):
    """Neither a folder that never was, nor what changed in one since."""
    settings = project / ".sightline" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text("")
    assert trust_of(open_worktree(project, "first").tree) == "untrusted"
    trust(project)
    settings.write_text('[permissions]\nallow = ["exec"]\n')
    two = open_worktree(project, "second")
    assert trust_of(two.tree) == "changed"
    assert load(two.tree).settings.permissions.allow == []


def test_remembered_rules_are_copied_as_far_as_they_allow_nothing_more(project):
    """A rule that allows a path of the workspace is left out; one that denies it denies it in both."""
    remember_rule(project, "exec(make *) sandboxed")
    remember_rule(project, f"write({project}/out/**)")
    remember_rule(project, f"read({project}/secret)", "deny")
    one = open_worktree(project, "fix")
    found = remembered_rules(one.tree)
    assert found.allow == ("exec(make *) sandboxed",)
    assert set(found.deny) == {f"read({project}/secret)", f"read({one.tree}/secret)"}
    remember_rule(project, "exec(git push *)")
    remember_rule(project, "network(example.org)", "deny")
    open_worktree(project, "fix")
    found = remembered_rules(one.tree)
    assert found.allow == ("exec(make *) sandboxed",)
    assert "network(example.org)" in found.deny
    copy_rules(project, one.tree, allow=False)
    assert remembered_rules(one.tree) == found
    one.remove()
    assert remembered_rules(one.tree).deny == ()


def test_one_without_changes_goes_with_its_branch(project):
    one = open_worktree(project, "fix")
    removed = one.remove()
    assert (removed.patch, removed.branches) == (None, ())
    assert not one.tree.exists()
    assert not Path(one.record.folder).exists()
    assert branches(project) == []
    assert git(project, "worktree", "list").count("\n") == 1
    assert records.records() == []


def test_changes_are_a_patch_before_they_are_removed(project, tmp_path):
    one = open_worktree(project, "fix")
    (one.tree / "tracked").write_text("ONE\ntwo\nthree, changed by the user\n")
    (one.tree / "added").write_text("new\n")
    assert not one.status().is_unchanged
    removed = one.remove()
    assert not one.tree.exists()
    git(project, "apply", str(removed.patch))
    assert (project / "tracked").read_text() == "ONE\ntwo\nthree, changed by the user\n"
    assert (project / "added").read_text() == "new\n"


def test_commits_stay_wherever_they_were_made(project):
    """On its branch, on another one, and on a HEAD that is on none."""
    one = open_worktree(project, "fix")
    first = commit(one, "on the branch")
    git(one.tree, "switch", "-q", "-c", "topic")
    (one.tree / "tracked").write_text("topic\n")
    second = commit(one, "on another")
    git(one.tree, "switch", "-q", "--detach")
    (one.tree / "tracked").write_text("detached\n")
    third = commit(one, "on none")
    assert one.status().commits == 3
    removed = one.remove()
    assert set(removed.branches) == {"sightline/fix-head", "sightline/fix"}
    tips = {name: git(project, "rev-parse", name).strip() for name in ("sightline/fix", "topic", "sightline/fix-head")}
    assert tips == {"sightline/fix": first, "topic": second, "sightline/fix-head": third}


def test_a_repository_made_in_it_is_not_removed_with_its_commits(project):
    """Its commits are in no patch and on no branch of the workspace's. One that has nothing of its own goes."""
    one = open_worktree(project, "fix")
    inner = one.tree / "lib" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("1\n")
    make_repository(inner)
    with pytest.raises(UserMistake, match=f"a repository with commits of its own: {inner}"):
        one.remove()
    assert [*one.merge().applied] == ["lib/inner/file"]
    with pytest.raises(UserMistake, match="commits of its own"):
        one.remove()
    git(inner, "clone", "-q", "--bare", str(inner), str(project.parent / "elsewhere"))
    git(inner, "remote", "add", "origin", str(project.parent / "elsewhere"))
    git(inner, "fetch", "-q")
    git(inner, "stash", "list")
    one.remove()
    assert not one.tree.exists()


def test_a_repository_that_cannot_be_read_or_has_only_a_stash_is_not_removed(project):
    one = open_worktree(project, "fix")
    inner = one.tree / "inner"
    git(one.tree, "clone", "-q", str(project), str(inner))
    (inner / "tracked").write_text("changed\n")
    git(inner, "stash")
    with pytest.raises(UserMistake, match="commits of its own"):
        one.remove()
    git(inner, "stash", "drop")
    (inner / ".git" / "HEAD").unlink()
    with pytest.raises(UserMistake, match="commits of its own"):
        one.remove()


def test_an_ignored_folder_goes_with_its_repositories(project):
    """It is what a program fetched, such as its dependencies."""
    (project / ".gitignore").write_text("vendor/\n")
    one = open_worktree(project, "fix")
    (one.tree / "vendor" / "lib").mkdir(parents=True)
    (one.tree / "vendor" / "lib" / "file").write_text("1\n")
    make_repository(one.tree / "vendor" / "lib")
    one.remove()
    assert not one.tree.exists()


@pytest.mark.parametrize("how", ["by hand", "by git"])
def test_commits_stay_when_its_files_were_removed_by_other_means(project, how):
    """Also those that only its HEAD leads to, as long as git has not forgotten it."""
    one, two = open_worktree(project, "one"), open_worktree(project, "two")
    git(one.tree, "switch", "-q", "--detach")
    lost, on_branch = commit(one, "detached"), commit(two, "on its branch")
    for each in (one, two):
        if how == "by git" and each is two:
            git(project, "worktree", "remove", "--force", str(each.tree))
        shutil.rmtree(each.tree, ignore_errors=True)
    assert one.remove().branches == ("sightline/one-head",)
    assert git(project, "rev-parse", "sightline/one-head").strip() == lost
    assert two.remove().branches == ("sightline/two",)
    assert git(project, "rev-parse", "sightline/two").strip() == on_branch


def test_a_commit_of_the_users_own_changes_is_one(project):
    """No file differs from the start then: it is not taken for a worktree in which nothing happened."""
    one = open_worktree(project, "fix")
    commit(one, "what the user had changed")
    status = one.status()
    assert (status.changes.files, status.commits, status.is_unchanged) == ((), 1, False)


def test_what_git_leaves_alone_in_the_workspace_is_no_change(project):
    """A file that is not checked out is not deleted by a commit, and one that is the user's alone is not committed."""
    git(project, "stash", "-q")
    for name in ("apart", "mine", "quiet"):
        (project / name).mkdir()
        (project / name / "file").write_text("1\n")
    git(project, "add", "-A")
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(project, "commit", "-q", "-m", "more")
    (project / "module").mkdir()
    git(project, "update-index", "--skip-worktree", "mine/file", "apart/file")
    git(project, "update-index", "--assume-unchanged", "quiet/file")
    (project / "mine" / "file").write_text("private\n")
    (project / "quiet" / "file").write_text("private\n")
    (project / "apart" / "file").unlink()
    one = open_worktree(project, "fix")
    assert git(one.tree, "status", "--short") == ""
    assert (one.tree / "mine" / "file").read_text() == "private\n"
    (one.tree / "tracked").write_text("changed\n")
    for content in ("2\n", "3\n"):
        (one.tree / "tracked").write_text(content)
        one.commit()
        assert git(one.tree, "status", "--short") == ""
    assert git(project, "diff", "--name-only", "HEAD", one.branch).split() == ["tracked"]


def test_a_merge_leaves_both_sides_of_a_conflict(project):
    one = open_worktree(project, "fix")
    (one.tree / "tracked").write_text("worktree\ntwo\nthree, changed by the user\n")
    (one.tree / "sub" / "file").write_text("merged\n")
    (project / "tracked").write_text("workspace\ntwo\nthree, changed by the user\n")
    merged = one.merge()
    assert merged.applied == ("sub/file",)
    (conflict,) = merged.conflicts
    assert (project / "tracked").read_text().startswith("workspace\n")
    assert conflict.agent.read_text().startswith("worktree\n")
    assert "<<<<<<<" in conflict.merge.read_text()
    assert one.tree.is_dir()


def test_one_is_not_removed_while_it_is_merged(project):
    """Its files would count as deleted, and be deleted in the workspace."""
    one = open_worktree(project, "fix")
    (one.tree / "tracked").write_text("changed\n")
    with ThreadPoolExecutor(1) as pool:
        with records.MergeLock(one.record.device, one.record.inode):
            merging = pool.submit(one.merge)
            until(one.is_in_use)
            with pytest.raises(UserMistake, match="is in use"):
                one.remove()
        assert merging.result(60).applied == ("tracked",)
    assert (project / "tracked").read_text() == "changed\n"
    one.remove()


def test_files_that_vanish_during_a_merge_are_not_deleted_in_the_workspace(project, tmp_path):
    """By other means, such as `git worktree remove`: nothing the agent did."""
    one = open_worktree(project, "fix")
    before = tree_of(project)
    with ThreadPoolExecutor(1) as pool:
        with records.MergeLock(one.record.device, one.record.inode):
            merging = pool.submit(one.merge)
            until(one.is_in_use)
            one.tree.rename(tmp_path / "elsewhere")
        with pytest.raises(OutsideFailure, match="the files of the working copy are gone"):
            merging.result(60)
    assert tree_of(project) == before


def test_one_in_use_is_not_removed(project):
    """The lock ends with what uses it."""
    one = open_worktree(project, "fix")
    with one.used(), one.used():
        assert one.is_in_use()
        with pytest.raises(UserMistake, match="in use"):
            one.remove()
        assert one.tree.is_dir()
    assert not one.is_in_use()
    one.remove()
    with pytest.raises(UserMistake, match="is being removed"), one.used():
        pass


def test_no_program_of_the_repository_is_run(project, tmp_path):
    """When it is made, read, merged, committed and removed: no hook, filter, driver or monitor, and no `.git` file that
    was changed is believed."""
    ran = tmp_path / "ran"
    (project / ".git" / "hooks").mkdir(exist_ok=True)
    hooks = ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "post-rewrite")
    for hook in hooks:
        place = project / ".git" / "hooks" / hook
        place.write_text(f"#!/bin/sh\necho {hook} >> {ran}\n")
        place.chmod(0o755)
    for name in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor", "diff.external"):
        git(project, "config", name, f"sh -c 'echo {name} >> {ran}; cat'")
    (project / ".gitattributes").write_text("* filter=evil diff=evil\n")
    one = open_worktree(project, "fix")
    (one.tree / "added").write_text("new\n")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (one.tree / ".git").write_text(f"gitdir: {other}/.git\n")
    assert [each.path for each in one.status().changes.files] == ["added"]
    one.merge()
    (one.tree / "added").write_text("newer\n")
    assert one.commit() == "sightline/fix"
    one.remove()
    assert not ran.exists(), ran.read_text()
    assert (other / ".git").is_dir()
    assert git(project, "-c", "core.hooksPath=/dev/null", "show", "sightline/fix:added") == "newer\n"


MAKER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sightline.working_copies import _opening, open_worktree
if sys.argv[2] == "made":
    open_worktree(Path(sys.argv[1]), "fix")
else:  # to be killed at this point
    def stop(*_):
        print("here", flush=True)
        sys.stdin.read()
    setattr(_opening, sys.argv[2], stop)
    open_worktree(Path(sys.argv[1]), "fix")
print("here", flush=True)
sys.stdin.read()
"""


def killed_at(project: Path, point: str) -> None:
    maker = [sys.executable, "-c", MAKER, str(project), point]
    process = subprocess.Popen(maker, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_whole_one_outlives_the_process_that_made_it(project):
    """No list of leftovers has it, so nothing removes it but the user."""
    killed_at(project, "made")
    assert leftovers() == []
    assert [each.name for each in worktrees()] == ["fix"]
    assert open_worktree(project, "fix", pytest.fail).tree.is_dir()


@pytest.mark.parametrize("point", ["_make_worktree", "tick", "WorkingCopy"])
def test_one_whose_maker_was_killed_is_a_leftover_or_whole(project, point):
    """What was half made is found, and made anew under its name."""
    killed_at(project, point)
    left = leftovers()
    assert bool(left) != bool(worktrees() and worktrees()[0].record.is_whole)
    one = open_worktree(project, "fix")
    assert one.status().is_unchanged
    assert tree_of(one.tree) == tree_of(project)
    assert len(records.records()) == 1


def test_one_whose_removal_was_cut_short_loses_no_patch(project):
    """Files that are missing by then are not taken for files that were deleted: neither merged nor stored."""
    one = open_worktree(project, "fix")
    (one.tree / "added").write_text("new\n")
    patch = one._copy().store_patch().path
    before = patch.read_bytes()
    os.rename(one.tree, f"{one.tree}.removed")  # the first step of it
    with pytest.raises(UserMistake, match="files of the worktree fix are gone"):
        one.merge()
    (record,) = records.records()
    remove_leftover(record)
    assert patch.read_bytes() == before
    assert not Path(f"{one.tree}.removed").exists()
    assert records.records() == []
    assert git(project, "worktree", "list").count("\n") == 1


def test_a_repository_that_is_gone_is_reported_and_nothing_is_removed(project, tmp_path):
    one = open_worktree(project, "fix")
    (one.tree / "added").write_text("new\n")
    project.rename(tmp_path / "moved")
    with pytest.raises(OutsideFailure):
        one.remove()
    assert (one.tree / "added").exists()


def test_agents_of_a_session_in_it_can_have_copies_of_it(project, tmp_path):
    """It is a workspace like any other; the folder it is in is none."""
    one = open_worktree(project, "fix")
    copy = open_copy(one.tree, tmp_path / "agents" / "one", "one", "copy")
    (copy.cwd / "added").write_text("by the agent\n")
    assert copy.merge().applied == ("added",)
    copy.remove()
    assert (one.tree / "added").read_text() == "by the agent\n"
    with pytest.raises(UserMistake, match="files of sightline"):
        open_copy(one.tree.parent, tmp_path / "agents" / "two", "two", "copy")


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize(("users", "agents", "can_be_merged"), [("d", "d/x", False), ("d/y", "d/x", True)])
def test_git_merge_is_offered_only_where_no_file_is_in_its_way(project, ignored, users, agents, can_be_merged):
    """Git would delete an ignored file where a branch has a folder."""
    git(project, "checkout", "-q", "tracked")
    if ignored:
        (project / ".git" / "info" / "exclude").write_text(f"/{users}\n")
    one = open_worktree(project, "fix")
    (one.tree / agents).parent.mkdir()
    (one.tree / agents).write_text("agent\n")
    git(one.tree, "add", "-f", agents)
    commit(one, "agent's")
    (project / users).parent.mkdir(exist_ok=True)
    (project / users).write_text("precious\n")
    assert one.remove().can_be_merged is can_be_merged
    if can_be_merged:
        git(project, "merge", "-q", "sightline/fix")
    assert (project / users).read_text() == "precious\n"
