"""A table: from data (`details.columns`, `details.rows`), or from text with a rule below its header."""

import re
from collections.abc import Callable
from itertools import islice, takewhile
from typing import NamedTuple

from sightline.events import TableFact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty.components import Table
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._document import TextShape
from sightline.views.console.shapes._shape import Shape, ShapeBody, displayed, plural

_rule = re.compile(r"[-+| ]*-[-+| ]*").fullmatch
_BETWEEN = " | "
_LOOKED_AT = 500  # rows


class _Cells(NamedTuple):
    header: list[str]
    rows: int
    first: Callable[[int], list[list[str]]]
    """Makes the cells of so many rows: a table may have more than are ever drawn."""


class TableShape(Shape):
    folded, unfolded = 10, 100

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, cells: _Cells, total: int | None) -> None:
        super().__init__(call, drawing)
        self._cells = cells
        self._total = cells.rows if total is None else total
        self._table = Table(cells.header, cells.first(_LOOKED_AT), theme=drawing.theme)

    @property
    def suffix(self) -> str:
        return plural(self._total, "row")

    @property
    def source(self) -> str:
        return "\n".join("\t".join(row) for row in [self._cells.header, *self._cells.first(self._cells.rows)])

    def body(self, width: int) -> ShapeBody:
        undrawn = max(self._cells.rows - _LOOKED_AT, 0)
        return self.first_of(self._table.render(width), width, what="row", undrawn=undrawn)


class TableTextShape(TextShape):
    """Text that is not a table, although its details name it one."""

    folded, unfolded = 10, 100


def table(call: TranscriptCall, drawing: DrawingOptions, fact: TableFact) -> Shape:
    found = _data(fact) or _parsed(displayed(fact, call))
    if found is None or call.is_error:
        return TableTextShape(call, drawing, fact)
    return TableShape(call, drawing, found, fact.total)


def _data(fact: TableFact) -> _Cells | None:
    rows = fact.rows
    if not fact.columns or not isinstance(rows, list):
        return None
    header = [_cell(name) for name in fact.columns]
    return _Cells(header, len(rows), lambda count: [[_cell(value) for value in row] for row in rows[:count]])


def _cell(value: object) -> str:
    return clean_line(value) if isinstance(value, str) else "" if value is None else clean_line(str(value)[:500])


def _parsed(text: str) -> _Cells | None:
    """A header, a rule, and rows of as many cells."""
    lines = text.split("\n")
    if len(lines) < 2 or not _rule(lines[1]) or "-" not in lines[1]:
        return None
    header = _split(lines[0])
    between = len(header) - 1
    rows = list(takewhile(lambda line: line.count(_BETWEEN) == between, islice(lines, 2, None)))
    return _Cells(header, len(rows), lambda count: [_split(row) for row in rows[:count]])


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(_BETWEEN)]
