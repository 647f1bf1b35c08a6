"""The header of an image file: format and size in pixels.

Only headers are read, at fixed places or by steps that always go forward and are counted, so hostile bytes cost no more
than honest ones. What is cut short, absurd or unknown is no image.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

Format = Literal["png", "jpeg", "gif", "webp"]

_LONGEST_SIDE = 32_767
_MOST_PIXELS = 64_000_000  # what a terminal or a decoder unpacks: a quarter of a gigabyte
_JPEG_STEPS = 512
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset([0x01, *range(0xD0, 0xD8)])

Size = tuple[int, int]


class ImageHeader(msgspec.Struct, frozen=True, gc=False):
    """Format and size of an image."""

    format: Format
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader | None:
    """The header of an image in a format terminals know, or None."""
    for kind, begins, read in _FORMATS:
        if data.startswith(begins):
            size = read(data)
            if size is None or not all(0 < side <= _LONGEST_SIDE for side in size) or size[0] * size[1] > _MOST_PIXELS:
                return None
            return ImageHeader(kind, *size)
    return None


def _png(data: bytes) -> Size | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _gif(data: bytes) -> Size | None:
    if len(data) < 10:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> Size | None:
    at = 2
    for _ in range(_JPEG_STEPS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF or marker in _JPEG_ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _JPEG_FRAMES:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return None


def _webp(data: bytes) -> Size | None:
    if len(data) < 30 or data[8:12] != b"WEBP":
        return None
    chunk = data[12:16]
    if chunk == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if chunk == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if chunk == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None


_FORMATS: tuple[tuple[Format, bytes, Callable[[bytes], Size | None]], ...] = (
    ("png", b"\x89PNG\r\n\x1a\n", _png),
    ("jpeg", b"\xff\xd8", _jpeg),
    ("gif", b"GIF87a", _gif),
    ("gif", b"GIF89a", _gif),
    ("webp", b"RIFF", _webp),
)
