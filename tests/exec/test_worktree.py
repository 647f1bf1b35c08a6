"""A sandboxed command in a linked git worktree: it reads its repository, and changes nothing of it."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.exec import SandboxSpec
from sightline.exec.sandbox._seclusion import seclusion
from sightline.settings import repository_of_worktree

from .running import run_boxed

pytestmark = pytest.mark.needs("git")

bubblewrap = pytest.mark.needs("bubblewrap")
CONFIG = ("-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *CONFIG, *words], cwd=folder, capture_output=True, check=True, text=True).stdout


@pytest.fixture
def place() -> Iterator[Path]:
    """In /tmp, which looks empty to a sandboxed command."""
    with tempfile.TemporaryDirectory(prefix="sl-w-", dir="/tmp") as folder:
        yield Path(os.path.realpath(folder))


@pytest.fixture
def worktree(place: Path) -> Path:
    repository = place / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "tracked").write_text("one\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "start")
    git(repository, "worktree", "add", "-q", "-b", "topic", str(place / "tree"))
    (place / "tree" / "tracked").write_text("two\n")
    return place / "tree"


def boxed(workspace: Path, script: str) -> "subprocess.CompletedProcess[bytes]":
    return run_boxed(["sh", "-c", script], SandboxSpec(workspace=str(workspace)), cwd=workspace)


@bubblewrap
def test_it_reads_its_repository(worktree: Path) -> None:
    """Also where that is in a folder that looks empty; nothing else of that folder is seen."""
    (worktree.parent / "secret").write_text("x")
    done = boxed(worktree, "git status --short && git log --format=%s && git diff --stat && ls ..")
    assert done.returncode == 0, done.stderr
    status, log, stat, _, *seen = done.stdout.decode().splitlines()
    assert (status, log, stat.split()) == (" M tracked", "start", ["tracked", "|", "2", "+-"])
    assert seen == ["repository", "tree"]
    assert boxed(worktree, "cat ../secret").returncode != 0
    assert boxed(worktree, "cat ../repository/tracked").returncode != 0


@bubblewrap
@pytest.mark.parametrize(
    "path",
    ["hooks/post-checkout", "config", "worktrees/tree/commondir", "worktrees/tree/config.worktree",
     "worktrees/tree/HEAD", "refs/heads/main", "refs/heads/new", "objects/new", "info/attributes", "packed-refs",
     "index"],
)  # fmt: skip
def test_it_changes_nothing_of_it(worktree: Path, path: str) -> None:
    """Neither what git runs, nor what the user's branches are made of."""
    target = worktree.parent / "repository" / ".git" / path
    before = target.read_bytes() if target.is_file() else None
    assert boxed(worktree, f"mkdir -p {target.parent}; echo x >> {target}").returncode != 0
    assert (target.read_bytes() if target.is_file() else None) == before


@bubblewrap
def test_a_commit_in_it_is_for_outside_the_sandbox(worktree: Path) -> None:
    done = boxed(worktree, "git -c user.name=a -c user.email=a@b commit -qam x")
    assert done.returncode != 0
    assert b"Read-only file system" in done.stderr
    assert git(worktree, "log", "--format=%s").split() == ["start"]
    assert boxed(worktree, "rm -f .git || echo x > .git; exit 1").returncode != 0
    assert (worktree / ".git").read_text().startswith("gitdir: ")


@bubblewrap
def test_a_git_file_that_a_command_wrote_shows_nothing(place: Path, worktree: Path) -> None:
    """Only a repository that names the worktree itself is seen."""
    other = place / "other"
    other.mkdir()
    (other / ".git").write_text((worktree / ".git").read_text())
    assert repository_of_worktree(str(worktree)) == str(place / "repository" / ".git")
    assert repository_of_worktree(str(worktree / "below")) == str(place / "repository" / ".git")
    assert repository_of_worktree(str(other)) == ""
    assert boxed(other, f"test -e {place}/repository/.git/config").returncode != 0


def test_a_repository_that_a_command_made_up_is_not_bound(place: Path) -> None:
    """In the workspace it is seen anyway; by the time it is bound, a link may be in its place."""
    work = place / "work"
    own = work / "made" / "worktrees" / "x"
    own.mkdir(parents=True)
    (work / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{work}/.git\n")
    assert repository_of_worktree(str(work)) == str(work / "made")
    assert str(work / "made") not in seclusion(str(work), (str(work),)).public


@pytest.mark.parametrize("text", ["gitdir: /", "gitdir: ..", "gitdir: \0", "", "gitdir:", "x" * 10_000])
def test_a_git_file_that_leads_nowhere_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert repository_of_worktree(str(tmp_path)) == ""
