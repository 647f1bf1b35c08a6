"""Which files there were when a copy was opened: how one knows later what is new, and whose change it is.

Rules:

- It names every file and link below the workspace but those in `.git` folders, ignored ones too.
- `source` is the file in the workspace; as long as it has that signature, it is as it was at the start. `copied` is the
  agent's file at the start, where the copy has files of its own.
- A file that was changed while the copy was opened has no source: within one tick of the clock, two changes look alike.
"""

import os
import stat
import time
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sightline.exceptions import OutsideFailure
from sightline.working_copies._states import Signature, listed, signature_of

FILES_AT_MOST = 500_000
_TICK = 0.001


class ManifestEntry(msgspec.Struct, frozen=True, array_like=True):
    source: Signature | None
    copied: Signature | None = None


class _Stored(msgspec.Struct, array_like=True):
    files: dict[bytes, ManifestEntry]
    repositories: list[bytes]
    extra: list[bytes]


class Manifest:
    """`repositories`: folders in the workspace, not itself, that have a `.git`. `extra`: ignored files that were copied
    because the agent may need them."""

    def __init__(
        self, files: dict[str, ManifestEntry], repositories: list[str] | None = None, extra: list[str] | None = None
    ) -> None:
        self.files = files
        self.repositories = repositories or []
        self.extra = extra or []
        self._sorted: list[str] | None = None

    def below(self, folder: str) -> Iterator[str]:
        """The files in a folder, at any depth."""
        if self._sorted is None:
            self._sorted = sorted(self.files)
        start = f"{folder}/"
        for index in range(bisect_left(self._sorted, start), len(self._sorted)):
            if not self._sorted[index].startswith(start):
                return
            yield self._sorted[index]

    def has_folder(self, folder: str) -> bool:
        """Whether there was such a folder, with a file in it."""
        return next(self.below(folder), None) is not None

    def write(self, path: Path) -> None:
        files = {os.fsencode(name): entry for name, entry in self.files.items()}
        others = [[os.fsencode(each) for each in some] for some in (self.repositories, self.extra)]
        new = path.with_suffix(".new")
        new.write_bytes(msgspec.msgpack.encode(_Stored(files, *others)))
        new.rename(path)

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        try:
            stored = msgspec.msgpack.decode(path.read_bytes(), type=_Stored)
        except (OSError, msgspec.DecodeError) as problem:
            raise OutsideFailure(f"the working copy cannot be read: {path}: {problem}") from problem
        files = {os.fsdecode(name): entry for name, entry in stored.files.items()}
        return cls(files, [os.fsdecode(each) for each in stored.repositories], [os.fsdecode(e) for e in stored.extra])


def scanned(workspace: str, before: int) -> Manifest:
    """As it is now. `before`: the tick at which the copy began to be opened."""
    files: dict[str, ManifestEntry] = {}
    repositories: list[str] = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for name, status in _readable(workspace, folder):
            path = f"{folder}/{name}" if folder else name
            if name == ".git":
                repositories += [folder] if folder else []
            elif stat.S_ISDIR(status.st_mode):
                waiting.append(path)
            else:
                files[path] = ManifestEntry(settled(signature_of(status), before))
        if len(files) > FILES_AT_MOST:
            raise OutsideFailure(f"the workspace has more than {FILES_AT_MOST:,} files")
    return Manifest(files, repositories)


def settled(source: Signature, before: int) -> Signature | None:
    return source if source.changed <= before else None


def tick(folder: Path) -> int:
    """The time a file changed at this moment would have. Every change from now on has a later one."""
    mark = folder / "tick"
    mark.write_bytes(b"")
    first = mark.stat().st_ctime_ns
    while True:
        mark.write_bytes(b"x")
        if mark.stat().st_ctime_ns > first:
            return first
        time.sleep(_TICK)


def _readable(workspace: str, folder: str) -> list[tuple[str, os.stat_result]]:
    """What the user cannot read either is no part of it."""
    try:
        return listed(workspace, folder)
    except PermissionError:
        return []
