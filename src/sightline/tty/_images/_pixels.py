"""Decoding, by Pillow where it is installed (the extra `images`): nothing else here needs it."""

from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any

_MOST_PIXELS = 64_000_000


def can_decode() -> bool:
    return find_spec("PIL") is not None


def as_png(data: bytes, width: int, height: int) -> bytes | None:
    """The image as PNG, no larger than this; None when it cannot be decoded."""
    image = _decoded(data, width, height)
    if image is None:
        return None
    out = BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def as_rgba(data: bytes, width: int, height: int) -> tuple[int, int, bytes] | None:
    """Width, height and pixels (red, green, blue, opacity) of the image, no larger than this."""
    image = _decoded(data, width, height)
    return None if image is None else (*image.size, image.tobytes())


def _decoded(data: bytes, width: int, height: int) -> Any:
    library = import_module("PIL.Image")
    try:
        with library.open(BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            image.draft("RGB", (width, height))
            pixels = image.convert("RGBA")
        pixels.thumbnail((width, height))
    except Exception:
        return None  # a decoder fed with hostile bytes raises whatever its depths raise: it is no image then
    return pixels
