"""The worktree: what the agent gets of the user's state, and what its branch gets of the agent's."""

import os
import subprocess
from pathlib import Path

import pytest

from sightline.exceptions import UserMistake
from sightline.working_copies import open_copy
from tests.working_copies.conftest import git, make_repository, shell, tree_of

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "tracked").write_text("committed\n")
    (workspace / "deleted").write_text("x\n")
    (workspace / ".gitignore").write_text("*.log\n.env\nbuild/\n")
    make_repository(workspace)
    (workspace / "tracked").write_text("changed by the user\n")
    (workspace / "deleted").unlink()
    (workspace / "untracked").write_text("new\n")
    (workspace / ".env").write_text("SECRET=1\n")
    (workspace / "sub").mkdir()
    (workspace / "sub" / ".env").write_text("SECRET=2\n")
    (workspace / "sub" / "large.log").write_bytes(bytes(1024 * 1024 + 1))
    (workspace / "build").mkdir()
    (workspace / "build" / "made").write_text("made\n")
    return workspace


def test_the_agent_sees_what_the_user_sees(project, opened):
    """Changed, deleted and new files, and small ignored ones it may need; git says the same as in the workspace."""
    copy = opened("worktree")
    assert copy.words == ()
    expected = tree_of(project)
    del expected["sub/large.log"], expected["build/made"]
    assert tree_of(copy.cwd) == expected
    assert git(copy.cwd, "status", "--porcelain") == git(project, "status", "--porcelain")
    assert git(copy.cwd, "branch", "--show-current") == "sightline/one\n"
    assert copy.changes().files == ()


def test_a_commit_has_everything_but_what_is_ignored(project, opened):
    """Also where the agent un-ignores a file that was copied for it; the workspace and its branch are unchanged."""
    copy = opened("worktree", branch=True)
    before = tree_of(project)
    shell(copy, "echo agent > tracked; echo x > added; mkdir untracked-folder; : > untracked-folder/f; : > .gitignore")
    branch = copy.commit("What the agent did\n\nAnd why.")
    assert (branch.name, branch.left_out) == ("sightline/one", ())
    assert git(project, "show", "-s", "--format=%B", branch.commit).strip() == "What the agent did\n\nAnd why."
    names = git(project, "ls-tree", "-r", "--name-only", branch.commit).split()
    assert names == [".gitignore", "added", "tracked", "untracked", "untracked-folder/f"]
    assert git(project, "rev-parse", "sightline/one").strip() == branch.commit
    assert tree_of(project) == before
    assert git(project, "branch", "--show-current") == "main\n"
    copy.remove()
    assert git(project, "rev-parse", "sightline/one").strip() == branch.commit
    assert git(project, "worktree", "list").count("\n") == 1


def test_a_commit_without_changes_is_the_commit_it_began_with(workspace, opened):
    """And then the branch goes with the copy."""
    make_repository(workspace)
    copy = opened("worktree", branch=True)
    assert copy.commit("nothing").commit == git(workspace, "rev-parse", "HEAD").strip()
    copy.remove()
    assert "sightline" not in git(workspace, "branch", "--list")
    assert not copy.record.folder or not Path(copy.record.folder).exists()


def test_commits_of_the_agents_own_stay_on_its_branch(project, opened):
    """What it did not commit comes on top of them."""
    copy = opened("worktree", branch=True)
    git(copy.cwd, "commit", "-q", "-a", "-m", "the agent's own")
    shell(copy, "echo more > more")
    branch = copy.commit("the rest")
    log = git(project, "log", "--format=%s", branch.commit).split("\n")
    assert log[:3] == ["the rest", "the agent's own", "start"]


def test_no_hook_filter_or_setting_of_the_repository_is_run(project, opened, tmp_path):
    """Neither when it is opened nor when changes are listed, merged and committed."""
    ran = tmp_path / "ran"
    (project / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        place = project / ".git" / "hooks" / hook
        place.write_text(f"#!/bin/sh\necho {hook} >> {ran}\n")
        place.chmod(0o755)
    run = f"sh -c 'echo setting >> {ran}; cat'"
    drivers = (
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
    )
    programs = ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "gpg.program", "diff.external")
    for name in (*drivers, *programs):
        git(project, "config", name, run)
    git(project, "config", "filter.evil.required", "true")
    git(project, "config", "commit.gpgSign", "true")
    (project / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    copy = opened("worktree", branch=True)
    shell(copy, "echo agent >> tracked; echo x > new; echo '* filter=evil' > .gitattributes")
    copy.changes()
    (project / "tracked").write_text("the user again\n" + (project / "tracked").read_text())
    assert copy.merge().conflicts == ()
    copy.commit("x")
    copy.remove()
    assert not ran.exists(), ran.read_text()
    subprocess.run(["git", "status"], cwd=project, capture_output=True)
    assert "setting" in ran.read_text()  # the trap was one


def test_a_git_file_that_points_elsewhere_leads_nowhere(project, opened, tmp_path):
    """The agent made it name another repository, with settings that run something."""
    other = tmp_path / "other"
    other.mkdir()
    make_repository(other)
    (other / "precious").write_text("x")
    git(other, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    before = git(other, "rev-parse", "HEAD"), tree_of(other)
    copy = opened("worktree", branch=True)
    shell(copy, f"echo 'gitdir: {other}/.git' > .git; echo x > new")
    assert [change.path for change in copy.changes().files] == ["new"]
    branch = copy.commit("x")
    copy.remove()
    assert (git(other, "rev-parse", "HEAD"), tree_of(other)) == before
    assert "new" in git(project, "ls-tree", "--name-only", branch.commit)
    assert not (tmp_path / "ran").exists()
    assert git(project, "worktree", "list").count("\n") == 1


def test_variables_that_lead_git_elsewhere_are_not_for_our_calls(project, opened, tmp_path, monkeypatch):
    """As in a hook, where GIT_DIR and GIT_INDEX_FILE are set."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {tmp_path}/ran")
    copy = opened("worktree")
    shell(copy, "echo x > new.log; echo x > new")
    assert [change.path for change in copy.changes().files] == ["new"]
    assert not (tmp_path / "index").exists()
    copy.store_patch()
    copy.remove()


def test_repositories_inside_are_compared_like_all_others(project, opened):
    """Their ignored files are left out by their own rules, and a commit of the outer one names what it cannot have."""
    inner = project / "inner"
    inner.mkdir()
    (inner / ".gitignore").write_text("*.tmp\n")
    (inner / "file").write_text("inner\n")
    make_repository(inner)
    unborn = project / "unborn"
    unborn.mkdir()
    git(unborn, "init", "-q")
    (unborn / "file").write_text("unborn\n")
    for kind in ("worktree", "overlay", "copy"):
        copy = opened(kind, kind)
        shell(copy, f"echo {kind} >> inner/file; echo x > inner/x.tmp; echo {kind} >> unborn/file; echo x > x.log")
        assert [change.path for change in copy.changes().files] == ["inner/file", "unborn/file"]
        if kind == "worktree":
            assert copy.commit("x").left_out == ("inner/file", "unborn/file")
            with pytest.raises(UserMistake, match="neither merged nor stored"):
                copy.remove()
        assert copy.merge().applied == ("inner/file", "unborn/file")
        copy.remove()
    assert (inner / "file").read_text() == "inner\nworktree\noverlay\ncopy\n"
    assert git(inner, "status", "--porcelain") == " M file\n"


def test_a_branch_name_that_is_taken_gets_a_number(project, opened, tmp_path):
    """Two agents of one name have two branches."""
    first = opened("worktree", "one", branch=True)
    second = open_copy(project, tmp_path / "agents" / "again", "one", "worktree", branch=True)
    assert (first.branch, second.branch) == ("sightline/one", "sightline/one-2")


@pytest.mark.parametrize("name", ["", "-x", "a/b", "a b", "..", "a..b", "x.lock", "x.", "é", "a\n"])
def test_a_name_that_could_mean_something_to_git_is_refused(project, tmp_path, name):
    """It is part of a branch's name."""
    with pytest.raises(UserMistake, match="not a name"):
        open_copy(project, tmp_path / "agents", name, "worktree")


def test_why_there_is_no_worktree(workspace, tmp_path):
    """Each reason is one the user can do something about; other kinds have no branch."""
    agents = tmp_path / "agents"
    with pytest.raises(UserMistake, match="not a git repository"):
        open_copy(workspace, agents, "one", branch=True)
    git(workspace, "init", "-q")
    with pytest.raises(UserMistake, match="has no commit yet"):
        open_copy(workspace, agents, "one", branch=True)
    make_repository(workspace)
    (workspace / "sub").mkdir()
    with pytest.raises(UserMistake, match="is a folder of the repository"):
        open_copy(workspace / "sub", agents, "one", branch=True)
    with pytest.raises(UserMistake, match="has no branch"):
        open_copy(workspace, agents, "one", "copy", branch=True)
    with pytest.raises(UserMistake, match="has no branch"):
        open_copy(workspace, agents, "one", "copy").commit("x")
    assert os.listdir(agents) == ["copy"]


def test_a_removal_leaves_the_other_worktrees_of_the_user(project, opened, tmp_path):
    """Also one whose folder is away just now: its disk is not mounted."""
    git(project, "worktree", "add", "-q", str(tmp_path / "usb"))
    (tmp_path / "usb").rename(tmp_path / "away")
    opened("worktree").remove()
    (tmp_path / "away").rename(tmp_path / "usb")
    assert git(tmp_path / "usb", "status", "--porcelain") == ""
    assert "sightline/" not in git(project, "branch")


def test_one_that_could_not_be_opened_leaves_the_branch_of_another(project, tmp_path, monkeypatch):
    """Both found the name free."""
    first = open_copy(project, tmp_path / "first", "one", "worktree", branch=True)
    monkeypatch.setattr("sightline.working_copies._opening.free_branch", lambda repository, name: first.branch)
    with pytest.raises(UserMistake):
        open_copy(project, tmp_path / "second", "one", "worktree", branch=True)
    shell(first, "echo agent > added")
    branch = first.commit("It")
    assert "added" in git(project, "ls-tree", "--name-only", branch.commit)


@pytest.mark.parametrize("by_itself", [False, True])
def test_a_commit_has_nothing_that_a_merge_would_refuse(workspace, opened, by_itself):
    """Protected files, and those a rule denies, are as they were at the start, also where the agent committed them."""
    (workspace / ".gitignore").write_text(".envrc\n")
    for name in ("denied", "removed", "file"):
        (workspace / name).write_text("start\n")
    make_repository(workspace)
    copy = opened("worktree", branch=True)
    shell(copy, "mkdir .vscode; echo '{}' > .vscode/tasks.json; echo x > .envrc; rm removed")
    shell(copy, "echo agent > denied; echo agent > file; mkdir .GIT; echo x > .GIT/x")
    if by_itself:
        shell(copy, "git add -A . ':!.GIT'; git add -f .envrc; git -c user.name=a -c user.email=a@b.c commit -qm mine")
    refused = (str(workspace / "denied"), str(workspace / "removed"))
    made = copy.commit("What it did", lambda path: path not in refused)
    assert {each.path: each.why for each in made.refused if each.path != ".envrc"} == {
        ".GIT/x": "it is git's own",
        ".vscode/tasks.json": "it is protected",
        "denied": "no rule allows to write it",
        "removed": "no rule allows to write it",
    }
    assert (".envrc" in {each.path for each in made.refused}) is by_itself
    assert git(workspace, "ls-tree", "-r", "--name-only", made.name).split() == [
        ".gitignore", "denied", "file", "removed",
    ]  # fmt: skip
    assert git(workspace, "show", f"{made.name}:denied") == "start\n"
    assert git(workspace, "show", f"{made.name}:file") == "agent\n"
    with pytest.raises(UserMistake, match=f"neither merged nor stored: {copy.cwd}"):
        copy.remove()
    assert copy.store_patch().path is not None
    copy.remove()


@pytest.mark.parametrize("to", ["/etc", "other"])
def test_a_folder_that_became_a_link_is_committed(workspace, opened, to):
    """As a link; what was in it is gone. Where that may not be written, or is protected, it is as it was."""
    for folder in ("d/deep", "other/deep", "denied", ".vscode"):
        (workspace / folder).mkdir(parents=True)
        (workspace / folder / "tasks.json").write_text("start\n")
    make_repository(workspace)
    copy = opened("worktree", branch=True)
    shell(copy, f"for each in d denied .vscode; do rm -r $each; ln -s {to} $each; done; echo agent > file")
    made = copy.commit("It", lambda path: "denied" not in path)
    assert git(workspace, "ls-tree", "-r", "--name-only", made.name).split() == [
        ".vscode/tasks.json", "d", "denied/tasks.json", "file", "other/deep/tasks.json",
    ]  # fmt: skip
    assert git(workspace, "show", f"{made.name}:d") == to
    assert {"denied", "denied/tasks.json", ".vscode/tasks.json"} <= {each.path for each in made.refused}
