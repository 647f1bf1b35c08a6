"""Colours as numbers: how far apart two look, how well one reads on another, and the nearest a terminal can show.

Distance is measured in OKLab, where equal steps look equal; distance in RGB confuses dark blues with black and turns
pale colours grey. The sixteen basic colours of a terminal are its owner's choice, so a colour is matched against what
most terminals show for them, and there the hue decides before lightness does.
"""

import math
from functools import lru_cache
from typing import Literal

RGB = tuple[int, int, int]
Depth = Literal["none", "16", "256", "true"]
"""How many colours a terminal shows. `none` (NO_COLOR) still has bold, dim, underline and reverse."""

_BASIC: tuple[RGB, ...] = (
    (0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16),
    (36, 114, 200), (188, 63, 188), (17, 168, 205), (204, 204, 204),
    (102, 102, 102), (241, 76, 76), (35, 209, 139), (245, 245, 67),
    (59, 142, 234), (214, 112, 214), (41, 184, 219), (255, 255, 255),
)  # fmt: skip
_STEPS = (0, 95, 135, 175, 215, 255)
_CUBE: tuple[RGB, ...] = tuple((r, g, b) for r in _STEPS for g in _STEPS for b in _STEPS)
_GREYS: tuple[RGB, ...] = tuple((level, level, level) for level in range(8, 248, 10))
_HARDLY_A_HUE = 0.04


def rgb(colour: str) -> RGB:
    value = int(colour[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


def indexed(number: int) -> RGB:
    """What the colour of the 256-colour palette looks like; the first sixteen only usually."""
    if number < 16:
        return _BASIC[number]
    return _CUBE[number - 16] if number < 232 else _GREYS[number - 232]


def luminance(colour: RGB) -> float:
    """How bright it is, from 0 to 1, as WCAG defines it."""
    red, green, blue = (_linear(part) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: RGB, other: RGB) -> float:
    """How well one reads on the other: 1 (not at all) to 21 (black on white)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=1024)
def nearest_256(colour: RGB) -> int:
    """The colour of the palette that looks most like it. The first sixteen are left out: their look is not known."""
    target = _oklab(colour)
    red, green, blue = (_steps_around(part) for part in colour)
    near = [16 + 36 * r + 6 * g + b for r in red for g in green for b in blue]
    grey = min(max((sum(colour) // 3 - 8) // 10, 0), 22) + 232
    return min([*near, grey, grey + 1], key=lambda number: math.dist(target, _oklab(indexed(number))))


@lru_cache(maxsize=1024)
def nearest_16(colour: RGB) -> int:
    """The basic colour that looks most like it: of the same hue where it has one, else by lightness."""
    light, red_green, yellow_blue = _oklab(colour)
    if math.hypot(red_green, yellow_blue) < _HARDLY_A_HUE:
        return min((0, 8, 7, 15), key=lambda number: abs(light - _oklab(_BASIC[number])[0]))
    hue = math.atan2(yellow_blue, red_green)
    number = min(range(1, 7), key=lambda number: _turn(hue, _hue(_BASIC[number])))
    return min((number, number + 8), key=lambda number: abs(light - _oklab(_BASIC[number])[0]))


def parameters(colour: int | str, depth: Depth, *, background: bool = False) -> str:
    """The SGR parameters of a colour (of the palette, or `#rrggbb`) at this depth; empty where there are none."""
    if depth == "none":
        return ""
    if isinstance(colour, str) and depth == "true":
        return "{};2;{};{};{}".format(48 if background else 38, *rgb(colour))
    number = colour if isinstance(colour, int) else -1
    if depth == "16" and not 0 <= number < 16:
        number = nearest_16(rgb(colour) if isinstance(colour, str) else indexed(colour))
    elif isinstance(colour, str):
        number = nearest_256(rgb(colour))
    if number < 16:
        return str((30 if number < 8 else 82) + number + (10 if background else 0))
    return f"{48 if background else 38};5;{number}"


def _linear(part: int) -> float:
    share = part / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


@lru_cache(maxsize=2048)
def _oklab(colour: RGB) -> tuple[float, float, float]:
    red, green, blue = (_linear(part) for part in colour)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _hue(colour: RGB) -> float:
    _, red_green, yellow_blue = _oklab(colour)
    return math.atan2(yellow_blue, red_green)


def _turn(one: float, other: float) -> float:
    return abs((one - other + math.pi) % math.tau - math.pi)


def _steps_around(part: int) -> tuple[int, int]:
    """The two steps of the colour cube between which a part lies."""
    above = next(index for index in range(1, 6) if part <= _STEPS[index])
    return above - 1, above
