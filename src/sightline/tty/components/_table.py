"""Tables: columns side by side, or one under the other where there is no room for columns.

The columns are laid out from the header and the first rows only, so that a row can be shown for good as soon as it is
known; what is wider in a later row wraps in its column. The last column takes what room is left: nothing is padded
behind it. Where every column cannot have a few cells, each row becomes lines of `header: value`.
"""

from collections.abc import Sequence

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.components._runs import TextRun, paint, plain, word_spans, wrap_runs
from sightline.tty.theme._theme import PLAIN, Theme

LAID_OUT_FROM = 12
_LEAST = 8
_GAP = 3

Cell = tuple[TextRun, ...]
Line = tuple[Cell, ...]


class TableLines:
    """Rows of one table, row by row; its first rows wait until the columns are known."""

    def __init__(self, theme: Theme, width: int, header: Line, aligns: Sequence[str]) -> None:
        self._theme = theme
        self._width = width
        self._header = header
        self._aligns = tuple(aligns)
        self._waiting: tuple[Line, ...] = ()
        self._widths: list[int] | None = None
        self._records = 0

    def copy(self) -> "TableLines":
        twin = TableLines.__new__(TableLines)
        twin.__dict__.update(self.__dict__)
        return twin

    def add(self, line: Line) -> list[list[str]]:
        """The rows that are now final: those of the header, when its turn comes, and of each line by themselves."""
        line = (*line, *((),) * (len(self._header) - len(line)))
        if self._widths is not None:
            return [self._shown(line)]
        self._waiting += (line,)
        return self.close() if len(self._waiting) == LAID_OUT_FROM else []

    def close(self) -> list[list[str]]:
        """No more rows, or no more that matter for the columns."""
        if self._widths is not None:
            return []
        self._widths = widths = _columns(self._header, self._waiting, self._width)
        rows: list[str] = []
        if widths:
            rule = self._theme.style("table_border", "─┼─".join("─" * size for size in widths))
            if self._aligns[-1] == "left":
                widths[-1] = self._width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
            rows = [*self._side_by_side(self._header, widths), rule]
        waiting, self._waiting = self._waiting, ()
        if not widths and not waiting:
            rows = [row for cell in self._header for row in wrap_runs(cell, self._width)]
        return [rows, *map(self._shown, waiting)]

    def _shown(self, line: Line) -> list[str]:
        return self._side_by_side(line, self._widths) if self._widths else self._stacked(line)

    def _side_by_side(self, line: Line, widths: list[int]) -> list[str]:
        texts = [plain(cell) for cell in line]
        spans = [word_spans(text, size) for text, size in zip(texts, widths, strict=True)]
        painted = [paint(cell, cell_spans) for cell, cell_spans in zip(line, spans, strict=True)]
        bar = self._theme.style("table_border", "│")
        rows = []
        for index in range(max(map(len, painted))):
            row = ""
            for column, size in enumerate(widths):
                shown, cells = "", 0
                if index < len(painted[column]):
                    start, end = spans[column][index]
                    shown, cells = painted[column][index], measure(texts[column][start:end])
                last = column == len(widths) - 1
                shown = _aligned(shown, size - cells, self._aligns[column], last=last)
                row += shown if not column else f" {bar} {shown}" if shown else f" {bar}"
            rows.append(row)
        return rows

    def _stacked(self, line: Line) -> list[str]:
        """Each value under its column's name; an empty row between two rows of the table."""
        rows = [""] if self._records else []
        self._records += 1
        for name, cell in zip(self._header, line, strict=True):
            mark = [TextRun(": ", name[-1].style)] if plain(name) else []
            if mark or plain(cell):
                rows += wrap_runs([*name, *mark, *cell], self._width)
        return rows


def _aligned(shown: str, left: int, align: str, *, last: bool) -> str:
    before = {"right": left, "center": left // 2}.get(align, 0) if shown else 0
    return " " * before + shown + ("" if last else " " * (left - before))


def _columns(header: Line, lines: Sequence[Line], width: int) -> list[int]:
    """How wide each column is; empty when they do not fit side by side."""
    natural = [max(1, *(measure(plain(line[column])) for line in (header, *lines))) for column in range(len(header))]
    room = width - _GAP * (len(natural) - 1)
    if sum(min(size, _LEAST) for size in natural) > room:
        return []
    return _shared(natural, room)


def _shared(natural: list[int], room: int) -> list[int]:
    """What each column gets: those that need less than a fair share that, the others an equal part of the rest."""
    left = room
    for place, size in enumerate(sorted(natural)):
        share = left // (len(natural) - place)
        if size > share:
            return [min(size, share) for size in natural]
        left -= size
    return natural


class Table(CachedComponent):
    """Rows of text under a header."""

    def __init__(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        align: Sequence[str] = (),
        *,
        theme: Theme = PLAIN,
    ) -> None:
        self._theme = theme
        self._header = [clean_line(name).strip(" ") for name in header]
        self._aligns = [*align, *["left"] * (len(header) - len(align))][: len(header)]
        self.set_rows(rows)

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self._lines = [[clean_line(cell).strip(" ") for cell in row] for row in rows]
        self.invalidate()

    def _draw(self, width: int) -> Rows:
        if not self._header:
            return []
        bold, count = self._theme.open("table_header"), len(self._header)
        header = tuple((TextRun(name, bold),) for name in self._header)
        lines = TableLines(self._theme, max(width, 2), header, self._aligns)
        groups: list[list[str]] = []
        for line in self._lines:
            groups += lines.add(tuple((TextRun(cell),) for cell in line[:count]))
        rows = [row for group in (*groups, *lines.close()) for row in group]
        return rows if width >= 2 else [truncate(row, width, "") for row in rows]
