"""Regular files, opened so that reading one never waits: a pipe, a device or a socket could block a reader for ever."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.handles import NotRegular, open_regular
from sightline.tools._tool import ToolError
from sightline.tools.files._paths import reason_of

_KINDS = {
    stat.S_IFDIR: "a directory",
    # Links are followed first, so one that is met leads nowhere, or is being swapped.
    stat.S_IFLNK: "a link that leads back to itself, or was put there just now",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def kind_of(mode: int) -> str:
    """What something is that is no regular file."""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A regular file, open for reading. Never waits; whatever goes wrong is a ToolError that names the file."""
    try:
        fd = open_regular(path)
        try:
            yield fd
        finally:
            os.close(fd)
    except NotRegular as error:
        _check_kind(error.mode, path)
        raise
    except OSError as error:
        raise ToolError(_problem(error, path)) from None


def read_all(fd: int, most: int) -> bytes:
    """From the start; at most one byte more than `most`."""
    pieces, got = [], 0
    while got <= most and (piece := os.pread(fd, min(1024**2, most + 1 - got), got)):
        pieces.append(piece)
        got += len(piece)
    return b"".join(pieces)


def _check_kind(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise ToolError(f"'{path}' is a directory.")
    if not stat.S_ISREG(mode):
        what = f"'{path}' is {kind_of(mode)}, not a file, and is not read."
        raise ToolError(f"{what} Use a command if you need its content.")


def _problem(error: OSError, path: Path) -> str:
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return f"'{path}' not found."
        case PermissionError():
            return f"No permission to read '{path}'."
        case BlockingIOError():
            return f"'{path}' has nothing to read now; reading it would wait forever."
    return f"Cannot read '{path}': {reason_of(error)}."
