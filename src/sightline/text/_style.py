"""Style as data: what the parameters of `CSI … m` mean for the characters that follow.

Colours are a number of the 256-colour palette or "#rrggbb". What this room does not show (blinking, fonts, the colour
of an underline) is passed over; concealed text is shown, because nothing a command prints may hide from the viewer.
"""

from collections.abc import Iterator
from functools import lru_cache

import msgspec

Colour = int | str | None


class Style(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """How characters look, as far as a terminal would show it; a view decides what to make of it."""

    fg: Colour = None
    bg: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    strike: bool = False


DEFAULT = Style()

_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike", 21: "underline"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("strike",)}
_CHANGES: dict[int, dict[str, Colour | bool]] = {
    **{code: {field: True} for code, field in _ON.items()},
    **{code: dict.fromkeys(fields, False) for code, fields in _OFF.items()},
    39: {"fg": None},
    49: {"bg": None},
}
for _colour in range(8):
    _CHANGES[30 + _colour] = {"fg": _colour}
    _CHANGES[40 + _colour] = {"bg": _colour}
    _CHANGES[90 + _colour] = {"fg": 8 + _colour}
    _CHANGES[100 + _colour] = {"bg": 8 + _colour}

# 58 is the colour of an underline: its arguments must be consumed, else they would be read as styles of their own.
_EXTENDED = {38: "fg", 48: "bg", 58: None}


@lru_cache(maxsize=1024)
def styled(style: Style, parameters: str) -> Style:
    """The style after `CSI parameters m`; the same arguments give the same object, so equal styles are mostly one."""
    changes: dict[str, Colour | bool] = {}
    rest = iter(parameters.split(";"))
    for parameter in rest:
        code, colon, details = parameter.partition(":")
        number = _number(code)
        if number == 0:
            style, changes = DEFAULT, {}
        elif number in _EXTENDED:
            colour = _colour_of(details.split(":")) if colon else _next_colour(rest)
            if (field := _EXTENDED[number]) is not None and colour is not None:
                changes[field] = colour
        elif number == 4 and colon:
            changes["underline"] = details != "0"
        elif not colon:
            changes.update(_CHANGES.get(number, {}))
    return msgspec.structs.replace(style, **changes) if changes else style


def _next_colour(rest: Iterator[str]) -> Colour:
    """The colour whose arguments follow after semicolons; they are consumed even when they make no colour."""
    how = next(rest, "")
    count = {5: 1, 2: 3}.get(_number(how), 0)
    return _colour_of([how, *(next(rest, "-") for _ in range(count))])


def _colour_of(arguments: list[str]) -> Colour:
    """`5, n` or `2, r, g, b`, the latter perhaps with the id of a colour space before the three."""
    how, *values = map(_number, arguments)
    if how == 2 and len(values) > 3:
        values = values[1:4]
    if not all(0 <= value <= 255 for value in values):
        return None
    if how == 5 and values:
        return values[0]
    if how == 2 and len(values) == 3:
        return "#{:02x}{:02x}{:02x}".format(*values)
    return None


def _number(text: str) -> int:
    """An empty parameter is 0; one that is no number, or too long for any meaning, is -1."""
    if not text:
        return 0
    return int(text) if len(text) <= 4 and text.isdecimal() else -1
