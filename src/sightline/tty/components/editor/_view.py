"""An editor's rows: a rule, the part of the text around the cursor, a rule."""

import msgspec

from sightline.tty._theme import Theme
from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._frame import empty, rule
from sightline.tty.components.editor._layout import Layout, Marks
from sightline.tty.components.editor._undo import Position
from sightline.tty.components.editor._window import Window

_ROOM_FOR_INSET = 5


class Look(msgspec.Struct, frozen=True):
    """What rows show besides the text."""

    title: str
    mode: str
    border_role: str
    placeholder: str
    focused: bool
    selection: tuple[Position, Position] | None


class View:
    """Draws a buffer in a window of at most `max_rows` rows."""

    def __init__(self, theme: Theme, buffer: Buffer, layout: Layout, max_rows: int) -> None:
        self._theme = theme
        self._buffer = buffer
        self._layout = layout
        self._window = Window(buffer, layout, max_rows)

    @property
    def page(self) -> int:
        """How far a page key goes: one row of what was seen stays."""
        return max(1, self._window.height - 1)

    def draw(self, width: int, look: Look) -> list[str]:
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
        marks = Marks(self._buffer.cursor if look.focused else None, look.selection)
        return [top, *(inset + self._layout.draw(place, self._theme, marks) for place in places), bottom]
