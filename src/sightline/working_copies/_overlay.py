"""The copy-on-write side of Linux: the workspace below, and a folder of ours with all that changed on top.

Rules of the kernel's that reading the upper folder follows:

- A file in it hides the one below. A character device 0:0, or an empty file with the attribute `whiteout` in a folder
  whose `opaque` is `x`, hides what is below and is itself not there.
- A folder is shown together with the one below, unless its attribute `opaque` is `y`.
- Attributes are `trusted.overlay.…`, or `user.overlay.…` in a user namespace.

Nested mounts are not part of an overlay's lower folder, so a workspace with such has none.
"""

import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from sightline.exec import bare_environment
from sightline.handles import path_of
from sightline.working_copies import _launcher
from sightline.working_copies._facts import MountMode
from sightline.working_copies._manifest import Manifest
from sightline.working_copies._side import CANDIDATES_AT_MOST, GIT, Candidates, Ignoring
from sightline.working_copies._states import (
    MISSING,
    FileState,
    Signature,
    entry_at,
    listed,
    look,
    signature,
)  # fmt: skip

_SYS_ADMIN = 1 << 21
_PROBE_SECONDS = 20.0
# A folder is made, moved and removed: what fails when the attributes of an overlay cannot be written.
_PROBE = (
    "import os, sys; a, b = sys.argv[1], sys.argv[1] + '-'; os.mkdir(a); os.rename(a, b); os.rmdir(b); os.listdir()"
)


class OverlayAnswer(msgspec.Struct, frozen=True):
    """How an overlay can be mounted, or why none can be."""

    mode: MountMode | None = None
    why: str = ""


_known: dict[tuple[int, int, int], OverlayAnswer] = {}


class OverlaySide:
    """`folder` has `upper` and `work`."""

    def __init__(self, workspace: str, folder: str, mode: MountMode, manifest: Manifest) -> None:
        self.words = _words(mode, workspace, folder)
        self.cwd = workspace
        self.root = os.path.join(folder, "upper")
        self._manifest = manifest

    def candidates(self, ignoring: Ignoring, *, force: bool) -> Candidates:
        found = Candidates(set())
        level = [""]
        while level and len(found.paths) <= CANDIDATES_AT_MOST:
            below: list[str] = []
            for folder in level:
                below += self._gather(folder, found, force=force)
            fresh = [path for path in below if not self._manifest.has_folder(path)]
            ignored = ignoring(fresh) if fresh else set()
            level = [path for path in below if path not in ignored]
        found.is_whole &= not level
        return found

    def _gather(self, folder: str, found: Candidates, *, force: bool) -> list[str]:
        """Adds the files of one folder of the upper layer; returns its folders."""
        try:
            entries = listed(self.root, folder, force=force)
        except PermissionError:
            found.is_whole = False
            return []
        folders = []
        for name, status in entries:
            path = f"{folder}/{name}" if folder else name
            if name == GIT:
                found.repositories.update([folder] if folder else [])
                continue
            if not stat.S_ISDIR(status.st_mode):
                found.paths.add(path)
                found.paths.update(self._manifest.below(path))
                continue
            folders.append(path)
            if path in self._manifest.files:
                found.paths.add(path)
            if self._attribute(path, "opaque") == b"y":
                found.paths.update(self._manifest.below(path))
        return folders

    def look(self, path: str, *, force: bool) -> FileState:
        if self._is_whiteout(path):
            return MISSING
        return look(self.root, path, force=force)

    def signature(self, path: str) -> Signature | None:
        return signature(self.root, path)

    def has_folder(self, path: str) -> bool:
        above, is_opaque = "", False
        for name in path.split("/"):
            above = f"{above}/{name}" if above else name
            found = signature(self.root, above)
            if found is None:
                return not is_opaque
            if not stat.S_ISDIR(found.mode):
                return False
            is_opaque |= self._attribute(above, "opaque") == b"y"
        return True

    def is_in_use(self) -> bool:
        process = _launcher.process_inside(*self.words[-3:])
        if process is not None:
            os.close(process)
        return process is not None

    def _is_whiteout(self, path: str) -> bool:
        with suppress(OSError), entry_at(self.root, path) as found:
            status = found.status()
            if status is None:
                return False
            if stat.S_ISCHR(status.st_mode):
                return status.st_rdev == 0
            return stat.S_ISREG(status.st_mode) and not status.st_size and self._attribute(path, "whiteout") is not None
        return False

    def _attribute(self, path: str, name: str) -> bytes | None:
        with suppress(OSError), entry_at(self.root, path) as found:
            handle = found.open(os.O_PATH)
            try:
                for start in ("user", "trusted"):
                    with suppress(OSError):
                        return os.getxattr(path_of(handle, found.path), f"{start}.overlay.{name}")
            finally:
                os.close(handle)
        return None


def make_overlay(workspace: str, folder: Path) -> None:
    """The folders of one. The upper one shows as the workspace itself, so it has its mode and owner."""
    upper, status = folder / "upper", os.stat(workspace)
    upper.mkdir()
    (folder / "work").mkdir()
    with suppress(PermissionError):
        os.chown(upper, status.st_uid, status.st_gid)
    upper.chmod(stat.S_IMODE(status.st_mode))


def overlay_answer(workspace: str, folder: Path) -> OverlayAnswer:
    """Found out by mounting one, once for each pair of file systems."""
    if sys.platform != "linux":
        return OverlayAnswer(why="it is supported only on Linux")
    if mounted := _mounted_below(workspace):
        return OverlayAnswer(why=f"another file system is mounted in the workspace: {mounted}")
    key = (os.stat(workspace).st_dev, os.stat(folder).st_dev, os.geteuid())
    if key not in _known:
        _known[key] = _probed(workspace, folder)
    return _known[key]


def _probed(workspace: str, folder: Path) -> OverlayAnswer:
    why = ""
    modes: tuple[MountMode, ...] = ("privileged", "user") if _may_mount() else ("user",)
    for mode in modes:
        place = folder / f"probe-{mode}"
        place.mkdir()
        make_overlay(workspace, place)
        name = f".sightline-{os.urandom(8).hex()}"
        words = [*_words(mode, workspace, str(place)), sys.executable, "-I", "-S", "-c", _PROBE, name]
        try:
            done = subprocess.run(
                words, cwd=workspace, capture_output=True, env=bare_environment(), timeout=_PROBE_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            why = str(problem)
            continue
        if not done.returncode:
            return OverlayAnswer(mode)
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2].rpartition(": ")[2]
    return OverlayAnswer(why=f"the kernel refuses it: {why}" if why else "the kernel refuses it")


def _words(mode: MountMode, workspace: str, folder: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", _launcher.__file__, mode, workspace, folder)


def _may_mount() -> bool:
    with suppress(OSError, ValueError, IndexError), open("/proc/self/status", "rb") as file:
        return bool(int(file.read().partition(b"CapEff:")[2].split(maxsplit=1)[0], 16) & _SYS_ADMIN)
    return False


def _mounted_below(folder: str) -> str:
    """The first mount in a folder; empty where there is none."""
    start = os.fsencode(folder) + b"/"
    with suppress(OSError), open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            place = line.split()[4]
            for escaped, byte in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
                place = place.replace(escaped, byte)
            if place.startswith(start):
                return os.fsdecode(place)
    return ""
