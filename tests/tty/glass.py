"""An emulator as the surface a display draws on, and what can then be read off it."""

import re

from sightline.testing.emulators import Emulator, Tape, TmuxEmulator
from sightline.tty._component import CURSOR, Component, Rows
from sightline.tty.frame._display import Display
from sightline.tty.terminal._capabilities import Capabilities

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?\x1b\\")
FORBIDDEN = re.compile(r"\x1b\[(?:\d*(?:;\d*)?[Hf]|[23]J)")
"""Absolute positions, and what erases the screen or the scrollback."""


class Glass:
    """Passes bytes on to an emulator at once, and counts them."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.size = emulator.size
        self.busy = False
        self.bytes_written = 0
        self.forbidden: list[str] = []

    def write(self, text: str) -> None:
        self.bytes_written += len(text.encode())
        self.forbidden += FORBIDDEN.findall(text)
        self.emulator.write(text)

    def display(self) -> Display:
        """A display that knows what kind of terminal this is."""
        is_tmux = isinstance(self.emulator, TmuxEmulator)
        return Display(self, Capabilities(multiplexer="tmux" if is_tmux else "", synchronized_output=not is_tmux))

    def has_new_size(self, display: Display) -> None:
        """The program hears of the emulator's size, and draws."""
        self.size = self.emulator.size
        display.resized()
        display.render_now()


class Chrome(Component):
    """What stands below a transcript: a row with a spinner, and an input box of two. No letters, so that none count."""

    HEIGHT = 3

    def __init__(self) -> None:
        self._ticks = 0

    def tick(self) -> None:
        self._ticks += 1

    def render(self, width: int) -> Rows:
        return (f"\x1b[36m{'⠋⠙⠹⠸⠼⠴⠦⠧'[self._ticks % 8]}\x1b[0m …", "─" * width, f"› {CURSOR}")


def plain(row: str) -> str:
    """What can be read of a row the engine made."""
    return _SEQUENCE.sub("", row.replace(CURSOR, "")).rstrip(" ")


def letters(rows: list[str]) -> str:
    """All letters and digits in order: what stays the same however rows are wrapped."""
    return "".join(filter(str.isalnum, "".join(rows)))


def first_difference(one: str, other: str) -> str:
    """Both texts around the place where they begin to differ, or nothing."""
    if one == other:
        return ""
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"at {at}: {one[max(0, at - 40) : at + 60]!r} != {other[max(0, at - 40) : at + 60]!r}"


def prompts(tape: Tape) -> int:
    """How many input boxes are on the tape."""
    return sum(row.startswith("›") for row in tape.rows)
