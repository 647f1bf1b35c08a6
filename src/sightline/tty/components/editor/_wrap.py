"""Where a line breaks into rows.

A row holds at most `width` cells and breaks after blanks and around wide characters, else anywhere; one blank may hang
over the edge (`hang`), into the cell that is kept free for a cursor at the end of a row. Every character belongs to
exactly one row, so that the cursor can stand before it.

Breaking goes from left to right and depends on nothing before the row it is in. So rows are found as they are asked
for, and after an edit the ones before it stay: a key in a line of a megabyte costs the rows around it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator

from sightline.tty.components.editor._clusters import is_marker, units_from

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


class LineRows:
    """The rows of one line, as far as anybody asked."""

    def __init__(self, line: str, wrapping: Wrapping, starts: list[int] | None = None) -> None:
        self.line = line
        self._wrapping = wrapping
        self._starts = starts or [0]
        self._more = wrapping.breaks(line, self._starts[-1])

    def edited(self, line: str) -> "LineRows":
        """The rows of what the line became. The ones before the change stay.

        But for the last two of them: a mark typed at the beginning of a row can widen the end of the row before.
        """
        same = _common_prefix(self.line, line)
        return LineRows(line, self._wrapping, self._starts[: max(1, bisect_right(self._starts, same) - 2)])

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
