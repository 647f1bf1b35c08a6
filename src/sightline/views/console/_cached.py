"""Components that are drawn anew only when what they show has changed."""

from collections.abc import Iterable

from sightline.tty import Component, Rows


class CachedComponent(Component):
    """Draws by `_draw`, once for each width and `_key`."""

    _drawn_for: tuple[object, ...] | None = None
    _rows: Rows = ()

    def _key(self) -> tuple[object, ...]:
        """Everything but the width that the rows depend on."""
        return ()

    def _draw(self, width: int) -> Iterable[str]:
        raise NotImplementedError

    def render(self, width: int) -> Rows:
        key = (width, *self._key())
        if key != self._drawn_for:
            self._drawn_for, self._rows = key, tuple(self._draw(width))
        return self._rows

    def invalidate(self) -> None:
        self._drawn_for, self._rows = None, ()
