"""What is at one path of a tree: nothing, a file with its content, a link, or something else.

Rules:

- No part of a path below the tree may be a link; what is behind one counts as missing.
- Nothing that is no regular file is opened.
- A file over the bound is not read into memory: it has a digest as its content, so that it can be compared.
- With `force`, what the owner may not read is made readable for that moment. That is for an agent that has finished:
  one that is working might change the mode at the same time.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from sightline.handles import FolderEntry, Swapped, folder_exactly, path_of, read_bytes

READ_AT_MOST = 32 * 1024 * 1024
_PIECE = 1024 * 1024
_PERMISSIONS = 0o777
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class FileState(msgspec.Struct, frozen=True):
    """`data` is a file's content, a link's target, or the digest of a large file."""

    kind: Literal["missing", "file", "large", "link", "folder", "special"] = "missing"
    mode: int = 0
    data: bytes = b""


class Signature(msgspec.Struct, frozen=True, array_like=True):
    """The same as long as neither a file nor what is known about it was changed."""

    mode: int
    inode: int
    changed: int  # ctime
    size: int


MISSING = FileState()


def signature_of(status: os.stat_result) -> Signature:
    return Signature(status.st_mode, status.st_ino, status.st_ctime_ns, status.st_size)


def signature(root: str, path: str) -> Signature | None:
    """None where there is nothing, or no way to it."""
    try:
        with entry_at(root, path) as found:
            status = found.status()
    except OSError:
        return None
    return None if status is None else signature_of(status)


@contextmanager
def entry_at(root: str, path: str) -> Iterator[FolderEntry]:
    """The entry itself, in its folder, which no link led to."""
    above, name = os.path.split(os.path.join(root, path))
    folder = folder_exactly(above)
    try:
        yield FolderEntry(folder, name, Path(above, name))
    finally:
        os.close(folder)


def look(root: str, path: str, *, force: bool = False) -> FileState:
    try:
        with entry_at(root, path) as found:
            return _state(found, force=force)
    except OSError as problem:
        if isinstance(problem, Swapped) or problem.errno in _GONE:
            return MISSING
        if problem.errno in (errno.EACCES, errno.EPERM):
            return FileState("special")
        raise


def _state(found: FolderEntry, *, force: bool) -> FileState:
    status = found.status()
    if status is None:
        return MISSING
    if stat.S_ISLNK(status.st_mode):
        return FileState("link", 0, os.fsencode(os.readlink(found.name, dir_fd=found.folder)))
    if stat.S_ISDIR(status.st_mode):
        return FileState("folder")
    if not stat.S_ISREG(status.st_mode):
        return FileState("special")
    descriptor = _opened(found, force=force)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return FileState("special")
        mode = status.st_mode & _PERMISSIONS
        data = read_bytes(descriptor, READ_AT_MOST + 1)
        if len(data) > READ_AT_MOST:
            return FileState("large", mode, _digest(descriptor))
        return FileState("file", mode, data)
    finally:
        os.close(descriptor)


def _opened(found: FolderEntry, *, force: bool) -> int:
    try:
        return found.open()
    except PermissionError:
        if not force:
            raise
    with made_accessible(found, 0o400):
        return found.open()


@contextmanager
def made_accessible(found: FolderEntry, rights: int) -> Iterator[None]:
    """With these rights for its owner, until the end of the block."""
    handle = found.open(getattr(os, "O_PATH", os.O_RDONLY))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISLNK(mode):
            raise Swapped(str(found.path))
        place = path_of(handle, found.path)
        os.chmod(place, stat.S_IMODE(mode) | rights)
        try:
            yield
        finally:
            with suppress(OSError):
                os.chmod(place, stat.S_IMODE(mode))
    finally:
        os.close(handle)


def _digest(descriptor: int) -> bytes:
    from hashlib import blake2b

    found, offset = blake2b(), 0
    while piece := os.pread(descriptor, _PIECE, offset):
        found.update(piece)
        offset += len(piece)
    return found.digest()


def behind_links(root: str, paths: list[str]) -> set[str]:
    """Of these paths those on whose way a tree has a link."""
    known = {"": False}

    def isbehind(folder: str) -> bool:
        if folder not in known:
            known[folder] = isbehind(os.path.dirname(folder)) or os.path.islink(os.path.join(root, folder))
        return known[folder]

    return {path for path in paths if isbehind(os.path.dirname(path))}


def listed(root: str, folder: str, *, force: bool = False) -> list[tuple[str, os.stat_result]]:
    """What is in a folder, by name, each with its own status. Empty where there is no such folder (any more);
    PermissionError where it cannot be read. With `force` it stays readable: of folders no mode is merged."""
    try:
        descriptor = _opened_folder(root, folder, force=force)
    except OSError as problem:
        if isinstance(problem, Swapped) or problem.errno in _GONE:
            return []
        raise
    found = []
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
    finally:
        os.close(descriptor)
    return found


def _opened_folder(root: str, folder: str, *, force: bool) -> int:
    with entry_at(root, folder) if folder else _itself(root) as found:
        how = os.O_RDONLY | os.O_DIRECTORY
        try:
            descriptor = found.open(how)
            if not force or os.access(path_of(descriptor, found.path), os.R_OK | os.X_OK):
                return descriptor
            os.close(descriptor)
        except PermissionError:
            if not force:
                raise
        handle = found.open(getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
        try:
            os.chmod(path_of(handle, found.path), 0o700)
        finally:
            os.close(handle)
        return found.open(how)


@contextmanager
def _itself(root: str) -> Iterator[FolderEntry]:
    folder = folder_exactly(root)
    try:
        yield FolderEntry(folder, ".", Path(root))
    finally:
        os.close(folder)
