"""A picture, or where there are no pixels, a line with its description.

Once pixels were shown the height never changes: a picture that loses them has as many rows, the description in the
last, so nothing below it moves.
"""

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Rows
from sightline.tty._images import ImageStore
from sightline.tty.cells._width import truncate
from sightline.tty.theme._theme import PLAIN, Theme


class ImageComponent(CachedComponent):
    """An image file's bytes, with an alternative text."""

    def __init__(
        self,
        data: bytes,
        alt: str = "",
        *,
        images: ImageStore,
        max_columns: int = 80,
        max_rows: int = 20,
        theme: Theme = PLAIN,
    ) -> None:
        self._images = images
        self._picture = images.picture(data, self)
        self._alt = clean_line(alt)
        self._most = (max_columns, max_rows)
        self._theme = theme
        self._shown = False

    def dispose(self) -> None:
        self._images.drop(self._picture)

    def _draw(self, width: int) -> Rows:
        width = max(width, 1)
        columns, rows = self._images.fit(self._picture, min(width, self._most[0]), self._most[1])
        drawn = self._images.draw(self._picture, columns, rows)
        if drawn is not None:
            self._shown = True
            return tuple(drawn)
        reserved = rows if self._shown or self._picture.at_work else 1
        return (*[""] * (reserved - 1), self._fallback(width))

    def _fallback(self, width: int) -> str:
        header = self._picture.header
        size = f"{header.format.upper()} {header.width}×{header.height}" if header else ""
        parts = [part for part in (self._alt, size, self._picture.problem) if part]
        return self._theme.style("image_fallback", truncate(f"[image: {' · '.join(parts)}]", width))
