"""Pixels as sixels.

A sixel is a column of six pixels of one colour, written as one character; a band is six rows of pixels, written once
for each colour in it. Colours are rounded to a cube of 6 × 7 × 6 (green has a step more: the eye sees it best), and
pixels less than half opaque are left out.

All work is done on whole rows, as bytes and as large integers with one byte for each pixel: a loop over single pixels
would take seconds.
"""

import re

_REDS, _GREENS, _BLUES = 6, 7, 6
_CLEAR = 255
_run = re.compile(r"(.)\1{3,}", re.DOTALL).sub
_to_characters = bytes(min(63 + value, 126) for value in range(256))


def encode(width: int, height: int, rgba: bytes) -> str:
    indexes = _indexes(width * height, rgba)
    used = sorted(set(indexes) - {_CLEAR})
    bands = [_band(indexes[start : start + 6 * width], width) for start in range(0, width * height, 6 * width)]
    return f'\x1bP0;1;0q"1;1;{width};{height}{"".join(map(_definition, used))}{"-".join(bands)}\x1b\\'


def _indexes(pixels: int, rgba: bytes) -> bytes:
    """The number of each pixel's colour in the cube."""
    total = 0
    for channel, (levels, weight) in enumerate(((_REDS, _GREENS * _BLUES), (_GREENS, _BLUES), (_BLUES, 1))):
        step = bytes((value * (levels - 1) + 127) // 255 * weight for value in range(256))
        total += int.from_bytes(rgba[channel::4].translate(step), "big")
    clear = rgba[3::4].translate(bytes(_CLEAR if value < 128 else 0 for value in range(256)))
    return (total | int.from_bytes(clear, "big")).to_bytes(pixels, "big")


def _definition(colour: int) -> str:
    red, rest = divmod(colour, _GREENS * _BLUES)
    green, blue = divmod(rest, _BLUES)
    parts = ((red, _REDS), (green, _GREENS), (blue, _BLUES))
    return f"#{colour};2;" + ";".join(str(round(100 * part / (levels - 1))) for part, levels in parts)


def _band(band: bytes, width: int) -> str:
    return "$".join(f"#{colour}{_row(band, width, colour)}" for colour in sorted(set(band) - {_CLEAR}))


def _row(band: bytes, width: int, colour: int) -> str:
    """The sixels of one colour: each pixel row of the band gives one bit of each."""
    hits = band.translate(bytes(value == colour for value in range(256)))
    total = 0
    for bit, start in enumerate(range(0, len(band), width)):
        total |= int.from_bytes(hits[start : start + width], "big") << bit
    sixels = total.to_bytes(width, "big").translate(_to_characters).decode("ascii").rstrip("?")
    return _run(lambda match: f"!{len(match[0])}{match[1]}", sixels)
