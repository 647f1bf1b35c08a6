"""What a selection shows of a database, as text: a table of at most 120 characters a line, or one row with a line for
each of its values.

A `where` must be one condition and nothing else. The database is open for reading only and every action is checked as
well; the check here reports early and plainly what is wrong, and protects the meaning of `limit`, `offset` and `order`.
"""

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sightline.tools._tool import ToolError
from sightline.tools._truncation import cut_end
from sightline.tools.sqlite._open import StatementDeadline, opened
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
from sightline.tools.sqlite._tables import SqlValue, TableInfo, find_table, key_condition, quoted, table_names

SAMPLE_ROWS = 5
LIST_TABLES = 500
RESULT_COLUMNS = 500
_SQL_CHARS = 20_000
_COUNT_SECONDS = 3.0
TABLE_WIDTH = 120
COLUMN_WIDTH = 40
_LEAST_WIDTH = 4
_GAP = " | "
VALUE_CHARS = 8 * 1024  # of one value, when a row is shown alone
_BLOB_SHOWN = 16

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    | {chr(code): f"\\x{code:02x}" for code in (*range(9), 11, 12, *range(14, 32), 127)}
)
# Strings and quoted names are one token each, so that a word inside them is not taken for a keyword.
_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])|(?P<word>\w+)|(?P<comment>--|/\*)|(?P<other>.)""",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    {"limit", "offset", "union", "intersect", "except", "order", "group", "having", "attach", "detach", "pragma"}
    | {"insert", "update", "delete", "replace", "create", "drop", "alter", "vacuum", "reindex", "analyze", "begin"}
    | {"commit", "rollback", "savepoint", "release", "returning"}
)


def read(path: Path, selection: Selection) -> TableReading:
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
        f"{_cell(name, 200)} (view)" if is_view else f"{_cell(name, 200)} ({_count(connection, name, clock)})"
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
        return f"rows not counted: {_cut(str(problem), 80)}"
    return f"{rows} row{'' if rows == 1 else 's'}"


def _schema(connection: sqlite3.Connection, selection: Schema) -> TableReading:
    found = find_table(connection, selection.table)
    result = connection.execute(f"SELECT * FROM {quoted(found.name)} LIMIT {SAMPLE_ROWS}")
    rows = _fetched(result, SAMPLE_ROWS)
    sample = _table(_names(result), rows) if rows else "(no rows)"
    return TableReading("schema", f"{_cut(found.sql, _SQL_CHARS)}\n\nSample rows:\n{sample}", len(rows))


def _row(connection: sqlite3.Connection, selection: TableRow) -> TableReading:
    found = find_table(connection, selection.table)
    condition, value = key_condition(connection, found, selection.key, writing=False)
    rows = connection.execute(f"SELECT * FROM {quoted(found.name)} WHERE {condition} LIMIT 1", (value,))
    row = rows.fetchone()
    if row is None:
        return TableReading("row", f"No row '{selection.key}' in {found.name}.", 0, 0)
    return TableReading("row", _record(_names(rows), row), 1, 1)


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
        place = f" from offset {selection.offset} on" if selection.offset else ""
        return TableReading("query", f"No rows{place}.", 0, total)
    text = _table(_names(result), rows)
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
    text = _table(_names(result), rows[:MAX_LIMIT])
    if not rows:
        text += "\n(no rows)"
    if more:
        text += f"\n[the first {MAX_LIMIT} rows; add LIMIT and OFFSET to the query for others]"
    return TableReading("raw", text, min(len(rows), MAX_LIMIT), None if more else len(rows))


def _names(result: sqlite3.Cursor) -> list[str]:
    return [str(column[0]) for column in result.description]


def _fetched(result: sqlite3.Cursor, limit: int) -> list[list[SqlValue]]:
    """Rows one by one, each value cut as it comes: a row may be far larger than what is shown of it."""
    if len(result.description) > RESULT_COLUMNS:
        count = len(result.description)
        raise ToolError(
            f"The result has {count} columns; at most {RESULT_COLUMNS} are read. Use ?q=SELECT some, of, them …"
        )
    rows: list[list[SqlValue]] = []
    while len(rows) < limit and (row := result.fetchone()) is not None:
        rows.append([_short(value) for value in row])
    return rows


def _short(value: SqlValue) -> SqlValue:
    return _cell(value) if isinstance(value, bytes) else value[:100] if isinstance(value, str) else value


def validate_where(clause: str) -> None:
    """ToolError for what is not a plain condition."""
    if not clause.strip():
        raise ToolError("where= is empty. Leave it out to see all rows.")
    depth = 0
    tokens = list(_TOKEN.finditer(clause))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token["comment"]:
            raise ToolError("where= cannot contain comments (-- or /*).")
        if token["word"] and token["word"].lower() in _KEYWORDS and not _is_function(token, following):
            raise ToolError(
                f"where= cannot contain {token['word'].upper()}: it is one condition. Use ?q=SELECT … for more."
            )
        depth += _opened(token["other"] or "")
        if depth < 0:
            break
    if depth != 0:
        raise ToolError("The brackets in where= do not match.")


def _is_function(token: re.Match[str], following: re.Match[str] | None) -> bool:
    return token["word"].lower() == "replace" and following is not None and following["other"] == "("


def _opened(character: str) -> int:
    if character == ";":
        raise ToolError("where= cannot contain a semicolon.")
    if character in "'\"`[" and character:
        raise ToolError("A quote in where= is not closed.")
    if character == "\0":
        raise ToolError("where= cannot contain a NUL character.")
    return {"(": 1, ")": -1}.get(character, 0)


def _cell(value: SqlValue, limit: int = COLUMN_WIDTH) -> str:
    """One value on one line."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        shown = value[:_BLOB_SHOWN].hex()
        return _cut(
            f"<blob {len(value)} bytes{': ' + shown if shown else ''}{'…' if len(value) > _BLOB_SHOWN else ''}>", limit
        )
    if isinstance(value, str):
        return _cut(value[: limit + 1].translate(_ESCAPES) + ("…" if len(value) > limit + 1 else ""), limit)
    return _cut(repr(value) if isinstance(value, float) else str(value), limit)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else cut_end(text[: width - 1]) + "…"


def _table(columns: Sequence[str], rows: Sequence[Sequence[SqlValue]]) -> str:
    """Header, rule, rows. Columns that do not fit are counted, not shown."""
    names = [_cell(name) for name in columns]
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(names[at]), *(len(row[at]) for row in cells)]) for at in range(len(names))]
    fitted = _fitted(widths)
    lines = [_line(names, fitted), "-+-".join("-" * width for width in fitted), *(_line(row, fitted) for row in cells)]
    if len(fitted) < len(names):
        hidden = len(names) - len(fitted)
        lines.append(f"[{hidden} more columns do not fit: {_cut(', '.join(names[len(fitted) :]), TABLE_WIDTH)}]")
    return "\n".join(lines)


def _fitted(widths: list[int]) -> list[int]:
    """Widths that fit side by side: the widest give way first, then the last columns go."""
    fitted = list(widths)
    while fitted and sum(min(width, _LEAST_WIDTH) for width in fitted) + len(_GAP) * (len(fitted) - 1) > TABLE_WIDTH:
        fitted.pop()
    room = TABLE_WIDTH - len(_GAP) * (len(fitted) - 1)
    while sum(fitted) > room:
        fitted[max(range(len(fitted)), key=lambda at: fitted[at])] -= 1
    return fitted


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitting = (_cut(text, width).ljust(width) for text, width in zip(cells, widths, strict=False))
    return _GAP.join(fitting).rstrip()


def _record(columns: Sequence[str], row: Sequence[SqlValue]) -> str:
    return "\n".join(f"{name}: {_cell(value, VALUE_CHARS)}" for name, value in zip(columns, row, strict=True))
