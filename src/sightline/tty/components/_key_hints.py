"""A row of keys and what they do."""

from collections.abc import Sequence

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.theme._theme import PLAIN, Theme

_BETWEEN = " · "


class KeyHints(CachedComponent):
    """`enter send · escape cancel`: as many pairs as fit, each whole. The last one is what leaves, and stays; of the
    others those at the end go first. `quiet`: it is always there, and recedes."""

    def __init__(self, hints: Sequence[tuple[str, str]] = (), *, quiet: bool = False, theme: Theme = PLAIN) -> None:
        self._theme = theme
        self._key_role, self._role = ("dim", "dim") if quiet else ("key", "hint")
        self.set_hints(hints)

    def set_hints(self, hints: Sequence[tuple[str, str]]) -> None:
        self._hints = [(clean_line(key), clean_line(meaning)) for key, meaning in hints]
        self.invalidate()

    def _draw(self, width: int) -> Rows:
        return (self._row(max(width, 1)),) if self._hints else ()

    def _row(self, width: int) -> str:
        theme, shown = self._theme, list(self._hints)
        while len(shown) > 1 and measure(_BETWEEN.join(f"{key} {meaning}" for key, meaning in shown)) > width:
            del shown[-2]
        if measure(" ".join(shown[0])) > width:
            return truncate(theme.style(self._key_role, shown[0][0]), width)
        parts = [f"{theme.style(self._key_role, key)} {theme.style(self._role, meaning)}" for key, meaning in shown]
        return theme.style(self._role, _BETWEEN).join(parts)
