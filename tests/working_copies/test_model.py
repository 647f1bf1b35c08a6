"""Random file operations in a real copy, against a dictionary: what the agent made is merged, and nothing else."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.working_copies import open_copy
from tests.working_copies.conftest import Tree, make_repository, needs_of, python, tree_of

NAMES = ["a", "b,c", "d:e", "f\ng", "h\\i", "j k", "\udcff", ":(top)"]
MODES = [0o644, 0o755, 0o600]

START: Tree = {
    "a": ("file", b"1\n2\n3\n", 0o644),
    "b,c/a": ("file", b"below\n", 0o644),
    "b,c/d:e/a": ("file", b"deep", 0o755),
    "d:e/f\ng": ("file", b"\0binary", 0o644),
    "h\\i": ("link", b"a", 0),
    "j k/\udcff": ("file", b"no newline", 0o600),
}

paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
contents = st.one_of(st.sampled_from([b"", b"x\n", b"1\n2\n3\nmore\n", b"\0\1\2"]), st.binary(max_size=60))
operations = st.one_of(
    st.tuples(st.just("write"), paths, contents),
    st.tuples(st.just("delete"), paths),
    st.tuples(st.just("move"), paths, paths),
    st.tuples(st.just("folder"), paths),
    st.tuples(st.just("mode"), paths, st.sampled_from(MODES)),
    st.tuples(st.just("link"), paths, st.sampled_from([b"a", b"../outside", b"/etc", b"b,c"])),
)

# Runs in the copy. A folder of the workspace is moved as `mv` does it.
AGENT = """
import json, os, shutil, sys
os.umask(0o022)
for kind, path, *more in json.loads(sys.argv[1]):
    if kind == "write":
        open(path, "wb").write(bytes(more[0]))
    elif kind == "delete":
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    elif kind == "move":
        shutil.move(path, more[0])
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "mode":
        os.chmod(path, more[0])
    elif kind == "link":
        os.symlink(bytes(more[0]), path)
"""


class Model:
    """Files, links and folders by path."""

    def __init__(self, start: Tree) -> None:
        self.entries: Tree = dict(start)
        for path in start:
            while path := os.path.dirname(path):
                self.entries[path] = ("folder", b"", 0)

    def do(self, operation: tuple) -> bool:  # type: ignore[type-arg]
        """Whether it can be done."""
        kind, path, *more = operation
        found = self._kind(path)
        if not self._has_folder(path):
            return False
        match kind:
            case "write" if found in ("", "file"):
                mode = self.entries[path][2] if found else 0o644
                self.entries[path] = ("file", more[0], mode)
            case "delete" if found:
                for each in list(self._below(path)):
                    del self.entries[each]
            case "move" if found and not self._kind(more[0]) and self._has_folder(more[0]):
                if f"{more[0]}/".startswith(f"{path}/"):
                    return False
                for each in list(self._below(path)):
                    self.entries[more[0] + each[len(path) :]] = self.entries.pop(each)
            case "folder" if not found:
                self.entries[path] = ("folder", b"", 0)
            case "mode" if found == "file":
                self.entries[path] = (*self.entries[path][:2], more[0])
            case "link" if not found:
                self.entries[path] = ("link", more[0], 0)
            case _:
                return False
        return True

    def files(self) -> Tree:
        return {path: entry for path, entry in self.entries.items() if entry[0] != "folder"}

    def _kind(self, path: str) -> str:
        return self.entries[path][0] if path in self.entries else ""

    def _has_folder(self, path: str) -> bool:
        above = os.path.dirname(path)
        return not above or self._kind(above) == "folder"

    def _below(self, path: str) -> Iterator[str]:
        return (each for each in self.entries if each == path or each.startswith(f"{path}/"))


def write_tree(folder: Path, tree: Tree) -> None:
    for path, (kind, data, mode) in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to(os.fsdecode(data))
        else:
            place.write_bytes(data)
            place.chmod(mode)


@pytest.mark.needs("git")
@pytest.mark.parametrize(("kind", "examples"), [("overlay", 30), ("worktree", 10), ("copy", 10)])
def test_a_merge_makes_the_workspace_what_the_agent_made_of_its_copy(kind, examples, tmp_path):
    """Whatever it did. What the user did meanwhile to other files stays, the list of changes names exactly what
    differs, and the patch alone does the same to a fresh copy of the start."""
    needs_of(kind, tmp_path)

    @settings(max_examples=examples)
    @given(st.lists(operations, max_size=12))
    def holds(steps):
        with tempfile.TemporaryDirectory(dir=tmp_path, ignore_cleanup_errors=True) as place:
            _check(kind, steps, Path(place))

    holds()


def _check(kind: str, steps: list[tuple], place: Path) -> None:  # type: ignore[type-arg]
    workspace, fresh = place / "work", place / "fresh"
    for folder in (workspace, fresh):
        folder.mkdir()
        write_tree(folder, START)
    if kind == "worktree":
        make_repository(workspace)
    copy = open_copy(workspace, place / "agent", "one", kind)  # type: ignore[arg-type]
    model = Model(START)
    done = [step for step in steps if model.do(step)]
    python(
        copy,
        AGENT,
        [json.dumps([[each if isinstance(each, str | int) else list(each) for each in step] for step in done])],
    )
    (workspace / "user").write_text("mine\n")
    (workspace / "users").mkdir()
    (workspace / "users" / "file").write_text("mine too\n")
    users: Tree = {"user": ("file", b"mine\n", 0o644), "users/file": ("file", b"mine too\n", 0o644)}

    files = model.files()
    differing = {path for path in START.keys() | files.keys() if START.get(path) != files.get(path)}
    found = copy.changes()
    assert {change.path for change in found.files} == differing
    assert found.is_whole
    merged = copy.merge()
    assert (set(merged.applied), merged.conflicts, merged.refused) == (differing, (), ())
    assert tree_of(workspace) == files | users
    assert copy.changes().files == ()
    if merged.patch is not None:
        subprocess.run(
            ["git", "apply", "--allow-empty", str(merged.patch)],
            cwd=fresh,
            check=True,
            env={**os.environ, "GIT_DIR": "/"},
        )
        assert _as_git_sees(tree_of(fresh)) == _as_git_sees(files)
    copy.remove()
    assert not (place / "agent" / "copy").exists()


def _as_git_sees(tree: Tree) -> Tree:
    return {path: (kind, data, mode & 0o100) for path, (kind, data, mode) in tree.items()}
