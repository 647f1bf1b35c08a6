"""A frame around other components."""

from typing import Literal

from sightline.text import clean_line
from sightline.tty._component import Component, Rows
from sightline.tty._images import ImageRow
from sightline.tty.cells._width import measure, truncate
from sightline.tty.components._container import Holder, same_rows
from sightline.tty.theme._theme import PLAIN, Theme, on_background

Border = Literal["rounded", "heavy", "none"]

_LINES = {"rounded": ("╭", "╮", "╰", "╯", "─", "│"), "heavy": ("┏", "┓", "┗", "┛", "━", "┃")}
_NARROWEST = 5


class Box(Holder):
    """Children below each other, in a border with a title, on a background."""

    def __init__(
        self,
        *children: Component,
        border: Border = "rounded",
        border_role: str = "border",
        title: str = "",
        padding_x: int = 1,
        padding_y: int = 0,
        background: str | None = None,
        theme: Theme = PLAIN,
    ) -> None:
        super().__init__(children)
        self._border = border
        self._border_role = border_role
        self._title = clean_line(title)
        self._padding_x, self._padding_y = max(padding_x, 0), max(padding_y, 0)
        self._background = background
        self._theme = theme
        self._made_of: tuple[int, list[Rows]] | None = None
        self._rows: Rows = ()

    def set_title(self, title: str) -> None:
        if (title := clean_line(title)) != self._title:
            self._title = title
            self._made_of = None

    def set_border(self, role: str) -> None:
        """The role of the border, for instance while what is inside has the focus."""
        if role != self._border_role:
            self._border_role = role
            self._made_of = None

    def render(self, width: int) -> Rows:
        bordered = self._border != "none" and width >= _NARROWEST
        edge = 1 if bordered else 0
        padding = min(self._padding_x, max((width - 2 * edge - 1) // 2, 0))
        inner = max(width - 2 * (edge + padding), 1)
        parts = self._rendered(inner)
        if self._made_of is None or self._made_of[0] != width or not same_rows(self._made_of[1], parts):
            self._made_of = (width, parts)
            self._rows = self._framed(parts, inner, padding, bordered=bordered)
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None
        super().invalidate()

    def _framed(self, parts: list[Rows], inner: int, padding: int, *, bordered: bool) -> Rows:
        blank = [""] * self._padding_y
        content = [*blank, *(row for rows in parts for row in rows), *blank]
        side = self._styled(_LINES[self._border][5]) if bordered else ""
        rows = [self._row(row, inner, padding, side) for row in content]
        if not bordered:
            return tuple(rows)
        return (self._top(inner + 2 * padding), *rows, self._bottom(inner + 2 * padding))

    def _row(self, row: str, inner: int, padding: int, side: str) -> str:
        width = measure(row)
        text = row if width <= inner else truncate(row, inner)
        blank = " " * padding
        filled = f"{blank}{text}{' ' * (inner - min(width, inner))}{blank}"
        if self._background:
            filled = on_background(filled, self._theme.open(self._background))
        elif not side:
            filled = blank + text
        framed = f"{side}{filled}{side}"
        return row.framed(framed, padding + (1 if side else 0)) if isinstance(row, ImageRow) else framed

    def _top(self, width: int) -> str:
        left, right, _, _, line, _ = _LINES[self._border]
        title = truncate(self._title, width - 4) if width > 4 else ""
        if not title:
            return self._styled(left + line * width + right)
        rest = line * (width - 3 - measure(title))
        return self._styled(f"{left}{line} ") + self._theme.style("title", title) + self._styled(f" {rest}{right}")

    def _bottom(self, width: int) -> str:
        _, _, left, right, line, _ = _LINES[self._border]
        return self._styled(left + line * width + right)

    def _styled(self, text: str) -> str:
        return self._theme.style(self._border_role, text)
