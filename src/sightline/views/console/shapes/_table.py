"""A table: given as data (`details.columns`, `details.rows`), or as text with a rule below its header."""

import re
from collections.abc import Callable, Sequence
from itertools import islice, takewhile
from typing import Any

from sightline.events import TableFact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty.components import Table
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import Shape, ShapeBody, displayed, plural

_rule = re.compile(r"[-+| ]*-[-+| ]*").fullmatch
_BETWEEN = " | "
_LOOKED_AT = 500  # rows


class TableShape(Shape):
    folded, unfolded = 10, 100

    def __init__(
        self, call: TranscriptCall, drawing: DrawingOptions, header: Sequence[str], rows: "_Rows", total: int | None
    ) -> None:
        super().__init__(call, drawing)
        self._total = total
        self._table = Table(header, rows.first(_LOOKED_AT), theme=drawing.theme)
        self._header = header
        self._cells = rows

    @property
    def suffix(self) -> str:
        return plural(len(self._cells) if self._total is None else self._total, "row")

    @property
    def source(self) -> str:
        return "\n".join("\t".join(map(str, row)) for row in [self._header, *self._cells.first(len(self._cells))])

    def body(self, width: int) -> ShapeBody:
        rows, room = self._table.render(width), self.room
        if len(rows) <= room:
            return ShapeBody(rows)
        left_out = len(rows) - room + 1 + max(len(self._cells) - _LOOKED_AT, 0)
        return ShapeBody([*rows[: room - 1], self.more(left_out, "row", width)])


class TableTextShape(Shape):
    """Text that should have been a table."""

    folded, unfolded = 10, 100

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: TableFact) -> None:
        super().__init__(call, drawing)
        self._fact = fact

    def body(self, width: int) -> ShapeBody:
        return self.text_rows(displayed(self._fact, self.call), width)


def table(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    fact = TableFact.of(call.details)
    if fact is None:
        return None
    found = _data(fact) or _parsed(displayed(fact, call))
    if found is None or call.is_error:
        return TableTextShape(call, drawing, fact)
    return TableShape(call, drawing, *found, fact.total)


class _Rows:
    """Rows of cells, of which only those that are looked at are read."""

    def __init__(self, rows: Sequence[Any], read: Callable[[Any], list[str]]) -> None:
        self._rows = rows
        self._read = read

    def __len__(self) -> int:
        return len(self._rows)

    def first(self, count: int) -> list[list[str]]:
        return [self._read(row) for row in self._rows[:count]]


def _data(fact: TableFact) -> tuple[list[str], _Rows] | None:
    if not fact.columns or not isinstance(fact.rows, list):
        return None
    return [_cell(name) for name in fact.columns], _Rows(fact.rows, lambda row: [_cell(value) for value in row])


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
