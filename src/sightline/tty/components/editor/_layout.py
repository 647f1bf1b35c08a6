"""Rows of a buffer: where a line breaks, which row the cursor is in, what is above and below it, what a row looks like.

A row holds at most `width` cells and breaks after blanks and around wide characters, else anywhere; one blank may hang
over the edge (`hang`), into the cell that is kept free for a cursor at the end of a row. Every character belongs to
exactly one row, so that the cursor can stand before it.

Breaking goes from left to right and depends on nothing before the row it is in. Only lines that are looked at are
broken into rows, as far as they are asked for, and those are remembered; after an edit the rows before it stay. So a
key costs the rows around the cursor, however long the text or the line is.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator

import msgspec

from sightline.tty._component import CURSOR
from sightline.tty.cells._width import measure, pad
from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._clusters import is_marker, units, units_from
from sightline.tty.components.editor._undo import Position
from sightline.tty.theme._theme import Theme

TAB = 4


class Wrapping:
    """Breaks lines at one width."""

    def __init__(self, width: int, cells_of_marker: Callable[[str], int], *, hang: int = 1) -> None:
        self.width = max(1, width)
        self._hang = hang
        self._cells_of_marker = cells_of_marker

    def cells(self, unit: str, cells: int) -> int:
        """The cells a unit takes on the screen, where it can never take more than a row."""
        if is_marker(unit):
            cells = self._cells_of_marker(unit)
        elif unit == "\t":
            cells = TAB
        return min(max(0, cells), self.width)

    def breaks(self, line: str, start: int) -> Iterator[int]:
        """Where the rows after the one that begins at `start` begin."""
        plain = line.isascii() and "\t" not in line
        return self._breaks_of_ascii(line, start) if plain else self._breaks_of(line, start)

    def _breaks_of_ascii(self, line: str, start: int) -> Iterator[int]:
        width, hang = self.width, self._hang
        while len(line) - start > width:
            blank = line.rfind(" ", start, start + width + hang)
            start = blank + 1 if blank >= start else start + width
            yield start

    def _breaks_of(self, line: str, start: int) -> Iterator[int]:
        position, used = start, 0
        opening, since = start, 0  # the last place to break, and the cells since then
        for unit, own in units_from(line, start):
            cells = self.cells(unit, own)
            if cells > 1 and position > start:
                opening, since = position, 0
            over = used + cells > self.width
            if over and unit == " " and used + 1 <= self.width + self._hang:
                start = position + 1
                yield start
                position, used, opening, since = start, 0, start, 0
                continue
            if over and position > start:
                if opening > start:
                    start, used = opening, since
                else:
                    start, used = position, 0
                opening, since = start, used
                yield start
            position += len(unit)
            used += cells
            since += cells
            if unit == " " or cells > 1:
                opening, since = position, 0


class WrappedLine:
    """The rows of one line, as far as anybody asked."""

    def __init__(self, line: str, wrapping: Wrapping, starts: list[int] | None = None) -> None:
        self.line = line
        self._wrapping = wrapping
        self._starts = starts or [0]
        self._more = wrapping.breaks(line, self._starts[-1])

    def edited(self, line: str) -> "WrappedLine":
        """The rows of what the line became. The ones before the change stay.

        But for the last two of them: a mark typed at the beginning of a row can widen the end of the row before.
        """
        same = _common_prefix(self.line, line)
        return WrappedLine(line, self._wrapping, self._starts[: max(1, bisect_right(self._starts, same) - 2)])

    def row_at(self, column: int) -> int:
        """The row a character is in; what is behind the last character is in the last row."""
        while self._starts[-1] <= column and self._find_one():
            pass
        return bisect_right(self._starts, column) - 1

    def has(self, row: int) -> bool:
        while len(self._starts) <= row and self._find_one():
            pass
        return row < len(self._starts)

    def last(self) -> int:
        while self._find_one():
            pass
        return len(self._starts) - 1

    def bounds(self, row: int) -> tuple[int, int]:
        """The first character of a row, and the one after its last."""
        end = self._starts[row + 1] if self.has(row + 1) else len(self.line)
        return self._starts[row], end

    def _find_one(self) -> bool:
        start = next(self._more, None)
        if start is not None:
            self._starts.append(start)
        return start is not None


def _common_prefix(one: str, other: str) -> int:
    """How many characters two texts begin with in common: halving, so that comparing is done in big pieces."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


_REMEMBERED = 512
_LONG, _LONG_REMEMBERED = 2000, 32


class RowPlace(msgspec.Struct, frozen=True, gc=False):
    """A row: the line it is part of, and which row of it."""

    line: int
    row: int


class EditorLayout:
    """A buffer at a width."""

    def __init__(self, buffer: Buffer, label: Callable[[str], str]) -> None:
        self._buffer = buffer
        self._label = label
        self._known: dict[str, WrappedLine] = {}
        self._width = 80
        self._wrapping = self._wrapping_for(80)
        self._long: dict[int, WrappedLine] = {}

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

    def rows(self, line: int) -> WrappedLine:
        text = self._buffer.lines[line]
        if len(text) > _LONG:
            return self._rows_of_long(line, text)
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[text] = WrappedLine(text, self._wrapping)
        return known

    def place(self, position: Position) -> RowPlace:
        return RowPlace(position[0], self.rows(position[0]).row_at(position[1]))

    def above(self, place: RowPlace) -> RowPlace | None:
        if place.row > 0:
            return RowPlace(place.line, place.row - 1)
        return RowPlace(place.line - 1, self.rows(place.line - 1).last()) if place.line > 0 else None

    def below(self, place: RowPlace) -> RowPlace | None:
        if self.rows(place.line).has(place.row + 1):
            return RowPlace(place.line, place.row + 1)
        return RowPlace(place.line + 1, 0) if place.line + 1 < len(self._buffer.lines) else None

    def bounds(self, place: RowPlace) -> tuple[int, int]:
        """The first character of a row, and the one after its last."""
        return self.rows(place.line).bounds(place.row)

    def column(self, position: Position) -> int:
        start, _ = self.bounds(self.place(position))
        text = self._buffer.lines[position[0]][start : position[1]]
        return sum(self._wrapping.cells(unit, cells) for unit, cells in units(text))

    def at_column(self, place: RowPlace, column: int) -> Position:
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

    def draw(self, place: RowPlace, theme: Theme, marks: "LayoutMarks") -> str:
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

    def _rows_of_long(self, line: int, text: str) -> WrappedLine:
        """Long lines are few, are changed a little at a time, and are known by being the same object."""
        known = self._long.get(line)
        if known is None or known.line is not text:
            if known is None and len(self._long) >= _LONG_REMEMBERED:
                self._long.clear()
            known = self._long[line] = WrappedLine(text, self._wrapping) if known is None else known.edited(text)
        return known


class LayoutMarks(msgspec.Struct, frozen=True):
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
