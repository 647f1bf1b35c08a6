"""The work of the edit tool: the patch is parsed and every section checked, then all files are written.

Every file or none, as far as one process can promise that. Each is replaced in one step. When one cannot be written,
those written before it get their old content back; a program killed in between leaves the files before that moment new
and the others old, each of them whole. All files are locked first, and read again: between that and the new content no
other edit comes in, of any session.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from msgspec.structs import asdict, replace

from sightline.events import ChangedFile, DiffFact
from sightline.handles import real_path
from sightline.secrets import RestoredText
from sightline.text import Unified, unified_diff
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Need, Outcome, Proposal, ToolError
from sightline.tools._truncation import fitting_diff
from sightline.tools.edit._files import MAX_FILE, FilePlan, Restore, file_of, is_note, plan_file
from sightline.tools.edit._streaming import Streams
from sightline.tools.files._atomic import Writing, writing
from sightline.tools.files._paths import shown, write_need
from sightline.tools.hashline import (
    CollisionError,
    PatchSection,
    Snapshots,
    collision_outcome,
    compact,
    header,
    merge,
    parse,
    refuse_collision,
    refuse_overlaps,
    unified,
)

T = TypeVar("T")
# Of the diffs in details, as JSON; they are there twice when there are several files.
MAX_DIFF_BYTES = 24 * 1024
_NOTEBOOK_WARNING = "Cells were renumbered: read the notebook again before the next edit."


def needs_of(patch: str, context: ToolContext) -> list[Need]:
    files = [path for section, path in _sections(patch, context) if not is_note(section.path)]
    return [need for path in files for need in write_need(path, context.cwd)]


def shown_so_far(written: str, context: ToolContext) -> Details | None:
    """Of a patch that is still being written."""
    streams = context.shared(Streams)
    return streams.of(context.call, context.snapshots, context.cwd, context.workplace.local).feed(written)


async def changes(patch: str, context: ToolContext) -> Proposal:
    """What an edit that is not made yet would change."""
    try:
        return _proposal(await _planned(patch, context))
    except CollisionError as collision:  # the agent has not read of it yet
        raise ToolError(collision.without_age) from collision


async def edit(patch: str, context: ToolContext) -> Outcome:
    context.shared(Streams).forget(context.call)
    snapshots = context.snapshots
    try:
        plans = await _planned(patch, context)
        return await _to_the_end(lambda: _made(plans, snapshots))
    except CollisionError as collision:
        return collision_outcome(collision, snapshots, tagged=True)


async def _planned(patch: str, context: ToolContext) -> list[FilePlan]:
    sections = _sections(patch, context)
    for section, path in sections:
        _refuse_denied(section, path, context)
    return await asyncio.to_thread(_plans, sections, context)


def _sections(patch: str, context: ToolContext) -> list[tuple[PatchSection, Path]]:
    """The patch, one section per file."""
    try:
        patch.encode()
    except UnicodeEncodeError as problem:
        raise ToolError("The input contains half of a surrogate pair, which no text can. Write it again.") from problem
    sections = parse(patch)
    paths = [file_of(section.path, context.cwd, context.workplace.local) for section in sections]
    merged = merge(sections, [real_path(path) for path in paths])
    for section in merged:
        with _named(section, merged):
            refuse_overlaps(section.hunks)
    return [(section, file_of(section.path, context.cwd, context.workplace.local)) for section in merged]


def _refuse_denied(section: PatchSection, path: Path, context: ToolContext) -> None:
    """An edit that does not fit shows the lines it was meant for, and so must not be tried on what may not be read."""
    is_denied = context.workplace.limits().is_denied
    if is_denied is not None and is_denied(shown(real_path(path))):
        raise ToolError(f"A rule forbids reading {section.path}, and so editing it.")


def _plans(sections: list[tuple[PatchSection, Path]], context: ToolContext) -> list[FilePlan]:
    cwd, snapshots = context.cwd, context.snapshots
    plans = []
    for section, path in sections:
        with _named(section, [section for section, _ in sections]):
            plans.append(plan_file(section, path, cwd, snapshots, _restoring(section, context)))
    return plans


@contextmanager
def _named(section: PatchSection, sections: list[PatchSection]) -> Iterator[None]:
    """Of a patch of several files, an error says which one and where in the patch, and that none was changed."""
    try:
        yield
    except ToolError as problem:
        if len(sections) > 1:
            files = f"none of its {len(sections)} files was changed"
            problem.message = f"In ¶{section.path} (line {section.at} of the patch; {files}): {problem.message}"
            problem.args = (problem.message,)
        raise


def _restoring(section: PatchSection, context: ToolContext) -> Restore:
    """Notes are never given a value, whatever they hold."""
    return (lambda written, replaced: context.restored(written, "")) if is_note(section.path) else context.restored


def _made(plans: list[FilePlan], snapshots: Snapshots) -> Outcome:
    commit(plans, snapshots)
    return _outcome(plans, snapshots)


async def _to_the_end(work: Callable[[], T]) -> T:
    """Files are not written any more once a cancelled call has returned."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


def commit(plans: Sequence[FilePlan], snapshots: Snapshots) -> None:
    """Raises ToolError after putting back what was already written."""
    with ExitStack() as stack:
        files = {}
        # In one order everywhere: two sessions that edit the same files must not wait for each other.
        for plan in sorted(plans, key=lambda plan: real_path(plan.path)):
            files[plan.path] = stack.enter_context(writing(plan.path, make_folders=plan.created))
        for plan in plans:
            _refuse_changed(plan, files[plan.path], snapshots)
        _commit([(plan, files[plan.path]) for plan in plans])


def _refuse_changed(plan: FilePlan, file: Writing, snapshots: Snapshots) -> None:
    same = not file.exists() if plan.before is None else file.content(len(plan.before)) == plan.before
    if same:
        return
    data = file.content(MAX_FILE)
    if data is not None:
        refuse_collision(plan.path, plan.shown, data, snapshots)
    raise ToolError(
        f"{plan.shown} was changed at this moment by something other than an agent's edit. Read it again, then edit it."
    )


def _commit(plans: Sequence[tuple[FilePlan, Writing]]) -> None:
    written: list[tuple[FilePlan, Writing]] = []
    try:
        for plan, file in plans:
            file.replace(plan.after)
            written.append((plan, file))
    except ToolError as problem:
        stuck = [plan.shown for plan, file in reversed(written) if not _put_back(plan, file)]
        rest = f" These were written and could not be put back: {', '.join(stuck)}." if stuck else ""
        others = " No file was changed." if len(plans) > 1 and not stuck else ""
        raise ToolError(f"{problem.message}{rest}{others}") from problem


def _put_back(plan: FilePlan, file: Writing) -> bool:
    try:
        if plan.before is None:
            file.remove()
        else:
            file.replace(plan.before)
    except ToolError:
        return False
    return True


def _outcome(plans: Sequence[FilePlan], snapshots: Snapshots) -> Outcome:
    texts: list[str] = []
    results: list[ChangedFile] = []
    for plan in plans:
        state = plan.state()
        renumbered = _is_renumbered(plan, state)
        # Lines of renumbered cells cannot be followed through this edit.
        tag = snapshots.record_whole(plan.path, state, None if renumbered else plan.step)
        warnings = plan.warnings + ([_NOTEBOOK_WARNING] if renumbered else [])
        texts.append(_text(plan, tag, warnings))
        results.append(_changed(plan, warnings, MAX_DIFF_BYTES // len(plans)))
    fact = DiffFact(**asdict(results[0]))
    if len(plans) > 1:
        restored = tuple(name for plan in plans for name in plan.secrets.restored)
        left = tuple(name for plan in plans for name in plan.secrets.left)
        diff, secrets = "".join(result.diff for result in results), RestoredText("", restored, left).in_file
        fact = replace(fact, diff=diff, per_file_results=results, secrets=secrets)
    return Outcome(text="\n\n".join(texts), details=fact.as_details())


def _proposal(plans: Sequence[FilePlan]) -> Proposal:
    """What they would change, all of it."""
    restored = RestoredText("", tuple(name for plan in plans for name in plan.secrets.restored))
    diffs = [_diff(plan) for plan in plans]
    return Proposal(
        diff="".join(diff.text for diff in diffs),
        added=sum(diff.added for diff in diffs),
        removed=sum(diff.removed for diff in diffs),
        about=restored.about,
        basis=" ".join(sha256(plan.before or b"").hexdigest() for plan in plans),
    )


def _diff(plan: FilePlan) -> Unified:
    """Where the file lacks its final newline, before or after, that is part of what changes or stays."""
    if not plan.as_notebook and not (_is_ended(plan.before) and _is_ended(plan.after)):
        before = None if plan.before is None else _plain(plan.before)
        return unified_diff(before, _plain(plan.after), f"a/{plan.shown}", f"b/{plan.shown}")
    text = unified(plan.shown, plan.lines, plan.changes, created=plan.created)
    added, removed = (sum(map(len, lines)) for lines in zip(*((c.after, c.before) for c in plan.changes), strict=True))
    return Unified(text, added, removed)


def _is_ended(data: bytes | None) -> bool:
    return not data or data.endswith(b"\n")


def _plain(data: bytes) -> str:
    """As an edit sees it: it never changes how a line ends, but whether the last one does."""
    return data.decode().removeprefix("\ufeff").replace("\r\n", "\n")


def _is_renumbered(plan: FilePlan, state: Sequence[str]) -> bool:
    if not plan.as_notebook:
        return False
    lines = list(plan.lines)
    for change in reversed(plan.changes):
        lines[change.before_at : change.before_at + len(change.before)] = change.after
    return lines != list(state)


def _text(plan: FilePlan, tag: str, warnings: Sequence[str]) -> str:
    rows = [header(plan.shown, tag), *plan.notes]
    preview = "" if plan.created else compact(plan.lines, plan.changes)
    rows.append(preview or f"{'Created' if plan.created else 'Updated'} {plan.shown}")
    rows += plan.secrets.notes
    if warnings:
        rows += ["", "Warnings:", *warnings]
    return "\n".join(rows)


def _changed(plan: FilePlan, warnings: Sequence[str], limit: int) -> ChangedFile:
    diff = _diff(plan)
    return ChangedFile(
        path=plan.shown,
        op="create" if plan.created else "update",
        diff=fitting_diff(diff.text, limit),
        first_changed_line=min(change.after_at for change in plan.changes) + 1,
        added=diff.added,
        removed=diff.removed,
        warnings=list(warnings),
        secrets=plan.secrets.in_file,
    )
