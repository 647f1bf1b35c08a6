"""Paths that lead into a database, and what they select there.

A value after `?` that has no space in it is taken as URL-encoded (`where=a%20%3D%201`); one that has spaces is taken as
it is written, so that `where=name LIKE '%ab%'` and `q=SELECT 1 + 1` mean what they say.
"""

import re
from pathlib import Path
from typing import Literal
from urllib.parse import unquote_plus

import msgspec

from sightline.handles import read_at_most
from sightline.tools._tool import ToolError
from sightline.tools.files._paths import LONGEST_PATH

DEFAULT_LIMIT = 20
MAX_LIMIT = 500

_SUFFIX = re.compile(r"\.(?:sqlite3?|db3?)(?=[:?]|$)", re.IGNORECASE)
_PARAMETER = re.compile(r"&(?=\w+=)")
_NAMES = ("limit", "offset", "order", "where")


class DatabasePath(msgspec.Struct, frozen=True):
    """One way to read a path: a database, and what follows it (`:table:key`, `?q=…`, or nothing)."""

    database: str
    rest: str


class Tables(msgspec.Struct, frozen=True, tag="list"):
    pass


class Schema(msgspec.Struct, frozen=True, tag="schema"):
    table: str


class TableRow(msgspec.Struct, frozen=True, tag="row"):
    table: str
    key: str


class DatabaseQuery(msgspec.Struct, frozen=True, tag="query"):
    table: str
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    order: str | None = None
    where: str | None = None


class Statement(msgspec.Struct, frozen=True, tag="raw"):
    sql: str


Selection = Tables | Schema | TableRow | DatabaseQuery | Statement


class RowTarget(msgspec.Struct, frozen=True):
    """What a write is for: a table to insert into, or one of its rows."""

    table: str
    key: str | None = None


class TableReading(msgspec.Struct, frozen=True):
    """`shown` of `total` things; `total` is None where only the database could count them."""

    kind: Literal["list", "schema", "row", "query", "raw"]
    text: str
    shown: int = 0
    total: int | None = None


def candidates(path: str) -> list[DatabasePath]:
    """Every way to cut a path after a database's suffix, the longest database path first."""
    cuts = [match.end() for match in _SUFFIX.finditer(path, 0, LONGEST_PATH)]
    return [DatabasePath(path[:cut], path[cut:]) for cut in reversed(cuts)]


def parse_selection(rest: str) -> Selection:
    """What is to be read, from what follows the database in a path."""
    place, mark, query = rest.partition("?")
    table, key = _table_and_key(place)
    parameters = _parameters(query) if mark else {}
    if "q" in parameters:
        return _statement(parameters, table)
    if not table:
        if parameters:
            raise ToolError(f"SQLite parameters ({', '.join(parameters)}) need a table: db.sqlite:table?…")
        return Tables()
    if key is not None:
        if parameters:
            raise ToolError("SQLite row lookups take no query parameters. Use :table?where=… to choose rows.")
        if not key:
            raise ToolError("The SQLite row key is empty. Use :table for the table or :table:key for a row.")
        return TableRow(table, key)
    return _query(table, parameters) if parameters else Schema(table)


def parse_target(rest: str) -> RowTarget:
    """What is to be written."""
    if "?" in rest:
        raise ToolError(
            "SQLite write paths do not support query parameters. Use db.sqlite:table or db.sqlite:table:key."
        )
    table, key = _table_and_key(rest)
    if not table:
        raise ToolError("SQLite write path must target a table: db.sqlite:table or db.sqlite:table:key.")
    if key is not None and not key.strip():
        raise ToolError("SQLite row writes require a non-empty row key: db.sqlite:table:key.")
    return RowTarget(table, key)


def _table_and_key(place: str) -> tuple[str, str | None]:
    table, colon, key = place.removeprefix(":").partition(":")
    return table, key if colon else None


def _parameters(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in _PARAMETER.split(query) if query else ():
        name, _, value = part.partition("=")
        name = name.strip().lower()
        if name not in (*_NAMES, "q"):
            raise ToolError(f"Unknown SQLite query parameter '{name}'. Known: {', '.join(_NAMES)}, and q alone.")
        if name in found:
            raise ToolError(f"SQLite query parameter '{name}' is given twice.")
        found[name] = value if " " in value.strip() else unquote_plus(value)
    return found


def _statement(parameters: dict[str, str], table: str) -> Statement:
    if table:
        raise ToolError("q= cannot be combined with a table: write db.sqlite?q=SELECT …")
    if len(parameters) > 1:
        raise ToolError("q= cannot be combined with other parameters: put LIMIT, ORDER BY and WHERE into the query.")
    if not parameters["q"].strip():
        raise ToolError("The SQLite query is empty: write db.sqlite?q=SELECT …")
    return Statement(parameters["q"].strip())


def _query(table: str, parameters: dict[str, str]) -> DatabaseQuery:
    limit = _number(parameters, "limit", DEFAULT_LIMIT, least=1)
    offset = _number(parameters, "offset", 0, least=0)
    return DatabaseQuery(table, min(limit, MAX_LIMIT), offset, parameters.get("order"), parameters.get("where"))


def _number(parameters: dict[str, str], name: str, default: int, *, least: int) -> int:
    text = parameters.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,15}", text.strip()) or int(text) < least:
        raise ToolError(f"SQLite {name}= must be a whole number of at least {least}, not '{text}'.")
    return int(text)


MAGIC = b"SQLite format 3\0"


def is_sqlite_file(path: Path) -> bool:
    """A regular file that starts as a database does."""
    try:
        return read_at_most(path, len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False
