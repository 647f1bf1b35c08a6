"""SQLite databases read and changed row by row, whoever made them.

db.sqlite                       its tables
db.sqlite:table                 how a table is made, and its first rows
db.sqlite:table:key             one row
db.sqlite:table?where=…&order=… some rows
db.sqlite?q=SELECT …            a query
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sightline.tools.sqlite._detect import is_sqlite_file
from sightline.tools.sqlite._selection import (
    DatabasePath,
    DatabaseQuery,
    RowTarget,
    Schema,
    Selection,
    Statement,
    TableReading,
    TableRow,
    Tables,
    candidates,
    parse_selection,
    parse_target,
)

if TYPE_CHECKING:
    from sightline.tools.sqlite._write import RowChange

__all__ = [
    "DatabasePath",
    "DatabaseQuery",
    "RowTarget",
    "Schema",
    "Selection",
    "Statement",
    "TableReading",
    "TableRow",
    "Tables",
    "candidates",
    "is_sqlite_file",
    "parse_selection",
    "parse_target",
    "preview",
    "read",
    "write",
]


def read(path: Path, selection: Selection) -> TableReading:
    """What a selection shows. Blocking: five seconds for a query and three for a lock at most. ToolError otherwise."""
    from sightline.tools.sqlite._read import read_selection

    return read_selection(path, selection)


def preview(path: Path, target: RowTarget, content: str) -> "RowChange":
    """What `write` would make of a row; nothing is written. Blocking. ToolError where the content is no row."""
    from sightline.tools.sqlite._write import preview_row

    return preview_row(path, target, content)


def write(path: Path, target: RowTarget, content: str) -> str:
    """Insert, update or delete a row; says what was done. Blocking, as `read` is. ToolError otherwise."""
    from sightline.tools.sqlite._write import write_row

    return write_row(path, target, content)
