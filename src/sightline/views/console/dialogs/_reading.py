"""Text that has to be read before it is answered: a window on lines, of which there may be very many.

Rules:

- Only the lines in sight are laid out; the last row shows the position in lines, and which of them are cut.
- `unseen`: the end of what has to be read was not in sight yet; `all_seen`: the end of everything was. Another width or
  height does not undo that. Nor does it bring the end into sight: in another order the window begins at the top, in
  another width at the beginning of the line.
"""

from collections.abc import Callable, Sequence

from sightline.tty import Rows, measure, truncate
from sightline.tty.components import TextComponent
from sightline.tty.components._exact_lines import ExactLines
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Pane

_WAYS_FROM = 60  # columns
_CONTINUED = " …"
_LAID_OUT_AT_MOST = 2000  # lines remembered

Place = tuple[int, int]
"""A line, and a row of it."""


class PartsToRead(Pane):
    """`to_read`: how many parts, from the first, have to be seen."""

    def __init__(self, parts: Sequence[ExactLines], to_read: int, drawing: DrawingOptions) -> None:
        super().__init__(TextComponent(theme=drawing.theme), drawing)
        self.unseen = False
        self.all_seen = False
        self._seen = False
        self._at: Place = (0, 0)
        self._width = -1
        self._laid_out: dict[int, Sequence[str]] = {}
        self._is_whole = False
        self._drawn: tuple[object, Rows] | None = None
        self.set_parts(parts, to_read)

    def set_parts(self, parts: Sequence[ExactLines], to_read: int) -> None:
        """The same in another order."""
        self._parts = list(parts)
        self._last_to_read = sum(len(part) for part in self._parts[:to_read]) - 1
        self._count = sum(len(part) for part in self._parts)
        self._at = (0, 0)
        self._forget()

    def fits(self, width: int, room: int) -> bool:
        """Whether all of it is in sight in so many rows."""
        self._lay_out_for(width)
        left = room
        for line in range(self._count):
            left -= len(self._rows_of(line))
            if left < 0:
                return False
        return True

    def scroll(self, pages: int) -> bool:
        if self._is_whole:
            return False
        self._at = self._moved(self._at, pages * (self._room - 1))
        return True

    def to_end(self) -> bool:
        self._at = (self._count, 0)
        return not self._is_whole

    def to_start(self) -> bool:
        self._at = (0, 0)
        return not self._is_whole

    def render(self, width: int) -> Rows:
        self._lay_out_for(width)
        self._is_whole = self._drawing.linear or self.fits(width, self._room)
        if self._is_whole:
            self._seen, self.all_seen, self.unseen, self._at = True, True, False, (0, 0)
            return self._cached((width, None), self._all)
        window = self._room - 1
        self._at = min(max(self._at, (0, 0)), self._moved((self._count, 0), -window))
        end = self._moved(self._at, window - 1)
        last = (self._last_to_read, len(self._rows_of(self._last_to_read)) - 1)
        self._seen = self._seen or end >= last
        self.all_seen = self.all_seen or end >= self._moved((self._count, 0), 0)
        self.unseen = not self._seen
        return self._cached((width, self._at, self._room), lambda: self._window(window, end, width))

    def invalidate(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._laid_out, self._drawn = {}, None

    def _cached(self, made_of: object, make: Callable[[], Rows]) -> Rows:
        if self._drawn is None or self._drawn[0] != made_of:
            self._drawn = (made_of, make())
        return self._drawn[1]

    def _all(self) -> Rows:
        return tuple(row for line in range(self._count) for row in self._rows_of(line))

    def _window(self, window: int, end: Place, width: int) -> Rows:
        first, last = self._at[0], end[0]
        rows = [row for line in range(first, last + 1) for row in self._rows_of(line)][self._at[1] :][:window]
        continues = end[1] < len(self._rows_of(last)) - 1
        room = width - len(_CONTINUED)
        if continues and (measure(rows[-1]) <= room or last > self._last_to_read):  # what is to be read stays exact
            rows[-1] = truncate(rows[-1], room, "") + self._drawing.theme.style("hint", _CONTINUED)
        cut = sorted({line for line, is_cut in ((first, self._at[1] > 0), (last, continues)) if is_cut})
        return (*rows, self._place_row(first, last, cut, width))

    def _place_row(self, first: int, last: int, cut: list[int], width: int) -> str:
        keys = self._drawing.bindings
        down, to_end = (next(iter(keys.keys(name)), "") for name in ("select_page_down", "select_last"))
        ways = [f"{down} scroll"] if down and width >= _WAYS_FROM else []
        ways += [f"{to_end} jump to the end"] if to_end else []
        where = f"{first + 1:,}–{last + 1:,} of {self._count:,} lines"
        if cut:
            where += f", {' and '.join(f'{line + 1:,}' for line in cut)} cut"
        text = " · ".join([where, *ways])
        return self._drawing.theme.style("hint", truncate(text, width))

    def _lay_out_for(self, width: int) -> None:
        if width != self._width:
            self._width = width
            self._at = (self._at[0], 0)
            self._forget()

    def _rows_of(self, line: int) -> Sequence[str]:
        found = self._laid_out.get(line)
        if found is None:
            if len(self._laid_out) >= _LAID_OUT_AT_MOST:
                self._laid_out.clear()
            found = self._laid_out[line] = self._made(line)
        return found

    def _made(self, line: int) -> Sequence[str]:
        for part in self._parts:
            if line < len(part):
                return part.rows(line, self._width)
            line -= len(part)
        return ()

    def _moved(self, place: Place, rows: int) -> Place:
        line, row = place
        row += rows
        while row < 0 and line > 0:
            line -= 1
            row += len(self._rows_of(line))
        while line < self._count and row >= len(self._rows_of(line)):
            row -= len(self._rows_of(line))
            line += 1
        if line >= self._count:
            return (self._count - 1, len(self._rows_of(self._count - 1)) - 1) if self._count else (0, 0)
        return line, max(row, 0)
