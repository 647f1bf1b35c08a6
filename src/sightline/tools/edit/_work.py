"""What the edit tool does: the patch is parsed and every section checked, then all files are written, then the result
is told."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sightline.handles import real_path
from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, Outcome, Proposal, ToolError
from sightline.tools.edit._commit import commit
from sightline.tools.edit._files import FilePlan, Restore, file_of, is_note, plan
from sightline.tools.edit._result import outcome, proposal
from sightline.tools.edit._streaming import Streams
from sightline.tools.files._paths import shown, write_need
from sightline.tools.hashline import PatchSection, Snapshots, merge, parse, refuse_overlaps

T = TypeVar("T")


def needs_of(patch: str, context: ToolContext) -> list[Need]:
    files = [path for section, path in _sections(patch, context) if not is_note(section.path)]
    return [need for path in files for need in write_need(path, context.cwd)]


def shown_so_far(written: str, context: ToolContext) -> dict[str, Any] | None:
    """Of a patch that is still being written."""
    snapshots = context.snapshots
    stream = context.shared(Streams).of(context.call, snapshots, context.cwd, context.workplace.local)
    return stream.feed(written)


async def changes(patch: str, context: ToolContext) -> Proposal:
    """What an edit that is not made yet would change."""
    sections = _sections(patch, context)
    for section, path in sections:
        _refuse_denied(section, path, context)
    plans = await asyncio.to_thread(_plans, sections, context)
    return proposal(plans)


async def edit(patch: str, context: ToolContext) -> Outcome:
    context.shared(Streams).forget(context.call)
    snapshots = context.snapshots
    sections = _sections(patch, context)
    for section, path in sections:
        _refuse_denied(section, path, context)
    plans = await asyncio.to_thread(_plans, sections, context)
    return await _to_the_end(lambda: _made(plans, snapshots))


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
            plans.append(plan(section, path, cwd, snapshots, _restoring(section, context)))
    return plans


@contextmanager
def _named(section: PatchSection, sections: list[PatchSection]) -> Iterator[None]:
    """Of a patch of several files, an error says which one and where in the patch, and that none was changed."""
    try:
        yield
    except ToolError as problem:
        if len(sections) < 2:
            raise
        where = f"In ¶{section.path} (line {section.at} of the patch; none of its {len(sections)} files was changed)"
        raise ToolError(f"{where}: {problem}") from problem


def _restoring(section: PatchSection, context: ToolContext) -> Restore:
    """Notes are never given a value, whatever they hold."""
    return (lambda written, replaced: context.restored(written, "")) if is_note(section.path) else context.restored


def _made(plans: list[FilePlan], snapshots: Snapshots) -> Outcome:
    commit(plans)
    return outcome(plans, snapshots)


async def _to_the_end(work: Callable[[], T]) -> T:
    """Files are not written any more once a cancelled call has returned."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
