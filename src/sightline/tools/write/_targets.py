"""What a path to write to means. Tried in this order; the first that fits is meant.

1. `conflict://…`, then any other `scheme://…`
2. an archive and an entry in it (an archive on disk before one that would be made)
3. a database and a table or row in it (a file that only has the name of one is a plain file)
4. a plain file

What cannot be written is refused here, before anything is asked or touched.
"""

import os
import re
from pathlib import Path

import msgspec

from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.archives import entry_target, places
from sightline.tools.conflicts import Conflicts, ConflictUrl, is_conflict_url, parse_url
from sightline.tools.files._atomic import refuse_special
from sightline.tools.files._generated import refuse_generated
from sightline.tools.files._paths import display, resolve, unquote_path
from sightline.tools.files._selectors import split_selector
from sightline.tools.sqlite import RowTarget, candidates, is_sqlite_file, parse_target

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


class FileTarget(msgspec.Struct, frozen=True):
    path: Path


class EntryTarget(msgspec.Struct, frozen=True):
    path: Path
    entry: str


class DatabaseTarget(msgspec.Struct, frozen=True):
    path: Path
    row: RowTarget


class ConflictTarget(msgspec.Struct, frozen=True):
    url: ConflictUrl
    paths: tuple[Path, ...]


class ResourceTarget(msgspec.Struct, frozen=True):
    url: str


Target = FileTarget | EntryTarget | DatabaseTarget | ConflictTarget | ResourceTarget


def find_target(path: str, context: ToolContext) -> Target:
    """What is meant; ToolError when it cannot be written."""
    path = unquote_path(path)
    if is_conflict_url(path):
        return _conflict(path, context.shared(Conflicts))
    scheme = _SCHEME.match(path)
    if scheme is not None and scheme[1].lower() != "file":
        return _resource(path, scheme[1].lower())
    return _entry(path, context.cwd) or _row(path, context.cwd) or _file(path, context.cwd)


def _conflict(url: str, conflicts: Conflicts) -> ConflictTarget:
    parsed = parse_url(url)
    if parsed.scope is not None:
        raise ToolError(
            f"conflict://{parsed.number}/{parsed.scope} is read-only. "
            f"Write the replacement to conflict://{parsed.number}; a line @{parsed.scope} in it stands for that side."
        )
    if parsed.number is not None:
        return ConflictTarget(parsed, (conflicts.get(parsed.number).path,))
    if not conflicts.paths():
        raise ToolError("No conflicts are known in this session. Read FILE:conflicts to find them.")
    return ConflictTarget(parsed, tuple(conflicts.paths()))


def _resource(url: str, scheme: str) -> ResourceTarget:
    if scheme in ("http", "https"):
        raise ToolError("Web pages cannot be written. Give the path of a file.")
    from sightline.tools.resources import is_internal

    if not is_internal(url):
        raise ToolError(f"{scheme}:// cannot be written. Give the path of a file.")
    return ResourceTarget(url)


def _entry(path: str, cwd: Path) -> EntryTarget | None:
    found = [(resolve(archive, cwd), inner) for archive, inner in places(path)]
    found = [(archive, inner) for archive, inner in found if not os.path.isdir(archive)]
    if not found:
        return None
    chosen = next(((archive, inner) for archive, inner in found if os.path.isfile(archive)), found[0])
    return EntryTarget(_replaceable(chosen[0]), entry_target(chosen[1]))


def _row(path: str, cwd: Path) -> DatabaseTarget | None:
    found = [(resolve(candidate.database, cwd), candidate.rest) for candidate in candidates(path)]
    for database, rest in found:
        if is_sqlite_file(database):
            return DatabaseTarget(database, parse_target(rest))
    missing = [(database, rest) for database, rest in found if not os.path.lexists(database)]
    if not missing or len(missing) < len(found):
        return None
    database, rest = missing[0]
    target = parse_target(rest)
    raise ToolError(
        f"SQLite database '{display(database, cwd)}' not found, so there is no table '{target.table}' to write to. "
        "Databases are not made here; use a command."
    )


def _file(path: str, cwd: Path) -> FileTarget:
    if path.endswith(("/", os.sep)):
        raise ToolError(f"'{path}' names a directory. Give the path of a file.")
    target = resolve(path, cwd)
    bare, selector = split_selector(path)
    if selector is not None and not os.path.lexists(target) and resolve(bare, cwd).is_file():
        raise ToolError(
            f"Write replaces whole files: leave out '{path[len(bare) :]}', or change these lines with edit."
        )
    refuse_generated(_replaceable(target))
    return FileTarget(target)


def _replaceable(path: Path) -> Path:
    refuse_special(path)
    parent = next((folder for folder in path.parents if os.path.lexists(folder)), path.parent)
    if not parent.is_dir():
        raise ToolError(f"Cannot write {path}: {parent} is not a directory.")
    return path
