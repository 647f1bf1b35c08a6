"""Which rows of a long text are shown: as many as fit around the cursor, moving only when it would leave them."""

from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._layout import Layout, Place


class Window:
    """A window of at most `height` rows over a layout. It looks at no more rows than that."""

    def __init__(self, buffer: Buffer, layout: Layout, height: int) -> None:
        self._buffer = buffer
        self._layout = layout
        self.height = max(1, height)
        self._top = Place(0, 0)

    def rows(self) -> list[Place]:
        here = self._layout.place(self._buffer.cursor)
        if (here.line, here.row) < (self._top.line, self._top.row) or not self._reaches(here):
            self._top = self._back(here, self.height - 1) if self._is_below(here) else here
        rows = self._from(self._valid(self._top))
        if len(rows) < self.height:
            self._top = self._back(rows[0], self.height - len(rows))
            rows = self._from(self._top)
        self._top = rows[0]
        return rows

    def hidden_above(self, rows: list[Place]) -> int:
        """Lines not shown, or not shown from their beginning, above the window."""
        return rows[0].line + (rows[0].row > 0)

    def hidden_below(self, rows: list[Place]) -> int:
        last = rows[-1]
        return len(self._buffer.lines) - 1 - last.line + self._layout.rows(last.line).has(last.row + 1)

    def _is_below(self, here: Place) -> bool:
        return (here.line, here.row) > (self._top.line, self._top.row)

    def _reaches(self, here: Place) -> bool:
        return here in self._from(self._valid(self._top))

    def _valid(self, place: Place) -> Place:
        """The place itself, or the nearest one when the text or the width changed under it."""
        line = min(place.line, len(self._buffer.lines) - 1)
        row = place.row
        return Place(line, row if self._layout.rows(line).has(row) else self._layout.rows(line).last())

    def _from(self, place: Place) -> list[Place]:
        rows = [place]
        while len(rows) < self.height and (below := self._layout.below(rows[-1])) is not None:
            rows.append(below)
        return rows

    def _back(self, place: Place, rows: int) -> Place:
        for _ in range(rows):
            above = self._layout.above(place)
            if above is None:
                break
            place = above
        return place
