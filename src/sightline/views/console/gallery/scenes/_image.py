"""Images."""

import struct
import zlib
from collections.abc import Iterator
from functools import cache

from sightline.tty import CachedComponent, ImageProtocol, ImageRow, ImageStore, Rows, truncate
from sightline.tty.components import ImageComponent
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_WIDTH, _HEIGHT = 160, 80
_PROTOCOLS: tuple[ImageProtocol, ...] = ("kitty", "iterm2", "sixel")


@cache
def _picture() -> bytes:
    """A gradient, as PNG."""
    lines = (
        b"\0" + bytes(part for x in range(_WIDTH) for part in (x * 255 // _WIDTH, y * 255 // _HEIGHT, 160))
        for y in range(_HEIGHT)
    )
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


class _Description(CachedComponent):
    """What a protocol would send, in words: a terminal has one of them at most."""

    def __init__(self, stage: Stage, protocol: ImageProtocol) -> None:
        self._images = ImageStore(protocol, first_number=1)
        self._image = ImageComponent(_picture(), "a gradient", images=self._images, max_rows=4, theme=stage.theme)

    def invalidate(self) -> None:
        """The bytes of an image are sent once: its description stays."""

    def _draw(self, width: int) -> Rows:
        width = max(width, 1)
        rows = self._image.render(width)
        sent = self._images.take_pending()
        if not any(isinstance(row, ImageRow) for row in rows):
            return tuple(rows)
        way = "its bytes go once, then it is placed by its number" if sent else "its bytes go wherever it is drawn"
        return (truncate(f"{len(rows)} rows of pixels: {way}", width),)


def _demoted(stage: Stage) -> ImageComponent:
    """It was pixels until another one needed the room."""
    images = ImageStore("kitty", limit=1, first_number=1)
    first = ImageComponent(_picture(), "made room for another", images=images, max_rows=3, theme=stage.theme)
    first.render(80)
    ImageComponent(_picture(), "the other", images=images, max_rows=3, theme=stage.theme).render(80)
    return first


@scene("image", "pictures, and words where there are no pixels")
def states(stage: Stage) -> Iterator[SceneState]:
    def image(data: bytes, alt: str, images: ImageStore | None = None) -> ImageComponent:
        return ImageComponent(data, alt, images=images or stage.images, max_rows=6, theme=stage.theme)

    if stage.moving:
        yield SceneState("as this terminal shows it", image(_picture(), "a gradient"))
    yield SceneState("without pixels", image(_picture(), "a gradient", ImageStore()))
    yield SceneState("not an image", image(b"no image at all", "broken", ImageStore()))
    for protocol in _PROTOCOLS:
        yield SceneState(f"over {protocol}", _Description(stage, protocol))
    yield SceneState("made room for another: its rows stay", _demoted(stage))
