"""Rows with SGR, as tmux prints them, into cells."""

import re
from typing import Any

from wcwidth import iter_graphemes, width

from sightline.testing.emulators._types import Cell, Colour, rgb

_PART = re.compile(r"\x1b\[([\d;:]*)m|\x1b\].*?(?:\x1b\\|\x07)|[\x0e\x0f]|[^\x1b\x0e\x0f]+")
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("strike",)}


def cells_of_row(row: str, columns: int) -> list[Cell]:
    """One cell for each column."""
    cells: list[Cell] = []
    style: dict[str, Any] = {}
    for part in _PART.finditer(row):
        if part[1] is not None:
            _apply(style, part[1])
        elif part[0][0] >= " ":
            cells += _cells_of_text(part[0], style)
    return cells[:columns] + [Cell()] * (columns - len(cells))


def _cells_of_text(text: str, style: dict[str, Any]) -> list[Cell]:
    cells = []
    for cluster in iter_graphemes(text):
        taken = max(1, width(cluster))
        cells.append(Cell(cluster, taken, **style))
        cells += [Cell("", 0, **style)] * (taken - 1)
    return cells


def _apply(style: dict[str, Any], parameters: str) -> None:
    codes = [int(code.split(":")[0] or 0) for code in parameters.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style.clear()
        elif code in _ON:
            style[_ON[code]] = True
        elif code in _OFF:
            for name in _OFF[code]:
                style.pop(name, None)
        else:
            _apply_colour(style, code, codes)


def _apply_colour(style: dict[str, Any], code: int, rest: list[int]) -> None:
    name = "fg" if code < 40 or 90 <= code <= 97 else "bg"
    if code in (39, 49):
        style.pop(name, None)
    elif code in (38, 48):
        style[name] = _long_colour(rest)
    elif code >= 90:
        style[name] = code % 10 + 8
    else:
        style[name] = code % 10


def _long_colour(rest: list[int]) -> Colour:
    if rest.pop(0) == 5:
        return rgb(rest.pop(0))
    red, green, blue = rest.pop(0), rest.pop(0), rest.pop(0)
    return f"#{red:02x}{green:02x}{blue:02x}"
