"""Commits that an agent makes in its copy: what nothing else has is stored before the copy is removed."""

from pathlib import Path

import pytest

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
    agent(copy, "echo 1 > file; git commit -qam one")
    agent(
        copy, "tree=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-)"
    )
    (stored,) = copy.store_commits()
    assert stored.names[0].startswith("branch main ")
    assert stored.bundle is None
    assert stored.problem
    assert not list(Path(copy.record.folder).glob("*.bundle"))
    assert copy.merge().applied == ("file",)
    copy.remove()
