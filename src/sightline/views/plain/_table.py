"""Tables: as wide as their cells, and never wider than the terminal, so that a row is one line.

The folder gives way first, and shows its end; the last column has what is left. What is piped has room for everything.
"""

from collections.abc import Sequence

import msgspec

from sightline.text import cut_graphemes
from sightline.text._row import fitting, text_width
from sightline.views.plain._palette import Palette

WIDE = 100  # columns: a terminal with fewer has no room for what is nice to know
NARROW = 72  # a terminal with fewer has no room for a folder
_GAP = 2
_LEAST = 12  # columns of a folder, of a title
_LAST_AT_MOST = 200


class Column(msgspec.Struct, frozen=True):
    name: str
    right: bool = False
    gives_way: bool = False


class Tinted(msgspec.Struct, frozen=True):
    """A cell in a colour."""

    text: str
    tint: str


Cell = str | Tinted


def draw_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], palette: Palette, width: int | None
) -> list[str]:
    """The head and a line for each row. `width`: of the terminal, None for a pipe."""
    texts = [[_text(cell) for cell in row] for row in rows]
    widths = [max(map(text_width, cells)) for cells in zip([column.name for column in columns], *texts, strict=True)]
    _make_room(columns, widths, width)
    head = _line(columns, widths, [column.name for column in columns], palette)
    return [f"{palette.dim}{head}{palette.reset}", *(_line(columns, widths, row, palette) for row in rows)]


def draw_described(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    below: Sequence[Sequence[str]],
    palette: Palette,
    width: int | None,
) -> list[str]:
    """A table with lines below each row, such as a description and a file; an empty one is left out."""
    head, *lines = draw_table(columns, rows, palette, width)
    drawn = [head]
    for line, texts in zip(lines, below, strict=True):
        drawn.append(line)
        for text in filter(None, texts):
            shown = cut_columns(text, width - _GAP) if width else cut_graphemes(text, _LAST_AT_MOST)
            drawn.append(f"  {palette.dim}{shown}{palette.reset}")
    return drawn


def cut_columns(text: str, room: int) -> str:
    """At most so many columns, ellipsis included."""
    return text if text_width(text) <= room else cut_graphemes(text, fitting(text, room - 1) + 1)


def _make_room(columns: Sequence[Column], widths: list[int], width: int | None) -> None:
    if width is None:
        widths[-1] = min(widths[-1], _LAST_AT_MOST)
        return
    for at, column in enumerate(columns):
        if column.gives_way:
            others = sum(widths[:-1]) - widths[at] + _GAP * (len(widths) - 1)
            widths[at] = min(widths[at], max((width - others) * 2 // 5, _LEAST))
    widths[-1] = max(width - sum(widths[:-1]) - _GAP * (len(widths) - 1), _LEAST)


def _line(columns: Sequence[Column], widths: Sequence[int], row: Sequence[Cell], palette: Palette) -> str:
    cells = []
    for column, width, cell in zip(columns, widths, row, strict=True):
        text = _end_of(_text(cell), width) if column.gives_way else cut_columns(_text(cell), width)
        space = " " * (width - text_width(text))
        text = f"{cell.tint}{text}{palette.reset}" if isinstance(cell, Tinted) and text else text
        cells.append(space + text if column.right else text + space)
    return (" " * _GAP).join(cells).rstrip()


def _end_of(text: str, room: int) -> str:
    if text_width(text) <= room:
        return text
    while text_width(text) > room - 1:
        text = text[1:]
    return f"…{text}"


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, Tinted) else cell
