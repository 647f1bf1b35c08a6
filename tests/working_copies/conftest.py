"""A workspace, and copies of it in the three kinds."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from sightline.working_copies import WorkingCopy, _overlay, open_copy
from tests import needs

Tree = dict[str, tuple[str, bytes, int]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(workspace: Path, tmp_path: Path) -> Callable[..., WorkingCopy]:
    def opened(kind: str, name: str = "one", **options: bool) -> WorkingCopy:
        needs_of(kind, tmp_path)
        copy = open_copy(workspace, tmp_path / "agents" / name, name, kind, **options)  # type: ignore[arg-type]
        assert (copy.kind, copy.why) == (kind, "")
        return copy

    return opened


def needs_of(kind: str, folder: Path) -> None:
    """Skips where a machine cannot have this kind."""
    if kind == "worktree":
        needs.require(["git"])
    if kind == "overlay":
        lower, upper = folder / "probe-lower", folder / "probe-upper"
        lower.mkdir(exist_ok=True)
        upper.mkdir(exist_ok=True)
        answer = _overlay.overlay_answer(str(lower), upper)
        if answer.mode is None:
            pytest.skip(f"no overlay here: {answer.why}")


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, check=True)
    return os.fsdecode(done.stdout)


def make_repository(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")


def run_in(copy: WorkingCopy, *argv: str) -> str:
    done = subprocess.run([*copy.words, *argv], cwd=copy.cwd, capture_output=True)
    assert done.returncode == 0, done.stderr
    return os.fsdecode(done.stdout)


def shell(copy: WorkingCopy, script: str) -> str:
    return run_in(copy, "/bin/sh", "-ec", script)


def python(copy: WorkingCopy, code: str, arguments: Sequence[str] = ()) -> str:
    return run_in(copy, sys.executable, "-I", "-S", "-c", code, *arguments)


def tree_of(folder: Path) -> Tree:
    """Files and links, without git's and without folders."""
    return dict(_entries(folder, ""))


def _entries(folder: Path, prefix: str) -> Iterator[tuple[str, tuple[str, bytes, int]]]:
    with os.scandir(folder) as found:
        for each in found:
            path = prefix + each.name
            if each.name == ".git":
                continue
            if each.is_symlink():
                yield path, ("link", os.fsencode(os.readlink(each.path)), 0)
            elif each.is_dir():
                yield from _entries(Path(each.path), f"{path}/")
            elif each.is_file():
                yield path, ("file", Path(each.path).read_bytes(), each.stat().st_mode & 0o777)
            else:
                yield path, ("special", b"", 0)
