"""Writing to a terminal without ever waiting for it.

The descriptor we were given is shared with our parent process, so it is not made non-blocking: the terminal is opened
once more. What it does not take at once is queued, in order; while something is `pending`, no frame is drawn.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_AT_ONCE = 65536
_BREATH = 0.001
# Without a descriptor of our own a write may block; of a terminal that polls as writable, this much hardly ever does.
_CAUTIOUS = 512


class Writer:
    """`on_blocked` is called when bytes stay behind; then call `send` whenever the descriptor is writable."""

    def __init__(self, given: int, on_blocked: Callable[[], None]) -> None:
        self.fd = _reopened(given)
        self._is_ours = self.fd != given
        self._on_blocked = on_blocked
        self._queue: deque[memoryview] = deque()
        self._taken = 0
        self.lost: OSError | None = None  # why the terminal takes nothing any more

    @property
    def pending(self) -> bool:
        return bool(self._queue)

    def write(self, data: bytes) -> None:
        if self.lost is not None or not data:
            return
        self._queue.append(memoryview(data))
        if not self.send():
            self._on_blocked()

    def send(self) -> bool:
        """Send what the terminal takes now. Whether nothing is left."""
        try:
            while self._queue and self._ready():
                self._send_once()
        except BlockingIOError:
            pass
        except OSError as error:
            self.lost = error
            self._queue.clear()
        return not self._queue

    def drain(self, patience: float) -> bool:
        """Wait for everything to be taken, as long as something is: until for `patience` seconds nothing was."""
        taken, deadline = -1, 0.0
        while not self.send():
            if taken != self._taken:
                taken, deadline = self._taken, time.monotonic() + patience
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if select.select([], [self.fd], [], left)[1]:
                time.sleep(_BREATH)  # one that is ready and yet takes nothing must not cost all of the processor
        return True

    def discard(self) -> None:
        self._queue.clear()

    def close(self) -> None:
        if self._is_ours:
            os.close(self.fd)

    def _send_once(self) -> None:
        whole = self._queue[0]
        count = os.write(self.fd, whole[: _AT_ONCE if self._is_ours else _CAUTIOUS])
        self._taken += count
        if self._queue and self._queue[0] is whole:  # a signal may have emptied it meanwhile
            self._queue.popleft()
            if count < len(whole):
                self._queue.appendleft(whole[count:])

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
