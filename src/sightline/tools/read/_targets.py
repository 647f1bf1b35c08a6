"""What a path leads to, in the order in which the meanings are tried.

A web address, a conflict, an internal address, something in an archive, something in a database, and last a file or
folder. Nothing is read for it; only existence is checked.
"""

import os
import re
from pathlib import Path

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.files import _paths
from sightline.tools.files._selectors import Selector, split_selector

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class WebPage(msgspec.Struct, frozen=True):
    path: str  # selector included


class ConflictSide(msgspec.Struct, frozen=True):
    url: str
    selector: Selector | None


class Internal(msgspec.Struct, frozen=True):
    url: str
    selector: Selector | None


class InArchive(msgspec.Struct, frozen=True):
    archive: Path
    inner: str
    selector: Selector | None


class InDatabase(msgspec.Struct, frozen=True):
    database: Path
    rest: str


class Local(msgspec.Struct, frozen=True):
    written: str  # the path, without its selector
    path: Path
    selector: Selector | None


Target = WebPage | ConflictSide | Internal | InArchive | InDatabase | Local


def locate(path: str, cwd: Path) -> Target:
    """ToolError for a path nothing can be meant by."""
    path = _paths.unquote_path(path)
    if not path:
        raise ToolError("The path is empty. Name a file, a folder or an address.")
    _paths.refuse_impossible(path)
    return _address(path) or _in_archive(path, cwd) or _in_database(path, cwd) or local(path, cwd)


def _address(path: str) -> WebPage | ConflictSide | Internal | None:
    scheme = _SCHEME.match(path)
    if path.lower().startswith("file://") or (scheme is None and not path.lower().startswith("www.")):
        return None
    from sightline.tools.conflicts import is_conflict_url

    if is_conflict_url(path):
        return ConflictSide(*split_selector(path))
    from sightline.tools.resources import is_internal
    from sightline.tools.web import is_web_url

    if is_web_url(path):
        return WebPage(path)
    if is_internal(path):
        return Internal(*split_selector(path))
    if scheme is None:
        return None
    raise ToolError(f"Unknown kind of address: {scheme[0]} - use a path or an http address.")


def _in_archive(path: str, cwd: Path) -> InArchive | None:
    from sightline.tools.archives import candidates

    for one in candidates(path):
        archive = _paths.resolve(one.archive, cwd)
        if os.path.isfile(archive):
            return InArchive(archive, one.inner, one.selector)
    return None


def _in_database(path: str, cwd: Path) -> InDatabase | None:
    from sightline.tools.sqlite import candidates, is_sqlite_file

    for one in candidates(path):
        database = _paths.resolve(one.database, cwd)
        if is_sqlite_file(database):
            return InDatabase(database, one.rest)
    return None


def local(path: str, cwd: Path) -> Local:
    """A file whose name ends like a selector is meant when there is none without that end."""
    if ":" in path and os.path.lexists(whole := _paths.resolve(path, cwd)):
        before = path.rpartition(":")[0]
        if not before or not os.path.lexists(_paths.resolve(before, cwd)):
            return Local(path, whole, None)
    written, selector = split_selector(path)
    return Local(written, _paths.resolve(written, cwd), selector)


def container_of(target: Target) -> Path | None:
    """The file or folder of this machine that is opened."""
    match target:
        case InArchive(archive=path) | InDatabase(database=path) | Local(path=path):
            return path
    return None


async def by_suffix(path: str, cwd: Path) -> tuple[Target, str, str] | None:
    """The target of the only path of the workspace that ends like the missing one, and both as displayed."""
    for missing, rest in _missing(path, cwd):
        found = await _paths.unique_suffix(missing, cwd)
        if found is None:
            continue
        if _paths.is_outside(found, cwd):
            raise ToolError(f"'{missing}' not found. '{_paths.display(found, cwd)}' ends like it, but leads elsewhere.")
        return locate(f"{found}{rest}", cwd), missing, _paths.display(found, cwd)
    return None


def _missing(path: str, cwd: Path) -> list[tuple[str, str]]:
    """The parts of a path that may be the file, each with what follows it."""
    from sightline.tools.archives import candidates as archives
    from sightline.tools.sqlite import candidates as databases

    written = local(path, cwd).written
    names = [one.archive for one in archives(path)] + [one.database for one in databases(path)] + [written]
    return [(name, path[len(name) :]) for name in dict.fromkeys(names) if path.startswith(name)]
