"""The work of the find tool: globs become a query, the newest files it finds a list by folder."""

import asyncio
import math
import os
from pathlib import Path

from sightline.events import FilesFact
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Need, Outcome, ToolError
from sightline.tools._truncation import MAX_BYTES, truncate_head
from sightline.tools.files import _ripgrep
from sightline.tools.files._entries import is_url, place_of, shown_as
from sightline.tools.files._paths import read_need
from sightline.tools.find._listing import (
    FileListing,
    FindQuery,
    FindScope,
    entries_of,
    listing,
    places_of,
    query_of,
    scope_of,
)
from sightline.tools.find._tool import MAX_LIMIT, FindParams

SHORTEST, LONGEST = 0.5, 60.0
_NAMED = 10  # paths that are missing or unreadable, and named


def needs_of(paths: list[str], context: ToolContext) -> list[Need]:
    from sightline.tools import resources

    entries = entries_of(paths, context.cwd)
    places = [place_of(entry, context.cwd).path for entry in entries if not is_url(entry)]
    needs = [need for path in places for need in read_need(path, context.cwd)]
    needs += [need for entry in entries if is_url(entry) for need in resources.needs_of(entry, context)]
    return list(dict.fromkeys(needs))


async def find(params: FindParams, context: ToolContext) -> Outcome:
    limit = _limit(params.limit)
    seconds = LONGEST if math.isnan(params.timeout) else max(SHORTEST, min(params.timeout, LONGEST))
    entries = await asyncio.to_thread(entries_of, params.paths, context.cwd)
    places = await places_of(entries, context)
    scope = await asyncio.to_thread(scope_of, places)
    query = query_of(scope.there, hidden=params.hidden, gitignore=params.gitignore, limit=limit, seconds=seconds)

    addresses = {place.path: place.entry for place in places if is_url(place.entry)}

    def shown(path: str) -> str:
        return shown_as(Path(path), context.cwd, addresses) + ("/" if path.endswith("/") else "")

    found = await listing(query, lambda paths: context.update(_progress(list(map(shown, paths)))))
    why = ""
    if query.gitignore and query.roots:
        roots = [query.base / root for root in query.roots]
        scope.unreadable.extend(await asyncio.to_thread(_ripgrep.endless_ignore_files, roots, context.cwd))
        why = await asyncio.to_thread(_ripgrep.why_slow, roots) if found.timed_out else ""
    return _outcome(found, list(map(shown, found.paths)), scope, entries, query, why)


def _limit(limit: float) -> int:
    if not math.isfinite(limit) or limit <= 0:
        raise ToolError("Limit must be a positive number")
    return max(1, min(math.floor(limit), MAX_LIMIT))


def _progress(paths: list[str]) -> Details:
    text = truncate_head("\n".join(paths)).text
    return FilesFact(file_count=len(paths), display_content=text).as_details()


def _outcome(
    found: FileListing, paths: list[str], scope: FindScope, entries: list[str], query: FindQuery, why: str
) -> Outcome:
    limit = query.limit
    body = _grouped(paths) if paths else "No files found matching pattern"
    text = truncate_head("\n\n".join([body, *_notes(found, scope, query.seconds, limit, why)]), max_lines=1 << 40)
    listed = FilesFact(file_count=len(paths), files=[*_small(paths)])
    details = listed.as_details(scope_path=", ".join(entries)[:1000])
    if found.more or found.timed_out or text.truncated:
        details["truncated"] = True
    if found.more:
        details |= {"result_limit_reached": limit, "meta": {"limits": {"result_limit": limit}}}
    if text.truncated:
        details["truncation"] = {"by": "bytes", "max_bytes": MAX_BYTES}
    if scope.missing:
        details["missing_paths"] = scope.missing[:100]
    if scope.unreadable:
        details["unreadable_paths"] = scope.unreadable[:100]
    return Outcome(text=text.text, details=details)


def _small(paths: list[str]) -> list[str]:
    """As many as fit into the details of a result."""
    room = 40_000
    return [path for path in paths if (room := room - len(path.encode("utf-8", "replace"))) > 0]


def _grouped(paths: list[str]) -> str:
    """By folder, in the order of each folder's newest; those at the top first, for they have no heading."""
    groups: dict[str, list[str]] = {"": []}
    for path in paths:
        folder, name = os.path.split(path.rstrip("/"))
        groups.setdefault(folder, []).append(name + ("/" if path.endswith("/") else ""))
    blocks = ["\n".join(([f"# {folder}/"] if folder else []) + names) for folder, names in groups.items() if names]
    return "\n\n".join(blocks)


def _notes(found: FileListing, scope: FindScope, seconds: float, limit: int, why: str) -> list[str]:
    notes = []
    if found.timed_out:
        advice = why or "increase timeout or narrow pattern"
        notes.append(f"find timed out after {seconds:g}s; returning {len(found.paths)} partial matches — {advice}")
    elif found.more:
        notes.append(f"[The {limit} most recent are shown; there are more. Narrow the pattern]")
    if scope.missing:
        notes.append(f"Skipped missing paths: {_named(scope.missing)}")
    if scope.unreadable:
        notes.append(f"Could not read: {_named(scope.unreadable)}")
    return notes


def _named(paths: list[str]) -> str:
    return f"{', '.join(paths[:_NAMED])}{', …' if len(paths) > _NAMED else ''}"
