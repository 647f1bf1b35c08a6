"""What a selection shows of a database, as text."""

import sqlite3
from pathlib import Path
from typing import Any

from sightline.tools._tool import ToolError
from sightline.tools.sqlite._open import StatementDeadline, opened
from sightline.tools.sqlite._render import cell, cut, record, table
from sightline.tools.sqlite._selection import (
    MAX_LIMIT,
    DatabaseQuery,
    Schema,
    Selection,
    Statement,
    TableReading,
    TableRow,
    Tables,
)
from sightline.tools.sqlite._tables import TableInfo, find_table, key_condition, quoted, table_names
from sightline.tools.sqlite._where import validate_where

SAMPLE_ROWS = 5
LIST_TABLES = 500
RESULT_COLUMNS = 500
_SQL_CHARS = 20_000
_COUNT_SECONDS = 3.0


def read_selection(path: Path, selection: Selection) -> TableReading:
    """Blocking: five seconds for a query and three for a lock at most. ToolError for everything that goes wrong."""
    with opened(path) as connection:
        match selection:
            case Tables():
                return _list(connection)
            case Schema():
                return _schema(connection, selection)
            case TableRow():
                return _row(connection, selection)
            case DatabaseQuery():
                return _query(connection, selection)
            case Statement():
                return _statement(connection, selection)


def _list(connection: sqlite3.Connection) -> TableReading:
    names = table_names(connection)
    clock = StatementDeadline(connection, _COUNT_SECONDS)
    lines = [
        f"{cell(name, 200)} (view)" if is_view else f"{cell(name, 200)} ({_count(connection, name, clock)})"
        for name, is_view in names[:LIST_TABLES]
    ]
    if len(names) > LIST_TABLES:
        lines.append(f"[{LIST_TABLES} of {len(names)} tables shown]")
    return TableReading("list", "\n".join(lines) or "(no tables)", min(len(names), LIST_TABLES), len(names))


def _count(connection: sqlite3.Connection, name: str, clock: StatementDeadline) -> str:
    """All tables together get three seconds: what is not counted by then is not known."""
    if clock.is_over():
        return "rows not counted: too many"
    try:
        rows = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0]
    except sqlite3.OperationalError as problem:
        if "interrupted" in str(problem):
            return "rows not counted: too many"
        return f"rows not counted: {cut(str(problem), 80)}"
    return f"{rows} row{'' if rows == 1 else 's'}"


def _schema(connection: sqlite3.Connection, selection: Schema) -> TableReading:
    found = find_table(connection, selection.table)
    result = connection.execute(f"SELECT * FROM {quoted(found.name)} LIMIT {SAMPLE_ROWS}")
    rows = _fetched(result, SAMPLE_ROWS)
    sample = table(_names(result), rows) if rows else "(no rows)"
    return TableReading("schema", f"{cut(found.sql, _SQL_CHARS)}\n\nSample rows:\n{sample}", len(rows))


def _row(connection: sqlite3.Connection, selection: TableRow) -> TableReading:
    found = find_table(connection, selection.table)
    condition, value = key_condition(connection, found, selection.key, writing=False)
    rows = connection.execute(f"SELECT * FROM {quoted(found.name)} WHERE {condition} LIMIT 1", (value,))
    row = rows.fetchone()
    if row is None:
        return TableReading("row", f"No row '{selection.key}' in {found.name}.", 0, 0)
    return TableReading("row", record(_names(rows), row), 1, 1)


def _query(connection: sqlite3.Connection, selection: DatabaseQuery) -> TableReading:
    found = find_table(connection, selection.table)
    if selection.where is not None:
        validate_where(selection.where)
    condition = f" WHERE ({selection.where})" if selection.where is not None else ""
    order = f" ORDER BY {_order(found, selection.order)}" if selection.order is not None else ""
    source = f"{quoted(found.name)}{condition}"
    window = f" LIMIT {selection.limit} OFFSET {selection.offset}"
    result = connection.execute(f"SELECT * FROM {source}{order}{window}")
    rows = _fetched(result, selection.limit)
    total = _total(connection, source)
    if not rows:
        return TableReading(
            "query", f"No rows{f' from offset {selection.offset} on' if selection.offset else ''}.", 0, total
        )
    text = table(_names(result), rows)
    last = selection.offset + len(rows)
    if total is None or last < total:
        of = "" if total is None else f" of {total}"
        text += f"\n[rows {selection.offset + 1}-{last}{of}; continue with offset={last}]"
    return TableReading("query", text, len(rows), total)


def _total(connection: sqlite3.Connection, source: str) -> int | None:
    StatementDeadline(connection, _COUNT_SECONDS)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {source}").fetchone()[0])
    except sqlite3.OperationalError:
        return None


def _order(found: TableInfo, order: str) -> str:
    name, colon, direction = order.strip().rpartition(":")
    if colon and direction.lower() in ("asc", "desc"):
        return f"{quoted(found.column(name))} {direction.upper()}"
    if colon and order.strip().lower() not in {column.lower() for column in found.columns}:
        raise ToolError(f"SQLite order= is column, column:asc or column:desc, not '{order}'.")
    return quoted(found.column(order.strip()))


def _statement(connection: sqlite3.Connection, selection: Statement) -> TableReading:
    result = connection.execute(selection.sql)
    if result.description is None:
        raise ToolError("The query gives no rows: it must be a SELECT.")
    rows = _fetched(result, MAX_LIMIT + 1)
    more = len(rows) > MAX_LIMIT
    text = table(_names(result), rows[:MAX_LIMIT])
    if not rows:
        text += "\n(no rows)"
    if more:
        text += f"\n[the first {MAX_LIMIT} rows; add LIMIT and OFFSET to the query for others]"
    return TableReading("raw", text, min(len(rows), MAX_LIMIT), None if more else len(rows))


def _names(result: sqlite3.Cursor) -> list[str]:
    return [str(column[0]) for column in result.description]


def _fetched(result: sqlite3.Cursor, limit: int) -> list[list[Any]]:
    """Rows one by one, each value cut as it comes: a row may be far larger than what is shown of it."""
    if len(result.description) > RESULT_COLUMNS:
        count = len(result.description)
        raise ToolError(
            f"The result has {count} columns; at most {RESULT_COLUMNS} are read. Use ?q=SELECT some, of, them …"
        )
    rows: list[list[Any]] = []
    while len(rows) < limit and (row := result.fetchone()) is not None:
        rows.append([_short(value) for value in row])
    return rows


def _short(value: Any) -> Any:
    return cell(value) if isinstance(value, bytes) else value[:100] if isinstance(value, str) else value
