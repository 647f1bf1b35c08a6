"""The workspaces in which a sandboxed command ever ran, in any session: what is in them may have been put there by one.

They are in one file of the data folder, each path ended by a zero byte. A process appends its own and reads the file
again when it changed. Over the bound those go that do not exist any more, then the oldest.
"""

import os
from contextlib import suppress

from sightline import paths

_NAME = "used-workspaces"
_AT_MOST = 2000
_LARGEST = 4 * 1024 * 1024

_NONE: frozenset[str] = frozenset()
_read: tuple[tuple[str, int, int], frozenset[str]] = (("", 0, 0), _NONE)


def known() -> frozenset[str]:
    """By their real paths. The same object as long as there are no others."""
    global _read
    file = str(paths.data_folder() / _NAME)
    try:
        status = os.stat(file)
    except OSError:
        return _NONE
    stamp = (file, status.st_mtime_ns, status.st_size)
    if _read[0] != stamp:
        _read = stamp, frozenset(_entries(file))
    return _read[1]


def remember(workspace: str) -> None:
    """Before a command runs in it. Where the data folder cannot be written, the command is refused elsewhere."""
    if workspace in known():
        return
    file = str(paths.data_folder() / _NAME)
    with suppress(OSError):
        paths.private_folder(paths.data_folder())
        entries = _entries(file)
        if len(entries) >= _AT_MOST:
            _replace(file, [*_still_there(entries)[-_AT_MOST // 2 :], workspace])
            return
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, os.fsencode(workspace) + b"\0")
        finally:
            os.close(descriptor)


def _entries(file: str) -> list[str]:
    try:
        with open(file, "rb") as opened:
            data = opened.read(_LARGEST)
    except OSError:
        return []
    return [os.fsdecode(each) for each in data.split(b"\0")[:-1] if each.startswith(b"/")]


def _still_there(entries: list[str]) -> list[str]:
    return [each for each in dict.fromkeys(entries) if os.path.isdir(each)]


def _replace(file: str, entries: list[str]) -> None:
    new = f"{file}.{os.getpid()}"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(b"".join(os.fsencode(each) + b"\0" for each in entries))
    os.rename(new, file)
