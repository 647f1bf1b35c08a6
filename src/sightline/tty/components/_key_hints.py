"""A row of keys and what they do."""

from collections.abc import Sequence

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.theme._theme import PLAIN, Theme

_BETWEEN = " · "


class KeyHints(CachedComponent):
    """`enter send · escape cancel`: as many pairs as fit, each whole. `quiet`: it is always there, and recedes."""

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
        theme, room = self._theme, width
        parts: list[str] = []
        for key, meaning in self._hints:
            needed = measure(f"{key} {meaning}") + (len(_BETWEEN) if parts else 0)
            if needed > room:
                break
            room -= needed
            parts.append(f"{theme.style(self._key_role, key)} {theme.style(self._role, meaning)}")
        if not parts:
            return truncate(theme.style(self._key_role, self._hints[0][0]), width)
        return theme.style(self._role, _BETWEEN).join(parts)
