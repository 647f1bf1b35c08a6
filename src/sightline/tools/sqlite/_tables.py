"""The tables of a database: names, columns, keys, and how a row is found by its key."""

import re
import sqlite3

import msgspec

from sightline.tools._tool import ToolError

SqlValue = str | int | float | bytes | None

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,300}\.[0-9]{1,300}")


class TableInfo(msgspec.Struct, frozen=True):
    name: str
    is_view: bool
    sql: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]  # columns of the primary key
    has_rowid: bool

    def column(self, name: str) -> str:
        """The column meant, as it is spelled; ToolError when there is none."""
        for column in self.columns:
            if column.lower() == name.lower():
                return column
        raise ToolError(f"Table '{self.name}' has no column '{name}'. Columns: {', '.join(self.columns)}")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def table_names(connection: sqlite3.Connection) -> list[tuple[str, bool]]:
    """Names in order, and whether each is a view. The library's own tables are left out."""
    found = connection.execute(
        "SELECT name, type = 'view' FROM sqlite_master "
        r"WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name"
    )
    return [(str(name), bool(is_view)) for name, is_view in found]


def find_table(connection: sqlite3.Connection, name: str) -> TableInfo:
    row = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", (name,)
    ).fetchone()
    if row is None:
        known = [other for other, _ in table_names(connection)]
        listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
        raise ToolError(f"Table '{name}' not found. Tables: {listed or 'none'}")
    real = str(row[0])
    # Hidden columns of virtual tables are no part of a row; generated ones are (2, 3).
    found = connection.execute(f"PRAGMA table_xinfo({quoted(real)})").fetchall()
    columns = [column for column in found if column[6] in (0, 2, 3)]
    return TableInfo(
        name=real,
        is_view=row[1] == "view",
        sql=str(row[2] or ""),
        columns=tuple(str(column[1]) for column in columns),
        keys=tuple(str(column[1]) for column in sorted(columns, key=lambda column: column[5]) if column[5]),
        has_rowid=row[1] == "table" and _has_rowid(connection, real),
    )


def _has_rowid(connection: sqlite3.Connection, name: str) -> bool:
    """The list of tables has it from SQLite 3.37 on; before, only trying shows it."""
    for row in connection.execute("PRAGMA table_list"):
        if row[0] == "main" and row[1] == name:
            return not row[4]
    try:
        connection.execute(f"SELECT rowid FROM {quoted(name)} LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True


def key_condition(
    connection: sqlite3.Connection, table: TableInfo, key: str, *, writing: bool
) -> tuple[str, str | int | float]:
    """How the row with this key is found: a condition with one parameter, and its value."""
    column = _key_column(table, writing=writing)
    if column is None:
        column = _rowid_name(table)
        if not _INTEGER.fullmatch(key.strip()):
            raise ToolError(
                f"Rows of '{table.name}' are found by rowid, a whole number; '{key}' is not one. Use ?where=… instead."
            )
        return f"{column} = ?", int(key)
    condition = f"{quoted(column)} = ?"
    for value in _readings(key):
        if connection.execute(f"SELECT 1 FROM {quoted(table.name)} WHERE {condition} LIMIT 1", (value,)).fetchone():
            return condition, value
    return condition, key


def _key_column(table: TableInfo, *, writing: bool) -> str | None:
    """The one column of the primary key; None when it is the rowid."""
    if table.is_view:
        raise ToolError(f"'{table.name}' is a view: its rows have no keys. Use :{table.name}?where=… to choose rows.")
    if len(table.keys) > 1 and (writing or not table.has_rowid):
        columns = ", ".join(table.keys)
        raise ToolError(
            f"'{table.name}' has a composite primary key ({columns}): one key names no row. Use ?where=… to read."
        )
    if writing and not table.has_rowid:
        raise ToolError(f"'{table.name}' is a WITHOUT ROWID table: its rows cannot be written by key.")
    return table.keys[0] if len(table.keys) == 1 else None


def _rowid_name(table: TableInfo) -> str:
    """A column may have taken one of the names of the rowid."""
    taken = {column.lower() for column in table.columns}
    for name in ("rowid", "_rowid_", "oid"):
        if name not in taken:
            return name
    raise ToolError(f"'{table.name}' has columns named like the rowid: use ?where=… instead.")


def _readings(key: str) -> list[str | int | float]:
    """A key is text, and in a column without a type a number is only found as one."""
    if _INTEGER.fullmatch(key):
        return [key, int(key)]
    return [key, float(key)] if _DECIMAL.fullmatch(key) else [key]
