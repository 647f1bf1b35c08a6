"""Text, wrapped. Style (SGR) that comes with it stays, in the colours the theme has; no other sequence does."""

from sightline.text import DEFAULT, OutputScreen, clean_output, clean_text, row_text
from sightline.tty._component import CachedComponent, Rows
from sightline.tty.cells._width import expand_tabs, truncate, wrap
from sightline.tty.theme._theme import PLAIN, RESET, Theme, on_background


class TextComponent(CachedComponent):
    """Lines of text, wrapped at spaces or, without `wrap`, cut at the edge."""

    def __init__(
        self, text: str = "", role: str | None = None, *, padding_x: int = 0, wrap: bool = True, theme: Theme = PLAIN
    ) -> None:
        self._text = text
        self._role = role
        self._padding = max(padding_x, 0)
        self._wrap = wrap
        self._theme = theme

    def set_text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.invalidate()

    def _draw(self, width: int) -> Rows:
        if not self._text:
            return ()
        width = max(width, 1)
        padding = " " * min(self._padding, (width - 1) // 2)
        room = width - 2 * len(padding)
        lines = styled_lines(self._text, self._theme)
        rows = wrap("\n".join(lines), room) if self._wrap else [truncate(line, room) for line in lines]
        opening = self._theme.open(self._role) if self._role else ""
        return tuple(padding + on_background(row, opening) if row else "" for row in rows)


def styled_lines(text: str, theme: Theme) -> list[str]:
    """Untrusted text as lines that hold nothing but text and SGR; each line opens and closes its own styles."""
    if "\x1b" not in text and "\x9b" not in text:
        return expand_tabs(clean_text(text)).split("\n")
    screen = OutputScreen(height=1)
    screen.feed(clean_output(text))
    screen.finish()
    lines = []
    for row in screen.take_settled():
        if all(run.style == DEFAULT for run in row):
            lines.append(row_text(row))
            continue
        styled = [(theme.open_style(run.style), run.text) for run in row]
        lines.append("".join([f"{opening}{part}{RESET}" if opening else part for opening, part in styled]))
    return lines
