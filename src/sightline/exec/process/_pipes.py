"""What an event loop reads of a running command: its streams as it writes, and its end.

- A read takes at most what one turn of the loop can bear, so that a flood starves no other.
- The pipe and the reads grow when they are found full: a hundred commands that print a line now and then have the
  small ones, and do not use up what the system allows one user.
- The end of what was read may be the middle of a character or of an escape sequence. Up to 64 bytes of it are held back
  until the rest comes, but no longer than 100 ms, so that what is passed on can be understood by itself.
"""

import asyncio
import errno
import fcntl
import os
import subprocess
from collections.abc import Callable

from sightline.text import complete_prefix

HELD_SECONDS = 0.1
# The most a pipe can hold without privileges.
PIPE_CAPACITY = 1024 * 1024
_USUAL = 64 * 1024
_F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 0)


class Output:
    """Reads one descriptor until it ends or is closed."""

    def __init__(self, stream: str, fd: int, on_read: Callable[["Output", bytes], None]) -> None:
        self.stream = stream
        self.ended = False
        self.late = 0  # bytes read since the process ended
        self.held_since = 0.0
        self.paused = False
        self._fd = fd
        self._on_read = on_read
        self._size = _USUAL
        self._held = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self.read)

    def read(self) -> int:
        """Take what there is, at most one read; how much that was."""
        if self.ended or self.paused:
            return 0
        try:
            data = os.read(self._fd, self._size)
        except BlockingIOError:
            return 0
        except OSError as error:
            if error.errno != errno.EIO:  # how a terminal reports that no writer is left
                raise
            data = b""
        if not data:
            self.close()
        elif len(data) == self._size:
            self._grow()
        self._on_read(self, data)
        return len(data)

    def whole(self, data: bytes, now: float) -> bytes:
        """What can be passed on now that this has come; the rest is held back."""
        if self._held:
            data = self._held + data
        size = complete_prefix(data)
        if size == len(data):
            self._held = b""
            return data
        self._held = data[size:]
        self.held_since = now
        return data[:size]

    def release(self) -> bytes:
        """What was held back, whole or not."""
        held, self._held = self._held, b""
        return held

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def pause(self) -> None:
        if not self.paused and not self.ended:
            self.paused = True
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        if self.paused and not self.ended:
            self.paused = False
            self._loop.add_reader(self._fd, self.read)

    def close(self) -> None:
        if not self.ended:
            self.ended = True
            self._loop.remove_reader(self._fd)
            os.close(self._fd)

    def _grow(self) -> None:
        if self._size == PIPE_CAPACITY:
            return
        self._size = PIPE_CAPACITY
        if _F_SETPIPE_SZ:
            try:
                fcntl.fcntl(self._fd, _F_SETPIPE_SZ, PIPE_CAPACITY)
            except OSError:  # a terminal, or more than this user may have
                return


class ExitWatch:
    """Calls `on_exit` when a process ends, until it is closed."""

    def __init__(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pidfd = -1
        try:
            self._pidfd = os.pidfd_open(process.pid)
        except (AttributeError, OSError):  # not Linux, or an old one
            self._loop.run_in_executor(None, process.wait).add_done_callback(lambda _: on_exit())
        else:
            self._loop.add_reader(self._pidfd, on_exit)

    def close(self) -> None:
        """A second time, nothing."""
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
