"""The objects of an agent's repository, copied into one of ours: what git opens is a regular file of ours.

A pipe in place of an object, or what names folders with more of them (`info/alternates`), is not copied. Nor is an
index of a pack: git makes it anew.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress

from sightline.working_copies._git import GitFailure, Repository, TimeLimit
from sightline.working_copies._states import entry_at, listed

_PIECE = 1024 * 1024
_folder = re.compile(r"[0-9a-f]{2}")
_object = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_pack = re.compile(r"pack-[0-9a-f]{40}(?:[0-9a-f]{24})?\.pack")


class ObjectBudget:
    """How much may be copied, of all repositories of a copy together."""

    def __init__(self, limit: TimeLimit, files: int, size: int) -> None:
        self.limit = limit
        self._most = f"more than {files:,} objects or {size // 1024**2} MiB in it are new"
        self._files, self._bytes = files, size

    def take(self, size: int) -> None:
        """GitFailure when it is used up."""
        self.limit.left()
        self._files -= 1
        self._bytes -= size
        if self._files < 0 or self._bytes < 0:
            raise GitFailure(self._most)


def copy_objects(root: str, objects: str, ours: Repository, known: str, budget: ObjectBudget) -> None:
    """Those that `known`, the folder of a repository's objects, does not have."""
    target = os.path.join(ours.common, "objects")
    for name in _regular(root, objects, known):
        os.makedirs(os.path.join(target, os.path.dirname(name)), exist_ok=True)
        _copy(root, f"{objects}/{name}", os.path.join(target, name), budget)
        if name.endswith(".pack"):
            with suppress(GitFailure):  # a broken one: what is missing then is named
                ours.run("index-pack", os.path.join(target, name))
    budget.limit.left()


def _regular(root: str, objects: str, known: str) -> Iterator[str]:
    for folder, above in listed(root, objects, force=True):
        form = _pack if folder == "pack" else _object if _folder.fullmatch(folder) else None
        if form is None or not stat.S_ISDIR(above.st_mode):
            continue
        for name, status in listed(root, f"{objects}/{folder}", force=True):
            path = f"{folder}/{name}"
            is_known = known and os.path.lexists(os.path.join(known, path))
            if form.fullmatch(name) and stat.S_ISREG(status.st_mode) and not is_known:
                yield path


def _copy(root: str, path: str, target: str, budget: ObjectBudget) -> None:
    """As long as it is now. What cannot be read is missing."""
    try:
        with entry_at(root, path) as found:
            source = found.open_regular()
    except OSError:
        return
    try:
        left = os.fstat(source).st_size
        budget.take(left)
        with open(target, "xb") as file:
            while left > 0 and (piece := os.read(source, min(_PIECE, left))):
                budget.limit.left()
                file.write(piece)
                left -= len(piece)
    finally:
        os.close(source)
