"""The end of a worktree: the way to continue that is offered is one that works."""

import shlex
from pathlib import Path

import pytest

from sightline.views._worktrees import end_worktree
from sightline.working_copies import open_worktree
from tests.working_copies.conftest import git, make_repository

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "file").write_text("one\n")
    make_repository(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "work")


@pytest.mark.parametrize(
    ("users", "agents", "end", "way"),
    [
        ({}, {"file": "two\n", "made": "1\n"}, "branch", "merge"),
        ({"other": "user\n"}, {"made": "1\n"}, "branch", "apply"),
        ({"file": "user\n"}, {"file": "user\ntwo\n"}, "branch", "apply"),
        ({}, {"file": "two\n"}, "remove", "apply"),
        ({}, {"file": "two\n", "commit": ""}, "remove", "merge"),
        ({}, {"file": "two\n", "commit": "", "made": "after the commit\n"}, "remove", "apply"),
    ],
)
def test_what_is_offered_works_and_brings_all_of_it(
    project: Path, users: dict[str, str], agents: dict[str, str], end: str, way: str
) -> None:
    """Git refuses to merge over changes that are not committed, and a branch may not have everything. `users`: what
    the user had not committed when the worktree was made. The other way is not offered."""
    for name, content in users.items():
        (project / name).write_text(content)
    worktree = open_worktree(project, "fix")
    for name, content in agents.items():
        if name == "commit":
            commit(worktree.tree)
        else:
            (worktree.tree / name).write_text(content)
    report = end_worktree(worktree, end)  # type: ignore[arg-type]
    (offered,) = [line.partition(": ")[2] for line in report.lines if ": git " in line]
    words = shlex.split(offered)
    assert words[:2] == ["git", way]
    git(project, *words[1:])
    wanted = {**users, **{name: content for name, content in agents.items() if name != "commit"}}
    assert {name: (project / name).read_text() for name in wanted} == wanted


def test_commits_that_are_merged_into_the_workspace_are_named_only(project: Path) -> None:
    """Their changes are in the workspace, not committed: git would refuse to merge the branch."""
    worktree = open_worktree(project, "fix")
    (worktree.tree / "file").write_text("two\n")
    commit(worktree.tree)
    report = end_worktree(worktree, "merge")
    assert (project / "file").read_text() == "two\n"
    assert report.lines[-1] == "its commits: branch sightline/fix"
