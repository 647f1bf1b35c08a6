"""Files opened where they were judged: no link comes between a decision and what it was about.

Rules:

- A path is judged by where it really leads. When it is opened it is resolved again, must lead to a place that was
  granted, and is opened there by a walk of descriptors, from the root on, none of them a link. A link that is swapped
  in meanwhile makes the open fail; it never leads elsewhere.
- From then on the folder is held open, and everything is done relative to it: status, reading, the new content, its
  name. Missing folders are made one by one, each below the one that is open.
- What was granted is a context variable and not an argument: whatever a call opens, in its task or in a thread of
  asyncio's, is checked, and no reader far below (an archive, a notebook) can forget to. Without any grants, as in a
  program that uses tools by itself, every path is granted.
- Opening never waits: the kind of a named pipe or a device is checked, and it is not opened.

A walk, and not `openat2`: that is missing on other systems and forbidden in many containers, so the walk would be
needed all the same, and it takes a few microseconds.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Literal

Access = Literal["read", "write"]

# Only to open what is below: on Linux a folder need not be readable for that.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_HAS_PROC = os.path.isdir("/proc/self/fd")


class Swapped(OSError):
    """A path leads elsewhere than when it was judged."""

    def __init__(self, path: str) -> None:
        super().__init__(
            errno.ELOOP, "it leads to another place now than when it was checked; make the call again", path
        )


class NotRegular(OSError):
    """Something is there, and it is no regular file. `mode` shows what it is."""

    def __init__(self, path: str, mode: int) -> None:
        super().__init__(errno.EINVAL, "not a regular file", path)
        self.mode = mode


class Grants:
    """The real paths a call was allowed: files to write, files and folders to read, and folders of its own."""

    def __init__(self, reads: Iterable[str] = (), writes: Iterable[str] = (), own: Iterable[str] = ()) -> None:
        self._reads = frozenset(reads)
        self._writes = frozenset(writes)
        self._own = tuple(folder.rstrip("/") + "/" for folder in own)

    def allow(self, access: Access, real: str) -> bool:
        return real in (self._writes if access == "write" else self._reads) or f"{real}/".startswith(self._own)

    def with_read(self, real: str) -> "Grants":
        return Grants(self._reads | {real}, self._writes, self._own)


_granted: ContextVar[Grants | None] = ContextVar("granted", default=None)


@contextmanager
def granted(grants: Grants) -> Iterator[None]:
    """Until the end of the block, nothing else is opened."""
    token = _granted.set(grants)
    try:
        yield
    finally:
        _granted.reset(token)


@contextmanager
def judged(real: str) -> Iterator[None]:
    """One more real path to read, for a caller that has judged it."""
    grants = _granted.get()
    token = _granted.set(grants and grants.with_read(real))
    try:
        yield
    finally:
        _granted.reset(token)


def real_path(path: str | Path) -> str:
    """Where a path leads now, links followed. Swapped when a link on the way is exchanged while it is followed."""
    try:
        return os.path.realpath(path)
    except OSError as problem:
        # What was a link a moment ago is none any more, or is gone: that is not an argument of the caller's.
        if problem.errno in (errno.EINVAL, errno.ENOENT):
            raise Swapped(os.fspath(path)) from problem
        raise


def ours(path: str | Path) -> AbstractContextManager[None]:
    """The same for a path that no model chose: where it leads now."""
    return judged(real_path(path))


class FolderEntry:
    """A name in a folder that is open. `path` is where that was when it was opened, for messages only."""

    def __init__(self, folder: int, name: str, path: Path) -> None:
        self.folder = folder
        self.name = name
        self.path = path

    def status(self) -> os.stat_result | None:
        """Of the name itself, never of what a link leads to; None when there is nothing."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
        return os.open(self.name, flags | _FILE, mode, dir_fd=self.folder)

    def open_regular(self) -> int:
        """For reading. NotRegular for anything else, which is not opened: that alone does something to some devices."""
        _refuse_special(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode, self.path)
        descriptor = self.open()
        try:
            _refuse_special(os.fstat(descriptor).st_mode, self.path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _refuse_special(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise NotRegular(str(path), mode)


@contextmanager
def entry(path: str | Path, access: Access, *, make_folders: int | None = None) -> Iterator[FolderEntry]:
    """The entry a path leads to now, links followed. `make_folders`: the mode of those above it that are missing."""
    real = _resolved(path, access)
    above, name = os.path.split(real)
    if not name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), real)
    folder = _walked(above, make_folders)
    try:
        yield FolderEntry(folder, name, Path(real))
    finally:
        os.close(folder)


def open_regular(path: str | Path) -> int:
    """A descriptor for reading, of a regular file. Never waits. OSError otherwise, NotRegular among them."""
    return open_exactly(_resolved(path, "read"))


def open_exactly(path: str) -> int:
    """A descriptor for reading, of a regular file at this absolute path: no part of it may be a link."""
    above, name = os.path.split(path)
    folder = _walked(above, None)
    try:
        return FolderEntry(folder, name, Path(path)).open_regular()
    finally:
        os.close(folder)


def open_below(folder: str | Path, name: str) -> int:
    """A descriptor for reading, of a regular file below a folder: no part of its name may be a link."""
    return open_exactly(os.path.join(_resolved(folder, "read"), name))


def open_folder(path: str | Path) -> int:
    """A descriptor for listing, of a folder."""
    folder = _walked(_resolved(path, "read"), None)
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def folder_exactly(path: str) -> int:
    """A descriptor of the folder at this absolute path: no part of it may be a link."""
    return _walked(path, None)


def read_at_most(path: str | Path, most: int) -> bytes:
    """The beginning of a regular file, at most so many bytes."""
    descriptor = open_regular(path)
    try:
        return read_bytes(descriptor, most)
    finally:
        os.close(descriptor)


def read_bytes(descriptor: int, most: int) -> bytes:
    """From the start, at most so many."""
    pieces, size = [], 0
    while size < most and (piece := os.pread(descriptor, min(1024**2, most - size), size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def path_of(descriptor: int, path: str | Path) -> str:
    """A path that leads to what is open, for programs that take nothing else; where there is no such path, the given
    one."""
    return f"/proc/self/fd/{descriptor}" if _HAS_PROC else str(path)


def _resolved(path: str | Path, access: Access) -> str:
    real = real_path(path)
    grants = _granted.get()
    if grants is not None and not grants.allow(access, real):
        raise Swapped(real)
    return real


def _walked(real: str, make_folders: int | None) -> int:
    folder = os.open("/", _FOLDER)
    try:
        for name in real.split("/"):
            if name:
                below = _below(folder, name, real, make_folders)
                os.close(folder)
                folder = below
    except BaseException:
        os.close(folder)
        raise
    return folder


def _below(folder: int, name: str, real: str, make_folders: int | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if make_folders is None:
            raise
        try:
            os.mkdir(name, make_folders, dir_fd=folder)
        except FileExistsError:
            pass
        return _below(folder, name, real, None)
    except OSError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise Swapped(real) from None
        raise
