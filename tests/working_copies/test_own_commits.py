"""Commits that an agent makes in its copy: what nothing else has is stored before the copy is removed."""

import time
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest

from sightline.exceptions import OutsideFailure
from sightline.working_copies import _git
from sightline.working_copies._git import GitFailure, TimeLimit, find_repository
from sightline.working_copies.commits import _own_commits, _repositories
from tests.working_copies.conftest import git, make_repository, shell

pytestmark = pytest.mark.needs("git")
APART = pytest.mark.parametrize("kind", ["overlay", "copy"])
IDENTITY = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; "


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "file").write_text("one\n")
    make_repository(workspace)
    git(workspace, "branch", "-M", "main")
    return workspace


def agent(copy, script: str) -> None:
    shell(copy, IDENTITY + script)


@APART
def test_commits_branches_and_stashes_are_stored_and_can_be_fetched(project, opened, kind):
    """Also those of which no file is left in the copy, and each stash."""
    copy = opened(kind)
    agent(
        copy,
        "git switch -qc topic; echo 1 > made; git add made; git commit -qm made; git switch -q main;"
        "echo 2 > file; git stash -q; echo 3 > file; git stash -q; git pack-refs --all",
    )
    assert copy.changes().files == ()
    (stored,) = copy.store_commits()
    assert [name.rpartition(" ")[0] for name in stored.names] == ["branch topic", "stash-0", "stash-1"]
    copy.remove()
    assert stored.bundle is not None
    git(project, "fetch", "-q", str(stored.bundle), "refs/*:refs/agent/*")
    assert git(project, "show", "agent/heads/topic:made") == "1\n"
    assert git(project, "show", "agent/stash-0:file") == "3\n"
    assert git(project, "show", "agent/stash-1:file") == "2\n"


@APART
def test_a_commit_on_no_branch_and_one_of_a_new_repository_are_stored(project, opened, kind):
    copy = opened(kind)
    agent(
        copy,
        "git switch -q --detach; echo 1 > file; git commit -qam detached;"
        "mkdir inner; cd inner; git init -q -b first; echo 2 > other; git add -A; git commit -qm inner",
    )
    outer, inner = copy.store_commits()
    assert outer.names[0].startswith("a commit on no branch ")
    assert inner.names[0].startswith("branch first ")
    assert inner.names[0].endswith(" in inner")
    assert (outer.problem, inner.problem) == ("", "")
    assert outer.bundle != inner.bundle
    git(project, "fetch", "-q", str(outer.bundle), "refs/head")
    assert git(project, "show", "FETCH_HEAD:file") == "1\n"
    git(project, "fetch", "-q", str(inner.bundle), "first")
    assert git(project, "show", "FETCH_HEAD:other") == "2\n"


@APART
def test_what_the_workspace_has_is_not_named(project, opened, kind):
    """Its own branches, at whatever commit; a worktree's commits are in its repository anyway."""
    git(project, "branch", "old")
    copy = opened(kind)
    git(project, "commit", "-q", "--allow-empty", "-m", "the user's")
    git(project, "branch", "-D", "old")
    agent(copy, "git switch -q --detach; git status; echo 1 > file")
    assert copy.store_commits() == []
    assert opened("worktree", "two").store_commits() == []


@APART
def test_commits_that_cannot_be_stored_are_named(project, opened, kind):
    """An agent may have broken its repository. No program it names is run, and nothing else fails."""
    copy = opened(kind)
    agent(copy, "git switch -qc other; echo 2 > second; git add second; git commit -qm two; git switch -q main")
    agent(copy, "echo 1 > file; git commit -qam one")
    agent(
        copy, "tree=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-)"
    )
    (stored,) = copy.store_commits()
    assert sorted(name.partition(" ")[2][:5] for name in stored.names) == ["main ", "other"]
    assert stored.bundle is None
    assert stored.problem
    assert not list(Path(copy.record.folder).glob("*.bundle"))
    assert copy.merge().applied == ("file",)
    copy.remove()
    git(project, "fetch", "-q", str(stored.repository), "other")
    assert git(project, "show", "FETCH_HEAD:second") == "2\n"


def object_of(name: str) -> str:
    """Shell words for the file of a loose object."""
    return f"$(git rev-parse {name} | sed 's,^..,.git/objects/&/,')"


PIPES = {
    "alternates": "mkdir -p .git/objects/info; mkfifo .git/objects/info/alternates",
    "a blob": f"p={object_of('HEAD:file')}; rm -f $p; mkfifo $p",
    "a commit": f"p={object_of('HEAD')}; rm -f $p; mkfifo $p",
    "a pack": "git repack -qad; for p in .git/objects/pack/pack-*; do rm -f $p; mkfifo $p; done",
    "a name": "h=$(git rev-parse HEAD); mkfifo .git/refs/heads/a .git/packed-refs; echo $h > .git/refs/heads/c",
}


@APART
@pytest.mark.parametrize("where", PIPES)
def test_a_pipe_in_place_of_what_git_reads_is_not_opened(project, opened, kind, where):
    """Git would wait for ever. What can be read is stored, the rest is named."""
    copy = opened(kind)
    agent(copy, f"git switch -qc topic; echo mine > file; git commit -qam mine; {PIPES[where]}")
    stored = copy.store_commits()
    assert stored
    assert all(each.names for each in stored)
    assert not any("did not end" in each.problem for each in stored)
    assert bool(stored[0].bundle) == (where in ("alternates", "a name"))
    copy.store_patch()
    copy.remove()


@pytest.mark.parametrize("stopped", [False, True])
def test_git_is_ended_with_the_programs_it_started(project, tmp_path, stopped):
    """When its time is up, and when it is stopped from outside."""
    found, pids, event = find_repository(str(project)), tmp_path / "pids", Event()
    assert found is not None
    repository = found.within(TimeLimit(1000.0 if stopped else 5.0, event))
    if stopped:
        Thread(target=lambda: (wait_for(lambda: read(pids)), event.set())).start()
    with pytest.raises(GitFailure, match="it was stopped" if stopped else "did not end within 5 seconds"):
        repository.run("-c", f"alias.wait=!sh -c 'echo $$ > {pids}; exec sleep 1000'", "wait")
    pid = int(read(pids))
    wait_for(lambda: is_gone(pid))


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def wait_for(is_so) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


@APART
@pytest.mark.parametrize("packed", [False, True])
def test_many_names_are_bounded_and_the_others_counted(project, opened, kind, packed, monkeypatch):
    monkeypatch.setattr(_repositories, "_NAMES_AT_MOST", 300)
    monkeypatch.setattr(_own_commits, "_NAMES_AT_MOST", 200)
    copy = opened(kind)
    loose = "| while read n; do echo $h > .git/refs/heads/b$n; done"
    write = '| sed "s|^|$h refs/heads/b|" >> .git/packed-refs' if packed else loose
    agent(copy, f"echo mine > file; git commit -qam mine; h=$(git rev-parse HEAD); seq 1 500 {write}")
    (stored,) = copy.store_commits()
    assert len(stored.names) == 101
    assert stored.names[-1] == "401 more names"
    assert stored.bundle is not None
    listed = git(project, "bundle", "list-heads", str(stored.bundle))
    assert 150 < listed.count("refs/heads/b") <= 200


@APART
def test_a_broken_name_of_the_workspace_loses_no_commits(project, opened, kind):
    (project / ".git/refs/heads/old").write_text("1" * 40 + "\n")
    copy = opened(kind)
    agent(copy, "git switch -qc topic; echo mine > file; git commit -qam mine")
    (stored,) = copy.store_commits()
    assert stored.bundle is not None
    (project / ".git/refs/heads/old").unlink()  # `git fetch` refuses, too
    git(project, "fetch", "-q", str(stored.bundle), "topic")
    assert git(project, "show", "FETCH_HEAD:file") == "mine\n"


@APART
def test_odd_names_are_stored_under_others(project, opened, kind):
    """Names that git itself would not make, and one that is a folder of another."""
    copy = opened(kind)
    agent(
        copy,
        "echo mine > file; git commit -qam mine; h=$(git rev-parse HEAD); cd .git/refs/heads;"
        "printf $h > \"$(printf 'a\\nb')\"; printf $h > x.lock; printf $h > \"$(printf 'c\\033[2Jd')\";"
        "printf $h > .hidden; printf $h > \"$(printf 'e\\377f')\"; printf $h > ../head;"
        "echo $h refs/heads/main/y > ../../packed-refs",
    )
    (stored,) = copy.store_commits()
    assert stored.bundle is not None
    listed = git(project, "bundle", "list-heads", str(stored.bundle))
    assert listed.count("refs/unnamed-") == 5
    assert "refs/heads/main\n" in listed


def cloned(project: Path, tmp_path: Path) -> Path:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    for number in range(3):
        git(other, "commit", "-q", "--allow-empty", "-m", str(number))
        git(other, "tag", f"v{number}")
    return other


@APART
def test_a_clone_has_only_the_commits_made_in_it(project, opened, kind, tmp_path):
    other = cloned(project, tmp_path)
    copy = opened(kind)
    clone = f"git clone -q --no-local {other}"
    agent(copy, f"{clone} one; {clone} two; cd two; echo 1 > new; git add new; git commit -qm new")
    (stored,) = copy.store_commits()
    (name,) = stored.names
    assert name.startswith("branch main ")
    assert name.endswith(" in two")
    assert stored.bundle is not None
    git(other, "fetch", "-q", str(stored.bundle), "main")
    assert git(other, "show", "FETCH_HEAD:new") == "1\n"


def with_submodule(project: Path, tmp_path: Path) -> None:
    other = cloned(project, tmp_path)
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    git(project, "commit", "-qam", "sub")


def test_commits_of_a_submodule_are_stored(project, opened, tmp_path):
    with_submodule(project, tmp_path)
    copy = opened("overlay")
    agent(copy, "cd sub; git switch -qc topic; echo 1 > new; git add new; git commit -qm new; git switch -q -")
    (stored,) = copy.store_commits()
    (name,) = stored.names
    assert name.startswith("branch topic ")
    assert name.endswith(" in sub")
    git(project / "sub", "fetch", "-q", str(stored.bundle), "topic")
    assert git(project / "sub", "show", "FETCH_HEAD:new") == "1\n"


def test_commits_in_a_git_worktree_that_no_branch_has_are_stored(project, opened):
    """Of the worktree itself, of a repository made in it, and of a worktree made in it; its branches stay anyway."""
    (project / ".git/refs/heads/old").write_text("1" * 40 + "\n")
    copy = opened("worktree")
    agent(
        copy,
        "git branch stays; git worktree add -q --detach wt; (cd wt; echo wt > file; git commit -qam wt);"
        "mkdir inner; (cd inner; git init -q -b first; echo inner > new; git add new; git commit -qm inner; rm new);"
        "git switch -q --detach; echo top > file; git commit -qam top",
    )
    stored = copy.store_commits()
    (project / ".git/refs/heads/old").unlink()
    named = {each.names[0].rpartition(" in ")[2]: each for each in stored}
    assert {*named} == {stored[1].names[0], "inner", "wt"}
    for each, name, path, content in (
        (named["inner"], "first", "new", "inner\n"),
        (named["wt"], "refs/head", "file", "wt\n"),
        (stored[1], "refs/head", "file", "top\n"),
    ):
        git(project, "fetch", "-q", str(each.bundle), name)
        assert git(project, "show", f"FETCH_HEAD:{path}") == content


@APART
def test_other_repositories_of_a_copy_are_stored(project, opened, kind, tmp_path):
    """One with its folder elsewhere in the copy, a bare one, and a worktree made in it. One outside is named."""
    copy = opened(kind)
    outside = tmp_path / "outside"
    agent(
        copy,
        "git init -q -b first --separate-git-dir=there here; (cd here; echo 1 > new; git add new; git commit -qm new);"
        "git init -q -b first --bare bare; (cd here; git push -q ../bare first);"
        "git worktree add -q --detach wt; (cd wt; echo wt > file; git commit -qam wt);"
        f"git init -q --separate-git-dir={outside} away",
    )
    stored = copy.store_commits()
    said = sorted(each.names[0] for each in stored)
    assert [name.partition(" ")[0] for name in said] == ["a", "all", "branch", "branch"]
    assert said[0].startswith("a commit on no branch of the worktree wt ")
    assert [name.rpartition(" in ")[2] for name in said[1:]] == ["away", "bare", "here"] or [
        name.rpartition(" in ")[2] for name in said[1:]
    ] == ["away", "here", "bare"]
    (away,) = [each for each in stored if each.names == ("all in away",)]
    assert away.repository == outside
    assert all(each.bundle for each in stored if each is not away)


@APART
def test_many_repositories_have_one_bound(project, opened, kind, monkeypatch):
    """What is not looked at any more is named."""
    monkeypatch.setattr(_own_commits, "_REPOSITORIES_AT_MOST", 2)
    copy = opened(kind)
    agent(copy, "for i in 1 2 3; do git init -q n$i; (cd n$i; echo $i > f; git add f; git commit -qm x); done")
    stored = copy.store_commits()
    assert len([each for each in stored if each.bundle]) == (2 if kind == "overlay" else 1)
    assert stored[-1].bundle is None
    assert stored[-1].names[-1] == "all in n3"


@APART
def test_what_is_too_large_is_named(project, opened, kind, monkeypatch):
    monkeypatch.setattr(_own_commits, "_BYTES_AT_MOST", 10_000)
    copy = opened(kind)
    agent(copy, "head -c 100000 /dev/urandom > file; git commit -qam large")
    (stored,) = copy.store_commits()
    assert (stored.bundle, stored.repository) == (None, None)
    assert stored.names[0].startswith("branch main ")
    assert "are new" in stored.problem


def test_a_copy_that_is_hurried_stays(project, opened, monkeypatch):
    monkeypatch.setattr(_git, "STOPPING_SECONDS", 0.0)
    copy = opened("copy")
    agent(copy, "echo mine > file; git commit -qam mine")
    copy.hurry()
    with pytest.raises(OutsideFailure, match="it was stopped"):
        copy.store_commits()
    assert not list(Path(copy.record.folder).glob("*.bundle"))
