"""An editor's rows: a rule, the part of the text around the cursor, a rule."""

import msgspec

from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._frame import empty, rule
from sightline.tty.components.editor._layout import EditorLayout, LayoutMarks, RowPlace
from sightline.tty.components.editor._undo import Position
from sightline.tty.theme._theme import Theme


class Window:
    """At most `height` rows of a layout around the cursor, which move only when it would leave them."""

    def __init__(self, buffer: Buffer, layout: EditorLayout, height: int) -> None:
        self._buffer = buffer
        self._layout = layout
        self.height = max(1, height)
        self._top = RowPlace(0, 0)

    def rows(self) -> list[RowPlace]:
        here = self._layout.place(self._buffer.cursor)
        if (here.line, here.row) < (self._top.line, self._top.row) or not self._reaches(here):
            self._top = self._back(here, self.height - 1) if self._is_below(here) else here
        rows = self._from(self._valid(self._top))
        if len(rows) < self.height:
            self._top = self._back(rows[0], self.height - len(rows))
            rows = self._from(self._top)
        self._top = rows[0]
        return rows

    def hidden_above(self, rows: list[RowPlace]) -> int:
        """Lines not shown, or not shown from their beginning, above the window."""
        return rows[0].line + (rows[0].row > 0)

    def hidden_below(self, rows: list[RowPlace]) -> int:
        last = rows[-1]
        return len(self._buffer.lines) - 1 - last.line + self._layout.rows(last.line).has(last.row + 1)

    def _is_below(self, here: RowPlace) -> bool:
        return (here.line, here.row) > (self._top.line, self._top.row)

    def _reaches(self, here: RowPlace) -> bool:
        return here in self._from(self._valid(self._top))

    def _valid(self, place: RowPlace) -> RowPlace:
        """The place itself, or the nearest one when the text or the width changed under it."""
        line = min(place.line, len(self._buffer.lines) - 1)
        row = place.row
        return RowPlace(line, row if self._layout.rows(line).has(row) else self._layout.rows(line).last())

    def _from(self, place: RowPlace) -> list[RowPlace]:
        rows = [place]
        while len(rows) < self.height and (below := self._layout.below(rows[-1])) is not None:
            rows.append(below)
        return rows

    def _back(self, place: RowPlace, rows: int) -> RowPlace:
        for _ in range(rows):
            above = self._layout.above(place)
            if above is None:
                break
            place = above
        return place


_ROOM_FOR_INSET = 5


class EditorLook(msgspec.Struct, frozen=True):
    """What rows show besides the text."""

    title: str
    mode: str
    border_role: str
    placeholder: str
    focused: bool
    selection: tuple[Position, Position] | None


class View:
    """Draws a buffer in a window of at most `max_rows` rows."""

    def __init__(self, theme: Theme, buffer: Buffer, layout: EditorLayout, max_rows: int) -> None:
        self._theme = theme
        self._buffer = buffer
        self._layout = layout
        self._window = Window(buffer, layout, max_rows)

    @property
    def page(self) -> int:
        """How far a page key goes: one row of what was seen stays."""
        return max(1, self._window.height - 1)

    def draw(self, width: int, look: EditorLook) -> list[str]:
        if width < 1:
            return ["", "", ""]
        inset = " " if width >= _ROOM_FOR_INSET else ""
        self._layout.set_width(width - len(inset))
        places = self._window.rows()
        above, below = self._window.hidden_above(places), self._window.hidden_below(places)
        right = "  ".join(word for word in (f"↑ {above} more" if above else "", look.mode) if word)
        top = rule(self._theme, look.border_role, width, left=look.title, right=right)
        bottom = rule(self._theme, look.border_role, width, right=f"↓ {below} more" if below else "")
        if self._buffer.lines == [""]:
            hint = empty(self._theme, look.placeholder, width - len(inset), focused=look.focused)
            return [top, inset + hint, bottom]
        marks = LayoutMarks(self._buffer.cursor if look.focused else None, look.selection)
        return [top, *(inset + self._layout.draw(place, self._theme, marks) for place in places), bottom]
