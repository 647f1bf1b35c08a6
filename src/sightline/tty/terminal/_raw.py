"""A terminal's line discipline: every key at once, as it is, without echo; and back."""

import os
import termios

Attributes = list[int | list[bytes | int]]

_INPUT, _CONTROL, _LOCAL, _CHARACTERS = 0, 2, 3, 6
_INPUT_OFF = (
    termios.BRKINT | termios.ICRNL | termios.INLCR | termios.IGNCR | termios.INPCK | termios.ISTRIP | termios.IXON
)
_LOCAL_OFF = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG


def make_raw(fd: int) -> Attributes:
    """Switch to raw input; output stays processed, so that a stray print of another thread still reads. Returns the
    attributes there were before."""
    before: Attributes = termios.tcgetattr(fd)
    changed = termios.tcgetattr(fd)
    changed[_INPUT] &= ~_INPUT_OFF
    changed[_CONTROL] = changed[_CONTROL] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    changed[_LOCAL] &= ~_LOCAL_OFF
    changed[_CHARACTERS][termios.VMIN], changed[_CHARACTERS][termios.VTIME] = 1, 0
    termios.tcsetattr(fd, termios.TCSANOW, changed)
    return before


def restore_attributes(fd: int, attributes: Attributes) -> None:
    """Never waits for output to drain, and leaves the terminal alone when it is no longer ours to change."""
    try:
        if _is_ours(fd):
            termios.tcsetattr(fd, termios.TCSANOW, attributes)
    except (OSError, termios.error):
        return


def _is_ours(fd: int) -> bool:
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return True  # not the terminal we were started from: using it does not stop us
