"""One writer of a file at a time, among all sessions of a user; and what a killed writer left is removed.

Rules:

- A writer holds a file's lock from reading what the change is based on to the new content's last step. Two
  sessions that edit one file do so one after the other, and the second one sees what the first one did.
- A lock is a locked file in our own folder, where no command can reach it, named after the target's folder (by its
  number, so that every path to it means the same) and name. It is removed with the lock: normally the folder is empty.
- A new file gets its name in our folder and is moved from there, so that a writer that is killed leaves nothing in the
  workspace. Between file systems that cannot be: then it is named beside its target, and that name is written into
  the lock first.
- What a killed writer left is removed by the next writer of that file, or when the next session starts.
- Waiting for a lock has an end.
"""

import os
import stat
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sightline import locks
from sightline.handles import FolderEntry, Grants, entry, granted
from sightline.paths import data_folder, private_folder
from sightline.tools._tool import ToolError

SECONDS = 10.0
TEMPORARY = (".sightline-", ".tmp")
_LOCK, _NEW = ".lock", ".new"
_NOTE_BYTES = 64 * 1024


class FileLock:
    """Held. `new` is a name for the new content, in a folder of ours."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self.new = path.removesuffix(_LOCK) + _NEW

    def note(self, temporary: str) -> None:
        """Write down which file beside the target has to be removed, should this process not live to do it."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, os.fsencode(temporary), 0)


@contextmanager
def locked(target: FolderEntry) -> Iterator[FileLock]:
    """ToolError when another session does not release it in time, or there is no place for locks."""
    try:
        path = os.path.join(_folder(), f"{_key(target)}{_LOCK}")
        descriptor = _acquired(path, time.monotonic() + SECONDS)
    except OSError as problem:
        raise ToolError(f"Cannot lock {target.path} ({problem.filename}: {problem.strerror}).") from problem
    if descriptor is None:
        raise ToolError(f"Another session is writing {target.path} at this moment. Try again; nothing was written.")
    try:
        _remove_leftovers(descriptor, path)
        yield FileLock(descriptor, path)
    finally:
        with suppress(OSError):
            os.unlink(path)
        os.close(descriptor)


def remove_leftovers() -> None:
    """Of all writers that were killed. Never waits and never fails: what is in use is in use."""
    folder = data_folder() / "writing"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith(_LOCK):
            with suppress(OSError):
                _clean(os.path.join(folder, name))


def _clean(path: str) -> None:
    descriptor = _acquired(path, time.monotonic())
    if descriptor is None:
        return
    try:
        _remove_leftovers(descriptor, path)
        os.unlink(path)
    finally:
        os.close(descriptor)


def _folder() -> str:
    folder = data_folder() / "writing"
    return str(folder if folder.is_dir() else private_folder(folder))


def _key(target: FolderEntry) -> str:
    """Names that are the same to some file systems share a lock."""
    from hashlib import blake2b

    folder = os.stat(".", dir_fd=target.folder)
    name = unicodedata.normalize("NFC", target.name).casefold()
    words = f"{folder.st_dev}:{folder.st_ino}:{name}".encode("utf-8", "surrogateescape")
    return blake2b(words, digest_size=16).hexdigest()


def _acquired(path: str, deadline: float) -> int | None:
    """None when it is not free by then."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            is_locked = locks.acquire(descriptor, "exclusive", seconds=deadline - time.monotonic())
            if is_locked and _is_same(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not is_locked:
            return None  # else it was released, and so removed, by its holder


def _is_same(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _remove_leftovers(descriptor: int, path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path.removesuffix(_LOCK) + _NEW)
    noted = os.pread(descriptor, _NOTE_BYTES, 0)
    if noted:
        with suppress(OSError, ValueError):
            _remove_temporary(Path(os.fsdecode(noted)))
        os.ftruncate(descriptor, 0)


def _remove_temporary(path: Path) -> None:
    if not (path.name.startswith(TEMPORARY[0]) and path.name.endswith(TEMPORARY[1])):
        return
    with granted(Grants(own=("/",))), entry(path, "write") as found:
        status = found.status()
        if status is not None and stat.S_ISREG(status.st_mode):
            os.unlink(found.name, dir_fd=found.folder)
