"""What is inside something else: entries of archives, rows of databases, internal resources, sides of conflicts."""

import asyncio
import time
from typing import TYPE_CHECKING

from sightline.events import ListingFact, ReadFact, ResourceFact, TableFact
from sightline.handles import judged
from sightline.tools._context import ToolContext
from sightline.tools._tool import Outcome
from sightline.tools._truncation import MAX_LINES, human_size
from sightline.tools.files._paths import display, shown
from sightline.tools.read._files import is_utf8, looks_binary
from sightline.tools.read._local import read_file
from sightline.tools.read._present import ReadSubject, details_of, present_text
from sightline.tools.read._targets import ConflictSide, InArchive, InDatabase, Internal

if TYPE_CHECKING:
    from sightline.tools.archives import ArchiveListing


async def read_archive(target: InArchive, context: ToolContext) -> Outcome:
    from sightline.tools.archives import Archive, ArchiveListing

    def content() -> ArchiveListing | bytes:
        with Archive.open(target.archive) as archive:
            is_file = archive.is_file(target.inner) and not target.inner.endswith("/")
            return archive.read(target.inner) if is_file else archive.listing(target.inner)

    found = await asyncio.to_thread(content)
    name = display(target.archive, context.cwd) + (f":{target.inner}" if target.inner else "")
    what = ReadSubject(name=name, source=shown(target.archive), noun="entry")
    if isinstance(found, ArchiveListing):
        return _listing(found, what)
    if looks_binary(found) or not is_utf8(found):
        text = f"[Cannot read binary archive entry '{target.inner}' ({human_size(len(found))})]"
        return Outcome(text=text, details=details_of(ReadFact, what))
    return present_text(found.decode(), target.selector, what, context)


def _listing(found: "ArchiveListing", what: ReadSubject) -> Outcome:
    details = details_of(ListingFact, what, entries=found.shown)
    details["is_directory"] = True
    if found.shown < found.total:
        details["meta"]["limits"] = {"result_limit": found.shown, "total": found.total}
    return Outcome(text=found.text, details=details)


async def read_database(target: InDatabase, context: ToolContext) -> Outcome:
    from sightline.tools import sqlite

    selection = sqlite.parse_selection(target.rest)
    found = await asyncio.to_thread(sqlite.read, target.database, selection)
    what = ReadSubject(name=display(target.database, context.cwd) + target.rest, source=shown(target.database))
    details = details_of(TableFact, what, shape=found.kind, rows=found.shown, total=found.total)
    if found.total is not None and found.shown < found.total:
        details["meta"]["limits"] = {"result_limit": found.shown, "total": found.total}
    return Outcome(text=found.text, details=details)


async def read_resource(target: Internal, context: ToolContext) -> Outcome:
    from sightline.tools.resources import resolve

    resource = await resolve(target.url, context)
    what = ReadSubject(name=target.url, source=resource.url, source_kind="internal", noun="resource")
    file = resource.source_path
    if file is not None and await asyncio.to_thread(file.is_file):
        began = time.time()
        with judged(str(file)):  # by the address it was found by
            outcome = await read_file(file, target.selector, what, context, editable=not resource.immutable)
        context.snapshots.note_read(file, began)
    else:
        limit = MAX_LINES if resource.is_whole else None
        outcome = present_text(resource.text, target.selector, what, context, default_limit=limit)
    if not outcome.images:
        outcome.details["ui"]["kind"] = ResourceFact.KIND
    return outcome


async def read_side(target: ConflictSide, context: ToolContext) -> Outcome:
    from sightline.tools.conflicts import Conflicts, read_conflict

    text = read_conflict(target.url, context.shared(Conflicts), lambda path: display(path, context.cwd))
    what = ReadSubject(name=target.url, source=target.url, source_kind="internal", noun="conflict")
    return present_text(text, target.selector, what, context)
