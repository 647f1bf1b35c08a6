"""The terminal we draw on.

- Written through a descriptor of our own that never blocks: the one we were given is shared, and a terminal that is
  slow or stopped must not delay a Ctrl+C.
- What is typed meanwhile is not echoed into the drawing. It stays in the input for the next reader.
"""

import asyncio
import os
import signal
import termios

from sightline.views.plain._output import write_patiently

_LOCAL_MODES = 3
_SECONDS_FOR_THE_WRITE_UNDER_WAY = 0.2


def is_terminal(fd: int) -> bool:
    """Whether it is one whose cursor can be moved."""
    return os.isatty(fd) and os.environ.get("TERM") != "dumb"


class PlainTerminal:
    """`with PlainTerminal(1) as terminal:` draws; afterwards the terminal is restored."""

    def __init__(self, fd: int) -> None:
        self._given = fd
        self._own = _reopened(fd)
        self._modes: list[object] | None = None
        self._lock = asyncio.Lock()

    def __enter__(self) -> "PlainTerminal":
        self.hush()
        asyncio.get_running_loop().add_signal_handler(signal.SIGQUIT, self._quit)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGQUIT)
        self.restore()
        if self._own != self._given:
            os.close(self._own)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows; a terminal that does not know its size has the usual one."""
        try:
            columns, rows = os.get_terminal_size(self._given)
        except OSError:
            return 80, 24
        return columns or 80, rows or 24

    async def write(self, text: str) -> None:
        if text:
            async with self._lock:
                await write_patiently(self._own, text.encode("utf-8", "replace"))

    async def settle(self) -> None:
        """Let a write that is under way come to its end, if it does soon."""
        try:
            async with asyncio.timeout(_SECONDS_FOR_THE_WRITE_UNDER_WAY), self._lock:
                pass
        except TimeoutError:
            pass

    def hush(self) -> None:
        """No echo, as long as the terminal is ours: a program in the background must leave it alone."""
        try:
            if self._modes is not None or os.tcgetpgrp(self._given) != os.getpgrp():
                return
            modes = termios.tcgetattr(self._given)
            changed = [*modes]
            changed[_LOCAL_MODES] &= ~termios.ECHO
            termios.tcsetattr(self._given, termios.TCSANOW, changed)
            self._modes = modes
        except (OSError, termios.error):
            return

    def _quit(self) -> None:
        """Ctrl+\\ ends us at once, but not with the echo off."""
        self.restore()
        asyncio.get_running_loop().remove_signal_handler(signal.SIGQUIT)
        os.kill(os.getpid(), signal.SIGQUIT)

    def restore(self) -> None:
        modes, self._modes = self._modes, None
        if modes is None:
            return
        try:
            if os.tcgetpgrp(self._given) == os.getpgrp():
                termios.tcsetattr(self._given, termios.TCSANOW, modes)  # type: ignore[arg-type]
        except (OSError, termios.error):
            return


def _reopened(fd: int) -> int:
    try:
        own = os.open(os.ttyname(fd), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return fd
    if os.fstat(own).st_rdev == os.fstat(fd).st_rdev:
        return own
    os.close(own)
    return fd
