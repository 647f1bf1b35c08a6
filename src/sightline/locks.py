"""Locks on open files, among all processes of a user: of a whole file, or of some bytes of it.

Rules:

- A lock belongs to the open file, not to the process, and ends with it, however the process ends.
- Only a process that may write a file can lock it exclusively. A sandboxed command, which may only read our files, can
  hold a shared lock at most. So nothing that must not be held up waits for more than a shared lock, and what
  needs a file exclusively fails after some seconds with an error. (`flock` gives either to every reader.)
- Waiting has an end, and blocks: more than a moment of it is for a thread.

Where there are no such locks (macOS) `flock` is used, and for some bytes those of the process. There is no sandbox
there either: a command that runs has all rights of its user.
"""

import errno
import fcntl
import os
import struct
import time
from typing import Literal

Kind = Literal["shared", "exclusive"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02
_HAS_OWN = hasattr(fcntl, "F_OFD_SETLK")
_REFUSED = (errno.EAGAIN, errno.EACCES)
_FORMAT = "hhqqixxxx"


class InUse(OSError):
    """A lock was not to be had in time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EAGAIN, "it is in use by another process", os.fspath(path))


def acquire(descriptor: int, kind: Kind, *, seconds: float = 0.0, start: int = 0, size: int = 0) -> bool:
    """Take the lock, or change the one that is held to this kind; false when another holder blocks it all that time.
    `size`: of the bytes from `start` on, 0 for all. An exclusive lock takes a file that is open for writing."""
    deadline, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while not _acquired(descriptor, kind, start, size):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
    return True


def release(descriptor: int, *, start: int = 0, size: int = 0) -> None:
    """Closing the file does it too."""
    if _HAS_OWN:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack(_FORMAT, fcntl.F_UNLCK, os.SEEK_SET, start, size, 0))
    elif size:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, size, start)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_held(descriptor: int, *, start: int = 0, size: int = 0) -> bool:
    """Whether another open file has it exclusively. A check locks nothing, so it blocks no other process."""
    if _HAS_OWN:
        query = struct.pack(_FORMAT, fcntl.F_RDLCK, os.SEEK_SET, start, size, 0)
        found: int = struct.unpack(_FORMAT, fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, query))[0]
        return found != fcntl.F_UNLCK
    if size:
        return False  # not every system can answer this
    if not _acquired(descriptor, "shared", 0, 0):
        return True
    release(descriptor)
    return False


def _acquired(descriptor: int, kind: Kind, start: int, size: int) -> bool:
    try:
        if _HAS_OWN:
            number = fcntl.F_WRLCK if kind == "exclusive" else fcntl.F_RDLCK
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack(_FORMAT, number, os.SEEK_SET, start, size, 0))
            return True
        how = fcntl.LOCK_NB | (fcntl.LOCK_EX if kind == "exclusive" else fcntl.LOCK_SH)
        if size:
            fcntl.lockf(descriptor, how, size, start)
        else:
            fcntl.flock(descriptor, how)
    except OSError as problem:
        if problem.errno not in _REFUSED:
            raise
        return False
    return True
