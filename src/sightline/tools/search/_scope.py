"""From what a call names to what is searched.

What has no file of its own, such as an archive's member or a conversation, is written into a folder that lives as
long as the search, so that one engine with one syntax searches everything.
"""

import asyncio
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.files._entries import expand, is_url, place_exists, place_of
from sightline.tools.files._globs import has_glob
from sightline.tools.files._paths import display, reason_of, resolve, shown
from sightline.tools.files._selectors import LineRange, Selector, merge_ranges, split_selector
from sightline.tools.search._query import SearchTarget

if TYPE_CHECKING:
    from sightline.tools.archives import ArchivePath

EMPTY = "`paths` must contain non-empty paths or globs"


class UnreadablePath(ToolError):
    """A path that was named cannot be searched: which one, and why."""


class SearchScope(msgspec.Struct):
    """What is searched, what was not there, and what could not be read, with the reason."""

    targets: list[SearchTarget] = []
    missing: list[str] = []
    unreadable: list[str] = []
    unreadable_members: list[str] = []  # of archives


def entries_of(paths: str | list[str], cwd: Path) -> list[str]:
    def exists(part: str) -> bool:
        return is_url(part) or member_of(part, cwd) is not None or place_exists(_without_lines(part), cwd)

    return expand(paths, cwd, exists, mistake=EMPTY)


def _without_lines(entry: str) -> str:
    try:
        return split_selector(entry)[0]
    except ToolError:
        return entry


def member_of(entry: str, cwd: Path) -> "ArchivePath | None":
    """The archive and what is in it, when a path leads into an archive that is there."""
    from sightline.tools.archives import candidates

    if is_url(entry) or os.path.lexists(resolve(entry, cwd)):
        return None
    found = (one for one in candidates(entry) if one.inner and os.path.isfile(resolve(one.archive, cwd)))
    return next(found, None)


def starting_points(paths: str | list[str], cwd: Path) -> list[Path]:
    """Every file or folder of this machine that a search reads because it was named."""
    found = []
    for entry in entries_of(paths, cwd):
        member = member_of(entry, cwd)
        if member is not None:
            found.append(resolve(member.archive, cwd))
        elif not is_url(entry):
            found.append(place_of(_file_and_lines(entry, cwd)[0], cwd).path)
    return found


def addresses(paths: str | list[str], cwd: Path) -> list[str]:
    """Every address of the session that a search reads, without its lines."""
    return [split_selector(entry)[0] for entry in entries_of(paths, cwd) if is_url(entry)]


async def resolve_scope(entries: list[str], context: ToolContext, scratch: Path) -> SearchScope:
    scope = SearchScope([], [], [], [])
    for entry in entries:
        await _resolve_entry(entry, context, scratch, scope)
    if not scope.targets:
        if scope.missing:
            raise ToolError(f"Path not found: {', '.join(scope.missing)}. Use find to see what there is.")
        members = f"archive member(s): {'; '.join(scope.unreadable_members)}" if scope.unreadable_members else ""
        raise ToolError(f"Cannot search {'; '.join([*scope.unreadable, *([members] if members else [])])}")
    scope.targets = _merged(scope.targets)
    return scope


async def _resolve_entry(entry: str, context: ToolContext, scratch: Path, scope: SearchScope) -> None:
    if is_url(entry):
        scope.targets.append(await _resource(entry, context, scratch / str(len(scope.targets))))
        return
    member = await asyncio.to_thread(member_of, entry, context.cwd)
    if member is not None:
        await asyncio.to_thread(_add_member, member, context.cwd, scratch, scope)
        return
    try:
        target = await asyncio.to_thread(_on_disk, entry, context.cwd)
    except UnreadablePath as problem:
        scope.unreadable.append(str(problem))
        return
    if target is None:
        scope.missing.append(shown(entry))
    else:
        scope.targets.append(target)


async def _resource(entry: str, context: ToolContext, scratch: Path) -> SearchTarget:
    url, selector = split_selector(entry)
    if url.lower().startswith(("http://", "https://")):
        raise ToolError(f"search reads files and internal URLs, not {url}. Use read for a web page.")
    if has_glob(url):
        raise ToolError(f"Glob patterns are not supported for internal URLs: {url}")
    from sightline.tools import resources

    ranges = _ranges(entry, selector)
    resource = await resources.resolve(url, context)
    if resource.source_path is None:
        await asyncio.to_thread(scratch.write_bytes, resource.text.encode("utf-8", "replace"))
        return SearchTarget(scratch, ranges=ranges, label=url, editable=False)
    is_file = resource.source_path.is_file()
    if ranges and not is_file:
        raise ToolError(f"Line-range selector requires a single file: {url} is a directory")
    return SearchTarget(
        resource.source_path, is_file=is_file, ranges=ranges, label=url, editable=not (is_file and resource.immutable)
    )


def _add_member(member: "ArchivePath", cwd: Path, scratch: Path, scope: SearchScope) -> None:
    from sightline.tools.archives import Archive
    from sightline.tools.read._files import is_utf8

    archive = resolve(member.archive, cwd)
    label = f"{display(archive, cwd)}:{member.inner}"
    ranges = _ranges(label, member.selector)
    try:
        with Archive.open(archive) as opened:
            data = opened.read(member.inner)
    except ToolError as problem:
        scope.unreadable_members.append(f"{label} ({problem})")
        return
    if b"\0" in data or not is_utf8(data):
        scope.unreadable_members.append(f"{label} (not UTF-8 text)")
        return
    file = scratch / str(len(scope.targets))
    file.write_bytes(data)
    scope.targets.append(SearchTarget(file, ranges=ranges, label=label, editable=False))


def _on_disk(entry: str, cwd: Path) -> SearchTarget | None:
    """None: there is no such path."""
    path, ranges = _file_and_lines(entry, cwd)
    place = place_of(path, cwd)
    if ranges and place.glob:
        raise ToolError(f"Line-range selector requires a single file, not a glob: {entry}")
    try:
        mode = place.path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if ranges:
            raise ToolError(f"Path not found for line-range selector: {entry}") from None
        return None
    except OSError as problem:
        raise UnreadablePath(f"{shown(path)} ({reason_of(problem)})") from None
    if stat.S_ISDIR(mode):
        if ranges:
            raise ToolError(f"Line-range selector requires a single file: {path} is a directory")
        return SearchTarget(place.path, is_file=False, glob=place.glob)
    if place.glob:
        return None
    if not stat.S_ISREG(mode):
        raise UnreadablePath(f"{shown(path)} (it is neither a file nor a folder)")
    return SearchTarget(place.path, ranges=ranges)


def _file_and_lines(entry: str, cwd: Path) -> tuple[str, tuple[LineRange, ...]]:
    if os.path.lexists(resolve(entry, cwd)):
        return entry, ()
    path, selector = split_selector(entry)
    return path, _ranges(entry, selector)


def _ranges(entry: str, selector: Selector | None) -> tuple[LineRange, ...]:
    if selector is None:
        return ()
    if selector.conflicts:
        raise ToolError(f"search takes lines after the colon, not conflicts: {entry}. Use read for those.")
    return selector.ranges


def _merged(targets: list[SearchTarget]) -> list[SearchTarget]:
    """One target per file: the lines of all that name it, or all lines once one of them names no lines."""
    merged: dict[tuple[Path, str], SearchTarget] = {}
    for target in targets:
        known = merged.setdefault((target.path, target.glob), target)
        both = known.ranges and target.ranges
        ranges = merge_ranges((*known.ranges, *target.ranges)) if both else ()
        if known is not target:
            merged[target.path, target.glob] = msgspec.structs.replace(known, ranges=ranges)
    return list(merged.values())
