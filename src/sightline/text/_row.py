"""One row of terminal output: finished (a tuple of runs) or still being written (`ScreenLine`).

A line is a list of pieces as long as text is only added at its end. The first change in its middle turns it into
cells, one for each column: a wide character has an empty cell behind it, a combining character joins the cell before.
So does the first emoji selector (VS16), which makes the narrow character before it wide. How many cells at the start
were erased is remembered, so that erasing them again costs nothing.
"""

from functools import lru_cache

import msgspec

from sightline.text._style import DEFAULT, Style


class StyledRun(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Characters of one row with the same style, written to the same stream."""

    text: str
    style: Style = DEFAULT
    stream: str = "stdout"


Row = tuple[StyledRun, ...]


class ContinuedRow(Row):
    """A row that continues the line of the row before, which was full."""


Pen = tuple[Style, str]  # style and stream

EMOJI_STYLE = "\ufe0f"  # VS16

# Marks that one cell can hold: enough for any script, and a bound for a flood of them.
_CELL_AT_MOST = 16


def row_text(row: Row) -> str:
    return row[0].text if len(row) == 1 else "".join([run.text for run in row])


@lru_cache(maxsize=4096)
def char_width(char: str) -> int:
    """Columns a character takes: 0, 1 or 2. Each is measured alone, so that pieces measure like the whole."""
    from wcwidth import wcwidth  # 30 ms to import: only when there is something other than ASCII to measure

    return min(max(wcwidth(char), 0), 2)


@lru_cache(maxsize=1024)
def is_widened(char: str) -> bool:
    """Whether VS16 makes this character wide: ⚠, and the digit of a keycap."""
    if len(char) != 1 or char_width(char) != 1:
        return False
    from wcwidth import width

    return width(char + EMOJI_STYLE) == 2


def text_width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(char_width, text))


def fitting(text: str, room: int) -> int:
    """How many characters fit into so many columns; those that take none still fit when it is full."""
    if text.isascii():
        return min(len(text), max(room, 0))
    for index, char in enumerate(text):
        room -= char_width(char)
        if room < 0:
            return index
    return len(text)


class ScreenLine:
    """A row that the cursor is in, or that it has edited."""

    __slots__ = ("_erased", "_measured", "_pens", "_texts", "_width", "cells", "continues", "size")

    def __init__(self, row: Row = ()) -> None:
        self.clear()
        self.continues = isinstance(row, ContinuedRow)
        for run in row:
            self.append(run.text, (run.style, run.stream))
        if any(EMOJI_STYLE in text for text in self._texts):
            self.to_cells()

    def clear(self) -> None:
        self.cells = False  # whether the two lists are of cells, or of pieces
        self._texts: list[str] = []
        self._pens: list[Pen] = []
        self.size = 0  # cells, or characters in the pieces
        self._width = 0  # columns of the pieces that were measured
        self._measured = 0
        self._erased = 0  # cells at the start that are blank; there may be more

    def __bool__(self) -> bool:
        return bool(self._texts)

    @property
    def width(self) -> int:
        if self.cells:
            return self.size
        for index in range(self._measured, len(self._texts)):
            self._width += text_width(self._texts[index])
        self._measured = len(self._texts)
        return self._width

    def append(self, text: str, pen: Pen) -> None:
        self._texts.append(text)
        self._pens.append(pen)
        self.size += len(text)

    def overwrite(self, column: int, text: str, pen: Pen) -> int:
        """Put text over what stands at a column at or before the end; the column behind it."""
        self.to_cells()
        if text.isascii():
            return self._splice(column, list(text), pen)
        new: list[str] = []
        for char in text:
            width = char_width(char)
            if char == EMOJI_STYLE and new and is_widened(new[-1]):
                new[-1] += char
                new.append("")
            elif width == 0:
                _join(char, new, len(new)) if new else self.join(char, column)
            else:
                new += (char,) if width == 1 else (char, "")
        return self._splice(column, new, pen)

    def before(self, column: int) -> tuple[str, Pen] | None:
        """The cell before a column, of cells, with its pen."""
        at = column - 1
        return (self._texts[at], self._pens[at]) if 0 <= at < self.size else None

    def widen(self, column: int) -> int:
        """Make the narrow character before a column, of cells, a wide one; the column behind it."""
        at = column - 1
        return self._splice(at, [self._texts[at] + EMOJI_STYLE, ""], self._pens[at])

    def join(self, char: str, column: int) -> None:
        """Add a character that takes no column to what stands before a column, of cells."""
        _join(char, self._texts, column)
        self._erased = min(self._erased, max(column - 2, 0))

    def insert(self, column: int, count: int, most: int, pen: Pen) -> None:
        """Blanks before a column; what they push beyond `most` columns is gone."""
        if column >= self.width:
            return
        self.to_cells()
        self._clear_split(column)
        self._texts[column:column] = [" "] * count
        self._pens[column:column] = [pen] * count
        self._erased = min(self._erased, column)
        self.size = len(self._texts)
        if self.size > most:
            self.erase_from(most)

    def delete(self, column: int, count: int) -> None:
        """Take columns out; what stands behind them moves up."""
        if column + count >= self.width:
            self.erase_from(column)
            return
        self.to_cells()
        self._clear_split(column)
        self._clear_split(column + count)
        del self._texts[column : column + count], self._pens[column : column + count]
        self._erased = min(self._erased, column)
        self.size = len(self._texts)

    def erase(self, column: int, count: int, pen: Pen) -> None:
        """Make some columns blank."""
        if column + count >= self.width:
            self.erase_from(column)
        else:
            self.to_cells()
            self._splice(column, [" "] * count, pen)

    def pad(self, column: int, pen: Pen) -> None:
        """Blanks from the end up to a column."""
        gap = column - self.width
        if gap <= 0:
            return
        if self.cells:
            self._splice(len(self._texts), [" "] * gap, pen)
        else:
            self.append(" " * gap, pen)

    def erase_before(self, column: int, pen: Pen) -> None:
        if column >= self.width:
            self.clear()
            return
        self.to_cells()
        if column > self._erased:
            self._splice(self._erased, [" "] * (column - self._erased), pen)
            self._erased = column

    def erase_from(self, column: int) -> None:
        if column == 0:
            self.clear()
        elif column < self.width:
            self.to_cells()
            self._clear_split(column)
            del self._texts[column:], self._pens[column:]
            self.size = column
            self._erased = min(self._erased, column)

    def row(self) -> Row:
        """The line as it stands: neighbours with the same pen are one run."""
        runs: list[StyledRun] = []
        start, last = 0, None
        for index, pen in enumerate(self._pens):
            if pen is not last and pen != last:
                if last is not None:
                    runs.append(StyledRun("".join(self._texts[start:index]), *last))
                start, last = index, pen
        if last is not None:
            runs.append(StyledRun("".join(self._texts[start:]), *last))
        return ContinuedRow(runs) if self.continues else tuple(runs)

    def to_cells(self) -> None:
        if self.cells:
            return
        pieces = list(zip(self._texts, self._pens, strict=True))
        self.clear()
        self.cells = True
        for text, pen in pieces:
            self.overwrite(len(self._texts), text, pen)

    def _splice(self, column: int, new: list[str], pen: Pen) -> int:
        end = column + len(new)
        if new:
            self._clear_split(column)
            self._clear_split(end)
            self._texts[column:end] = new
            self._pens[column:end] = [pen] * len(new)
            self._erased = min(self._erased, column)
            self.size = len(self._texts)
        return end

    def _clear_split(self, column: int) -> None:
        """Make a wide character that is about to be cut at a column two blanks."""
        if 0 < column < len(self._texts) and self._texts[column] == "":
            self._texts[column - 1 : column + 1] = (" ", " ")


def _join(char: str, cells: list[str], column: int) -> None:
    """Add a character that takes no column to the cell before it; a cell that is full, or none at all, drops it."""
    at = column - 1
    if at > 0 and cells[at] == "":
        at -= 1
    if at >= 0 and len(cells[at]) < _CELL_AT_MOST:
        cells[at] += char
