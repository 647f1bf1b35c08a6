"""Removing a folder that a command filled as it liked."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count


def remove_folder(folder: str) -> None:
    """All of it, folders included that a command made read-only (a module cache does that). What cannot be removed
    stays."""
    try:
        os.rmdir(folder)  # most commands leave nothing
    except OSError:
        _remove_tree(folder)


def _remove_tree(folder: str) -> None:
    """However deep: each folder's own folders are moved up beside it before it is removed, so that no path becomes
    longer than the kernel takes and no more than two folders are open."""
    numbers = (name for name in map(str, count()) if not os.path.lexists(f"{folder}/{name}"))
    with suppress(OSError), _opened(folder) as top:
        waiting = _remove_files(top)
        while waiting:
            name = waiting.pop()
            with suppress(OSError), _opened(name, top) as inner:
                for each in _remove_files(inner):
                    waiting.append(next(numbers))
                    os.rename(each, waiting[-1], src_dir_fd=inner, dst_dir_fd=top)
                os.rmdir(name, dir_fd=top)
        os.rmdir(folder)


def _remove_files(folder: int) -> list[str]:
    """The names of the folders that are left, which may all be changed now."""
    with os.scandir(folder) as found:
        entries = list(found)
    folders = {entry.name: None for entry in entries if entry.is_dir(follow_symlinks=False)}
    for entry in entries:
        with suppress(OSError):
            if entry.name not in folders:
                os.unlink(entry.name, dir_fd=folder)
                continue
            with _opened(entry.name, folder, os.O_PATH) as inner:
                os.chmod(f"/proc/self/fd/{inner}", 0o700)
    return list(folders)


@contextmanager
def _opened(name: str, folder: int | None = None, how: int = os.O_RDONLY) -> Iterator[int]:
    descriptor = os.open(name, how | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
