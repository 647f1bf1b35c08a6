"""Writing to a terminal without ever waiting for it.

The descriptor we were given is shared with whoever started us, so it is not made non-blocking: the terminal is opened
once more. What it does not take at once is queued, in order; whoever draws asks `pending` and draws nothing meanwhile.
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Without a descriptor of our own a write may block; of a terminal that polls as writable, this much hardly ever does.
_CAUTIOUS = 512


class Writer:
    """`on_blocked` is called when bytes stay behind; then call `send` whenever the descriptor is writable."""

    def __init__(self, given: int, on_blocked: Callable[[], None]) -> None:
        self.fd = _reopened(given)
        self._is_ours = self.fd != given
        self._on_blocked = on_blocked
        self._queue = bytearray()
        self.lost = False

    @property
    def pending(self) -> bool:
        return bool(self._queue)

    def write(self, data: bytes) -> None:
        if self.lost or not data:
            return
        self._queue += data
        if not self.send():
            self._on_blocked()

    def send(self) -> bool:
        """Send what the terminal takes now. Whether nothing is left."""
        try:
            while self._queue and self._ready():
                size = None if self._is_ours else _CAUTIOUS
                del self._queue[: os.write(self.fd, self._queue[:size])]
        except BlockingIOError:
            pass
        except OSError:
            self.lost = True
            self._queue.clear()
        return not self._queue

    def drain(self, seconds: float) -> bool:
        """Wait a little for the terminal to take everything."""
        deadline = time.monotonic() + seconds
        while not self.send():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            select.select([], [self.fd], [], left)
        return True

    def discard(self) -> None:
        self._queue.clear()

    def close(self) -> None:
        if self._is_ours:
            os.close(self.fd)

    def _ready(self) -> bool:
        return self._is_ours or bool(select.select([], [self.fd], [], 0)[1])


def _reopened(fd: int) -> int:
    try:
        own = os.open(os.ttyname(fd), os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return fd
    if os.fstat(own).st_rdev == os.fstat(fd).st_rdev:
        return own
    os.close(own)
    return fd
