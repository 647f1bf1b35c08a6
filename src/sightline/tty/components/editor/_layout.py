"""Rows of a buffer: which row the cursor is in, what is above and below it, what a row looks like.

Only lines that are looked at are broken into rows, and those are remembered, so a key costs the rows around the cursor
however long the text is.
"""

from collections.abc import Callable, Iterator

import msgspec

from sightline.tty._component import CURSOR
from sightline.tty._theme import Theme
from sightline.tty._width import measure, pad
from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._clusters import is_marker, units
from sightline.tty.components.editor._undo import Position
from sightline.tty.components.editor._wrap import LineRows, Wrapping

_REMEMBERED = 512
_LONG, _LONG_REMEMBERED = 2000, 32


class Place(msgspec.Struct, frozen=True, gc=False):
    """A row: the line it is part of, and which row of it."""

    line: int
    row: int


class Layout:
    """A buffer at a width."""

    def __init__(self, buffer: Buffer, label: Callable[[str], str]) -> None:
        self._buffer = buffer
        self._label = label
        self._known: dict[str, LineRows] = {}
        self._width = 80
        self._wrapping = self._wrapping_for(80)
        self._long: dict[int, LineRows] = {}

    @property
    def width(self) -> int:
        return self._width

    def set_width(self, width: int) -> None:
        """Rows are at most `width` cells, one of which is kept for the cursor."""
        if width == self._width:
            return
        self._width = width
        self._wrapping = self._wrapping_for(width)
        self._known.clear()
        self._long.clear()

    def rows(self, line: int) -> LineRows:
        text = self._buffer.lines[line]
        if len(text) > _LONG:
            return self._rows_of_long(line, text)
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[text] = LineRows(text, self._wrapping)
        return known

    def place(self, position: Position) -> Place:
        return Place(position[0], self.rows(position[0]).row_at(position[1]))

    def above(self, place: Place) -> Place | None:
        if place.row > 0:
            return Place(place.line, place.row - 1)
        return Place(place.line - 1, self.rows(place.line - 1).last()) if place.line > 0 else None

    def below(self, place: Place) -> Place | None:
        if self.rows(place.line).has(place.row + 1):
            return Place(place.line, place.row + 1)
        return Place(place.line + 1, 0) if place.line + 1 < len(self._buffer.lines) else None

    def bounds(self, place: Place) -> tuple[int, int]:
        """The first character of a row, and the one after its last."""
        return self.rows(place.line).bounds(place.row)

    def column(self, position: Position) -> int:
        """The cell in its row where a position is."""
        start, _ = self.bounds(self.place(position))
        text = self._buffer.lines[position[0]][start : position[1]]
        return sum(self._wrapping.cells(unit, cells) for unit, cells in units(text))

    def at_column(self, place: Place, column: int) -> Position:
        """The position in a row nearest to a cell, without going past it."""
        start, end = self.bounds(place)
        line = self._buffer.lines[place.line]
        position, used = start, 0
        for unit, cells in units(line[start:end]):
            used += self._wrapping.cells(unit, cells)
            # The end of a row that goes on is the beginning of the next one, not a place in this row.
            if used > column or (position + len(unit) == end and end < len(line)):
                break
            position += len(unit)
        return place.line, position

    def vertical(self, step: int) -> Position | None:
        """A row up (-1) or down (1) from the cursor, in the column one came from; None past the first or last row."""
        buffer = self._buffer
        here = self.place(buffer.cursor)
        place = self.above(here) if step < 0 else self.below(here)
        if place is None:
            return None
        if buffer.goal is None:
            buffer.goal = self.column(buffer.cursor)
        return self.at_column(place, buffer.goal)

    def draw(self, place: Place, theme: Theme, marks: "Marks") -> str:
        """A row as it is shown."""
        start, end = self.bounds(place)
        text = self._buffer.lines[place.line][start:end]
        cursor = marks.cursor[1] - start if marks.cursor is not None and self.place(marks.cursor) == place else None
        selected = marks.selected_in(place.line, start, end)
        if cursor is None and selected is None and text.isascii() and "\t" not in text:
            return text
        return "".join(self._pieces(text, theme, cursor, selected))

    def _pieces(self, text: str, theme: Theme, cursor: int | None, selected: range | None) -> Iterator[str]:
        position = 0
        for unit, cells in units(text):
            shown, role = self._shown(unit, cells), "accent" if is_marker(unit) else ""
            if selected is not None and position in selected:
                role = "selection"
            if position == cursor:
                yield CURSOR
            yield theme.style(role, shown) if role else shown
            position += len(unit)
        if position == cursor:
            yield CURSOR

    def _shown(self, unit: str, own: int) -> str:
        cells = self._wrapping.cells(unit, own)
        if is_marker(unit):
            return pad(self._label(unit), cells)
        if unit == "\t":
            return " " * cells
        return unit if own <= cells else "…"[:cells]

    def _wrapping_for(self, width: int) -> Wrapping:
        """With only one cell there is none to spare for the cursor."""
        spare = 1 if width > 1 else 0
        return Wrapping(width - spare, lambda marker: measure(self._label(marker)), hang=spare)

    def _rows_of_long(self, line: int, text: str) -> LineRows:
        """Long lines are few, are changed a little at a time, and are known by being the same object."""
        known = self._long.get(line)
        if known is None or known.line is not text:
            if known is None and len(self._long) >= _LONG_REMEMBERED:
                self._long.clear()
            known = self._long[line] = LineRows(text, self._wrapping) if known is None else known.edited(text)
        return known


class Marks(msgspec.Struct, frozen=True):
    """What is drawn into rows: the cursor and a selection, both as positions in the buffer."""

    cursor: Position | None = None
    selection: tuple[Position, Position] | None = None

    def selected_in(self, line: int, start: int, end: int) -> range | None:
        """The selected characters of a row, counted from its first."""
        if self.selection is None:
            return None
        first, last = self.selection
        if not first[0] <= line <= last[0]:
            return None
        low = first[1] if line == first[0] else 0
        high = last[1] if line == last[0] else end + 1
        return range(max(low, start) - start, max(0, min(high, end) - start))
