"""A table: given as data (`details.columns`, `details.rows`), or as text with a rule below its header."""

import re
from collections.abc import Callable, Sequence
from itertools import islice, takewhile
from typing import Any

from sightline.text import clean_line
from sightline.transcript import Call
from sightline.tty.components import Table
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._shape import Body, Shape, details_of, displayed, kind_of, number_in, plural, ui_of

_rule = re.compile(r"[-+| ]*-[-+| ]*").fullmatch
_BETWEEN = " | "
_LOOKED_AT = 500  # rows


class TableShape(Shape):
    folded, unfolded = 10, 100

    def __init__(self, call: Call, drawing: Drawing, header: Sequence[str], rows: "_Rows") -> None:
        super().__init__(call, drawing)
        self._table = Table(header, rows.first(_LOOKED_AT), theme=drawing.theme)
        self._header = header
        self._cells = rows

    @property
    def suffix(self) -> str:
        total = number_in(ui_of(self.call), "total")
        return plural(len(self._cells) if total is None else total, "row")

    @property
    def source(self) -> str:
        return "\n".join("\t".join(map(str, row)) for row in [self._header, *self._cells.first(len(self._cells))])

    def body(self, width: int) -> Body:
        body = self.first_of(self._table.render(width), width, "row")
        if body.cut or len(self._cells) <= _LOOKED_AT:
            return body
        return Body([*body.rows, self.more(len(self._cells) - _LOOKED_AT, "row", width)], cut=True)


class TableTextShape(Shape):
    """Text that should have been a table."""

    folded, unfolded = 10, 100

    def body(self, width: int) -> Body:
        return self.text_rows(displayed(self.call), width)


def table(call: Call, drawing: Drawing) -> Shape | None:
    if kind_of(call) != "table":
        return None
    details = details_of(call)
    found = _data(details.get("columns"), details.get("rows")) or _parsed(displayed(call))
    if found is None or call.is_error:
        return TableTextShape(call, drawing)
    return TableShape(call, drawing, *found)


class _Rows:
    """Rows of cells, of which only those that are looked at are read."""

    def __init__(self, rows: Sequence[Any], read: Callable[[Any], list[str]]) -> None:
        self._rows = rows
        self._read = read

    def __len__(self) -> int:
        return len(self._rows)

    def first(self, count: int) -> list[list[str]]:
        return [self._read(row) for row in self._rows[:count]]


def _data(columns: Any, rows: Any) -> tuple[list[str], _Rows] | None:
    if not isinstance(columns, list) or not columns or not isinstance(rows, list):
        return None
    if not all(isinstance(row, list) for row in rows):
        return None
    return [_cell(name) for name in columns], _Rows(rows, lambda row: [_cell(value) for value in row])


def _cell(value: Any) -> str:
    return clean_line(value) if isinstance(value, str) else "" if value is None else clean_line(str(value)[:500])


def _parsed(text: str) -> tuple[list[str], _Rows] | None:
    """A header, a rule, and rows of as many cells."""
    lines = text.split("\n")
    if len(lines) < 2 or not _rule(lines[1]) or "-" not in lines[1]:
        return None
    header = _split(lines[0])
    between = len(header) - 1
    rows = list(takewhile(lambda line: line.count(_BETWEEN) == between, islice(lines, 2, None)))
    return header, _Rows(rows, _split)


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(_BETWEEN)]
