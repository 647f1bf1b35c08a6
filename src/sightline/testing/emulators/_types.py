"""The interface of every emulator, and the shapes of its answers."""

from typing import Protocol

import msgspec

Colour = int | str | None
"""A number from 0 to 15 for the sixteen named colours, `#rrggbb` for the rest, None for the default."""


_CUBE = (0, 95, 135, 175, 215, 255)


def rgb(colour: Colour) -> Colour:
    """A number of the 256-colour palette as RGB, unless it is one of the sixteen whose look is the terminal's own."""
    if not isinstance(colour, int) or colour < 16:
        return colour
    if colour >= 232:
        return "#" + f"{8 + 10 * (colour - 232):02x}" * 3
    red, green, blue = (colour - 16) // 36, (colour - 16) // 6 % 6, (colour - 16) % 6
    return f"#{_CUBE[red]:02x}{_CUBE[green]:02x}{_CUBE[blue]:02x}"


class EmulatorError(Exception):
    """An emulator cannot be started or did not answer; the message says what to do."""


class EmulatorMissing(EmulatorError):
    """A program the emulators need is not installed, or too old."""

    def __init__(self, program: str, message: str) -> None:
        super().__init__(message)
        self.program = program


class Tape(msgspec.Struct, frozen=True):
    """Scrollback and screen read as one list of rows, from row `first` on.

    Blanks at the end of a row are not part of it. `scrollback` counts all rows above the screen, also those before
    `first`. `wrapped` holds the numbers (counted from the start of the tape) of rows that continue where the row before
    them ran out of columns; ghostty has this of screen rows only.
    """

    rows: list[str]
    scrollback: int
    wrapped: frozenset[int]
    cursor: tuple[int, int]
    first: int = 0

    @property
    def screen(self) -> list[str]:
        """The rows that are not scrollback."""
        return self.rows[max(0, self.scrollback - self.first) :]

    @property
    def text(self) -> list[str]:
        """The rows down to the last one that is not blank."""
        end = len(self.rows)
        while end and not self.rows[end - 1]:
            end -= 1
        return self.rows[:end]


class Cell(msgspec.Struct, frozen=True):
    """One column of a row. The second column of a wide character has no text and width 0; a blank is one space."""

    text: str = " "
    width: int = 1
    fg: Colour = None
    bg: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    strike: bool = False


class Modes(msgspec.Struct, frozen=True):
    """None where the emulator does not report it."""

    autowrap: bool | None = None
    cursor_visible: bool | None = None
    bracketed_paste: bool | None = None
    synchronized_output: bool | None = None


class Emulator(Protocol):
    """A terminal. Columns and rows count from 0."""

    name: str

    @property
    def size(self) -> tuple[int, int]:
        """Columns, rows."""

    def write(self, data: str | bytes) -> None:
        """Show bytes as a program would write them; returns when they have been processed."""

    def feed(self, data: str | bytes, first: int = 0) -> Tape:
        """Write and read the tape from row `first` on (a negative one counts from the first screen row)."""

    def resize(self, columns: int, rows: int) -> None: ...

    def tape(self, first: int = 0) -> Tape: ...

    def screen(self) -> list[str]: ...

    def cursor(self) -> tuple[int, int]:
        """Column and row on the screen."""

    def cells(self, row: int) -> list[Cell]:
        """The cells of a screen row, one for each column."""

    def replies(self) -> bytes:
        """What the terminal answered to queries since the last call. Ghostty's core answers DSR 5 and 6 only."""

    def modes(self) -> Modes: ...

    def close(self) -> None: ...
