"""What the write tool does: find what is meant, and replace it whole."""

import asyncio
from typing import Any

import msgspec

from sightline.events import DiffFact, ResourceFact
from sightline.tools import archives, sqlite
from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, Outcome, Proposal
from sightline.tools._truncation import fitting_diff
from sightline.tools.conflicts import Conflicts, resolve_all, resolve_one
from sightline.tools.files._paths import display, write_need
from sightline.tools.hashline import header, strip_display
from sightline.tools.write._conflicts import told_all, told_one
from sightline.tools.write._diff import MAX_BYTES, diff
from sightline.tools.write._file import encoded, write_file
from sightline.tools.write._targets import (
    ConflictTarget,
    DatabaseTarget,
    EntryTarget,
    FileTarget,
    ResourceTarget,
    Target,
    find_target,
)

_STRIPPED = "[Removed the headers and line numbers that were copied from read output.]"


def needs_of(path: str, context: ToolContext) -> list[Need]:
    target = find_target(path, context)
    match target:
        case ConflictTarget():
            return [need for file in target.paths for need in write_need(file, context.cwd)]
        case ResourceTarget():
            return []  # local:// is the session's own folder, and nothing else can be written
        case _:
            return write_need(target.path, context.cwd)


async def changes(path: str, content: str, context: ToolContext) -> Proposal:
    """What a write that is not made yet would change."""
    from sightline.tools.write._proposal import proposed

    if context.settings.read.hash_lines:
        content, _ = strip_display(content)
    target = await asyncio.to_thread(find_target, path, context)
    return await asyncio.to_thread(proposed, target, content, context)


async def write(path: str, content: str, context: ToolContext) -> Outcome:
    stripped = False
    if context.settings.read.hash_lines:
        content, stripped = strip_display(content)
    target = await asyncio.to_thread(find_target, path, context)
    text, details = await _write(target, content, context)
    if not isinstance(target, FileTarget):  # nothing but a file is given a value
        left = context.restored(content, "")
        text = "\n".join([text, *left.notes])
        if left.in_file is not None:
            details["secrets"] = msgspec.to_builtins(left.in_file)
    return Outcome(text=f"{text}\n{_STRIPPED}" if stripped else text, details=details)


async def _write(target: Target, content: str, context: ToolContext) -> tuple[str, dict[str, Any]]:
    match target:
        case FileTarget():
            return await asyncio.to_thread(_write_file, target, content, context)
        case EntryTarget():
            return await asyncio.to_thread(_write_entry, target, content, context)
        case DatabaseTarget():
            return await asyncio.to_thread(_write_row, target, content, context)
        case ConflictTarget():
            return await asyncio.to_thread(_resolve, target, content, context)
        case ResourceTarget():
            return await _write_resource(target, content, context)


def _write_file(target: FileTarget, content: str, context: ToolContext) -> tuple[str, dict[str, Any]]:
    name = display(target.path, context.cwd)
    written = write_file(target.path, content, context.restored)
    content = written.content.text
    change = diff(name, written.before, content)
    fact = DiffFact(
        path=name,
        op="create" if written.before is None else "update",
        diff=fitting_diff(change.text, MAX_BYTES),
        added=change.added,
        removed=change.removed,
        secrets=written.content.in_file,
    )
    details = fact.as_details()
    if written.ended.details:
        details["as_before"] = written.ended.details
    text = f"Successfully wrote {written.size} bytes to {name}"
    if written.made_executable:
        details["made_executable"] = True
        text += " (made executable)"
    text = "\n".join([text, *written.ended.notes, *written.content.notes])
    if context.settings.read.hash_lines:
        text = f"{header(name, context.snapshots.record(target.path, content))}\n{text}"
    return text, details


def _write_entry(target: EntryTarget, content: str, context: ToolContext) -> tuple[str, dict[str, Any]]:
    data = encoded(content)
    archives.write_entry(target.path, target.entry, data)
    name = f"{display(target.path, context.cwd)}:{target.entry}"
    return f"Successfully wrote {len(data)} bytes to {name}", ResourceFact().as_details()


def _write_row(target: DatabaseTarget, content: str, context: ToolContext) -> tuple[str, dict[str, Any]]:
    text = sqlite.write(target.path, target.row, content)
    return text, ResourceFact().as_details(meta={"source_path": display(target.path, context.cwd)})


async def _write_resource(target: ResourceTarget, content: str, context: ToolContext) -> tuple[str, dict[str, Any]]:
    from sightline.tools import resources

    data = encoded(content)
    await resources.write(target.url, content, context)
    return f"Successfully wrote {len(data)} bytes to {target.url}", ResourceFact().as_details()


def _resolve(target: ConflictTarget, content: str, context: ToolContext) -> tuple[str, dict[str, Any]]:
    conflicts = context.shared(Conflicts)
    if target.url.number is not None:
        return told_one(resolve_one(target.url.number, content, conflicts), context)
    return told_all(resolve_all(content, conflicts), context)
