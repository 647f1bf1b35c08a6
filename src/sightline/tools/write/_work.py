"""The work of the write tool: find what is meant, and replace it whole."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from sightline.events import DiffFact, FilesFact, ResourceFact
from sightline.tools import archives, sqlite
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Need, Outcome, Proposal, ToolError
from sightline.tools._truncation import fitting_diff, human_size
from sightline.tools.conflicts import Conflicts, ResolvedFile, planned, readable, resolve_all, resolve_one
from sightline.tools.files._paths import display, shown, write_need
from sightline.tools.files._regular import opened, read_all
from sightline.tools.hashline import CollisionError, collision_outcome, header, refuse_collision, strip_display
from sightline.tools.write._file import MAX_BYTES, diff, encoded, ended_as, write_file
from sightline.tools.write._targets import (
    ConflictTarget,
    DatabaseTarget,
    EntryTarget,
    FileTarget,
    ResourceTarget,
    Target,
    find_target,
)

_COMPARED_AT_MOST = 16 * 1024 * 1024  # bytes of the old content, in a proposal
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
    """What a write that is not made yet would change: all of it, no line is left out or cut. What cannot be shown (no
    text, too large to compare) is named in a sentence, and `basis` is what it was compared with, so that a target that
    changed since is noticed."""
    if context.settings.read.hash_lines:
        content, _ = strip_display(content)
    target = await asyncio.to_thread(find_target, path, context)
    return await asyncio.to_thread(_proposal, target, content, context)


async def write(path: str, content: str, context: ToolContext) -> Outcome:
    stripped = False
    if context.settings.read.hash_lines:
        content, stripped = strip_display(content)
    target = await asyncio.to_thread(find_target, path, context)
    try:
        text, details = await _write(target, content, context)
    except CollisionError as collision:
        return collision_outcome(collision, context.snapshots, tagged=context.settings.read.hash_lines)
    if not isinstance(target, FileTarget):  # nothing but a file is given a value
        left = context.restored(content, "")
        text = "\n".join([text, *left.notes])
        if left.in_file is not None:
            details["secrets"] = msgspec.to_builtins(left.in_file)
    return Outcome(text=f"{text}\n{_STRIPPED}" if stripped else text, details=details)


async def _write(target: Target, content: str, context: ToolContext) -> tuple[str, Details]:
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


def _write_file(target: FileTarget, content: str, context: ToolContext) -> tuple[str, Details]:
    name = display(target.path, context.cwd)
    snapshots = context.snapshots

    def refuse(real: Path, found: bytes | None) -> None:
        if not _is_denied(real, context):
            refuse_collision(real, name, found, snapshots)

    written = write_file(target.path, content, context.restored, refuse)
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
    tag = snapshots.record(target.path, content)
    if context.settings.read.hash_lines:
        text = f"{header(name, tag)}\n{text}"
    return text, details


def _is_denied(real: Path, context: ToolContext) -> bool:
    """Whether a rule forbids reading it: a refusal would show the model what another agent wrote there."""
    is_denied = context.workplace.limits().is_denied
    return is_denied is not None and is_denied(shown(real))


def _write_entry(target: EntryTarget, content: str, context: ToolContext) -> tuple[str, Details]:
    data = encoded(content)
    archives.write_entry(target.path, target.entry, data)
    name = f"{display(target.path, context.cwd)}:{target.entry}"
    return f"Successfully wrote {len(data)} bytes to {name}", ResourceFact().as_details()


def _write_row(target: DatabaseTarget, content: str, context: ToolContext) -> tuple[str, Details]:
    text = sqlite.write(target.path, target.row, content)
    return text, ResourceFact().as_details(meta={"source_path": display(target.path, context.cwd)})


async def _write_resource(target: ResourceTarget, content: str, context: ToolContext) -> tuple[str, Details]:
    from sightline.tools import resources

    data = encoded(content)
    await resources.write(target.url, content, context)
    return f"Successfully wrote {len(data)} bytes to {target.url}", ResourceFact().as_details()


def _resolve(target: ConflictTarget, content: str, context: ToolContext) -> tuple[str, Details]:
    conflicts = context.shared(Conflicts)
    if target.url.number is not None:
        return _resolved_one(resolve_one(target.url.number, content, conflicts), context)
    return _resolved_all(resolve_all(content, conflicts), context)


def _resolved_one(resolved: ResolvedFile, context: ToolContext) -> tuple[str, Details]:
    text = f"Resolved conflict {resolved.done[0]} in {_name(resolved, context)}. {_left(resolved)}"
    if context.settings.read.hash_lines:
        text = f"{_header(resolved, context)}\n{text}"
    return text, _details([resolved], context)


def _resolved_all(files: Sequence[ResolvedFile], context: ToolContext) -> tuple[str, Details]:
    done = [resolved for resolved in files if not resolved.problem]
    failed = [f"{_name(resolved, context)}: {resolved.problem}" for resolved in files if resolved.problem]
    if not done:
        raise ToolError("No conflict was resolved.\n" + "\n".join(failed))
    count = sum(len(resolved.done) for resolved in done)
    lines = [f"Resolved {count} conflict{'s' if count != 1 else ''} in {len(done)} file{'s' if len(done) != 1 else ''}"]
    lines += [
        f"{_name(resolved, context)}: {', '.join(map(str, resolved.done))}. {_left(resolved)}" for resolved in done
    ]
    if failed:
        lines += ["", "Failed:", *failed]
    if context.settings.read.hash_lines:
        lines += ["", "Snapshots:", *(_header(resolved, context) for resolved in done)]
    return "\n".join(lines), _details(files, context)


def _name(resolved: ResolvedFile, context: ToolContext) -> str:
    return display(resolved.path, context.cwd)


def _left(resolved: ResolvedFile) -> str:
    if not resolved.left:
        return "No conflicts are left in it."
    return f"Left: {', '.join(f'conflict://{number}' for number in resolved.left)}"


def _header(resolved: ResolvedFile, context: ToolContext) -> str:
    tag = context.snapshots.record(resolved.path, readable(resolved.text))
    return header(_name(resolved, context), tag)


def _details(files: Sequence[ResolvedFile], context: ToolContext) -> Details:
    listed = [
        {"path": _name(resolved, context), "resolved": list(resolved.done), "problem": resolved.problem}
        for resolved in files[:100]
    ]
    return {"ui": {"kind": FilesFact.KIND}, "files": listed}


def _proposal(target: Target, content: str, context: ToolContext) -> Proposal:
    """Blocking. ToolError when it could not be written either."""
    match target:
        case FileTarget():
            return _file_proposal(target, content, context)
        case EntryTarget():
            return _entry_proposal(target, content, context)
        case DatabaseTarget():
            return _row_proposal(target, content, context)
        case ConflictTarget():
            return _conflict_proposal(target, content, context)
    return Proposal()  # the session's own folder


def _file_proposal(target: FileTarget, content: str, context: ToolContext) -> Proposal:
    data = encoded(content)
    name = display(target.path, context.cwd)
    if not os.path.lexists(target.path):
        return _compared(name, None, content, [_made_executable(target.path, data)])
    with opened(target.path) as fd:
        size, before = os.fstat(fd).st_size, read_all(fd, _COMPARED_AT_MOST)
    content = ended_as(before, content).text
    if len(before) > _COMPARED_AT_MOST:
        unseen = f"it replaces a file of {human_size(size)}, too large to compare: only the new content is shown"
        stamp = os.stat(target.path)
        basis = f"{stamp.st_ino} {stamp.st_size} {stamp.st_mtime_ns}"
        return _only_new(name, content, unseen, basis)
    new = context.restored(content, before.decode("utf-8", "surrogateescape"))
    return _compared(name, before, new.text, [_made_executable(target.path, data), new.about])


def _made_executable(path: Path, data: bytes) -> str:
    return "it is made executable" if data.startswith(b"#!") and not os.access(path, os.X_OK) else ""


def _entry_proposal(target: EntryTarget, content: str, context: ToolContext) -> Proposal:
    encoded(content)
    name = f"{display(target.path, context.cwd)}:{target.entry}"
    if not target.path.exists():
        return _compared(name, None, content, ["the archive is made"])
    with archives.Archive.open(target.path) as archive:
        before = archive.read(target.entry) if archive.is_file(target.entry) else None
    return _compared(name, before, content)


def _row_proposal(target: DatabaseTarget, content: str, context: ToolContext) -> Proposal:
    row = sqlite.preview(target.path, target.row, content)
    name = f"{display(target.path, context.cwd)}:{row.table}"
    if target.row.key is not None:
        name = f"{name}:{target.row.key}"
    if row.before is None and target.row.key is not None:
        return Proposal(about=f"nothing changes: {row.table} has no row '{target.row.key}'")
    about = ["the row is deleted" if row.after is None else "", "triggers of the table run too" if row.triggers else ""]
    before = None if row.before is None else row.before.encode("utf-8", "surrogateescape")
    return _compared(name, before, row.after or "", about)


def _conflict_proposal(target: ConflictTarget, content: str, context: ToolContext) -> Proposal:
    files = planned(target.url.number, content, context.shared(Conflicts))
    parts = [diff(display(path, context.cwd), before, after) for path, before, after in files]
    basis = _digest(before.encode("utf-8", "surrogateescape") for _, before, _ in files)
    added, removed = sum(part.added for part in parts), sum(part.removed for part in parts)
    return Proposal(diff="".join(part.text for part in parts), added=added, removed=removed, basis=basis)


def _compared(name: str, before: bytes | None, content: str, about: Iterable[str] = ()) -> Proposal:
    basis = "" if before is None else _digest([before])
    if before is not None and b"\0" in before:
        unseen = f"the current content is not text ({human_size(len(before))}): only the new content is shown"
        return _only_new(name, content, unseen, basis)
    change = diff(name, None if before is None else before.decode("utf-8", "surrogateescape"), content)
    unchanged = "" if change.text else "nothing changes: this is its content already"
    notes = ", ".join(note for note in (*about, _changed_ends(before, content), unchanged) if note)
    return Proposal(diff=change.text, added=change.added, removed=change.removed, about=notes, basis=basis)


def _changed_ends(before: bytes | None, content: str) -> str:
    """Every line differs then, and none looks different."""
    was, becomes = (before or b"").count(b"\r\n"), content.count("\r\n")
    if before is None or not before.count(b"\n") or not content.count("\n") or bool(was) == bool(becomes):
        return ""
    return "line ends change from CRLF to LF" if was else "line ends change from LF to CRLF"


def _only_new(name: str, content: str, unseen: str, basis: str) -> Proposal:
    change = diff(name, "", content)
    return Proposal(diff=change.text, added=change.added, unseen=unseen, basis=basis)


def _digest(parts: Iterable[bytes]) -> str:
    return " ".join(sha256(part).hexdigest() for part in parts)
