"""Rows inserted, updated and deleted. Values are bound, never written into the statement; a database is never made."""

import json
import math
import sqlite3
from pathlib import Path

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.sqlite._open import changing, opened
from sightline.tools.sqlite._selection import RowTarget, is_sqlite_file
from sightline.tools.sqlite._tables import SqlValue, TableInfo, find_table, key_condition, quoted

_INTEGERS = range(-(2**63), 2**63)
_DEPTH = 20


def write(path: Path, target: RowTarget, content: str) -> str:
    """Insert, update or delete a row; returns what was done. Empty content deletes the row that `target` names."""
    if not is_sqlite_file(path):
        raise ToolError(f"SQLite database '{path}' not found. Databases are not made here; use a command.")
    deleting = not content.strip()
    if deleting and target.key is None:
        raise ToolError("The row is empty. Give a JSON5 object, {} for default values, or name a row to delete it.")
    values = {} if deleting else payload(content)
    with changing(path) as connection:
        table = find_table(connection, target.table)
        if target.key is None:
            return _insert(connection, table, values)
        where = condition, key = key_condition(connection, table, target.key, writing=True)
        if deleting:
            changed = connection.execute(f"DELETE FROM {quoted(table.name)} WHERE {condition}", (key,)).rowcount
            return _report(f"Deleted row '{target.key}' from {table.name}", "deleted", changed, target.key, table)
        return _update(connection, table, values, where, target.key)


class RowChange(msgspec.Struct, frozen=True):
    """A row before and after, a line for each of its columns; None where there is none."""

    table: str
    before: str | None
    after: str | None
    triggers: bool  # of the table: they may change more


def preview(path: Path, target: RowTarget, content: str) -> RowChange:
    """What `write` would do; an insert has only the columns that are given."""
    deleting = not content.strip()
    values = {} if deleting else payload(content)
    with opened(path) as connection:
        table = find_table(connection, target.table)
        triggers = connection.execute(
            "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1", (table.name,)
        ).fetchone()
        bound = _bound(table, values)
        row: dict[str, SqlValue] | None = None
        if target.key is not None:
            condition, key = key_condition(connection, table, target.key, writing=True)
            columns = ", ".join(quoted(column) for column in table.columns)
            found = connection.execute(f"SELECT {columns} FROM {quoted(table.name)} WHERE {condition}", (key,))
            values_now = found.fetchone()
            row = None if values_now is None else dict(zip(table.columns, values_now, strict=True))
    after = None if deleting else _lines({**(row or {}), **bound})
    return RowChange(table.name, None if row is None else _lines(row), after, triggers is not None)


def _lines(row: dict[str, SqlValue]) -> str:
    return "".join(f"{column}: {_literal(value)}\n" for column, value in row.items())


def _literal(value: SqlValue) -> str:
    """All of a value, on one line."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "NULL" if value is None else json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def payload(content: str) -> dict[str, object]:
    """The row a JSON5 text stands for."""
    import pyjson5

    try:
        value = pyjson5.decode(content, maxdepth=_DEPTH)
    except (pyjson5.Json5Exception, ValueError, RecursionError) as problem:
        raise ToolError(f"The row is not valid JSON5: {str(problem).splitlines()[0][:200]}") from problem
    if not isinstance(value, dict):
        raise ToolError("The row must be a JSON5 object, such as {name: 'Ada', active: true}.")
    return value


def _insert(connection: sqlite3.Connection, table: TableInfo, values: dict[str, object]) -> str:
    bound = _bound(table, values)
    if bound:
        columns = ", ".join(quoted(column) for column in bound)
        marks = ", ".join("?" * len(bound))
        connection.execute(f"INSERT INTO {quoted(table.name)} ({columns}) VALUES ({marks})", tuple(bound.values()))
    else:
        connection.execute(f"INSERT INTO {quoted(table.name)} DEFAULT VALUES")
    return f"Inserted row into {table.name}"


def _update(
    connection: sqlite3.Connection, table: TableInfo, values: dict[str, object], where: tuple[str, SqlValue], shown: str
) -> str:
    bound = _bound(table, values)
    if not bound:
        raise ToolError("The update is empty. Give at least one column, or empty content to delete the row.")
    changes = ", ".join(f"{quoted(column)} = ?" for column in bound)
    condition, key = where
    done = connection.execute(f"UPDATE {quoted(table.name)} SET {changes} WHERE {condition}", (*bound.values(), key))
    return _report(f"Updated row '{shown}' in {table.name}", "updated", done.rowcount, shown, table)


def _report(success: str, done: str, changed: int, key: str, table: TableInfo) -> str:
    return success if changed > 0 else f"No row {done}: {table.name} has no row '{key}'"


def _bound(table: TableInfo, values: dict[str, object]) -> dict[str, SqlValue]:
    """Values by column as it is spelled in the table."""
    return {table.column(str(name)): _scalar(str(name), value) for name, value in values.items()}


def _scalar(name: str, value: object) -> SqlValue:
    if value is None or isinstance(value, str | bool):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, int):
        if value in _INTEGERS:
            return value
        raise ToolError(f"The value of '{name}' does not fit into 64 bits. Give it as a string.")
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise ToolError(
            f"The value of '{name}' is not a finite number, which a database cannot store. Give null or a string."
        )
    raise ToolError(f"The value of '{name}' must be a string, number, boolean or null, not {_kind(value)}.")


def _kind(value: object) -> str:
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else type(value).__name__
