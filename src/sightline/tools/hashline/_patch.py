"""One section against one file: is the tag the file's state, can the edit be moved, what does it change."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from sightline.tools.hashline import _messages as messages
from sightline.tools.hashline._apply import BlockResolver, LineChange, Splice, changes_of, splices_of
from sightline.tools.hashline._parser import Hunk, PatchSection
from sightline.tools.hashline._recovery import recover, steps_between
from sightline.tools.hashline._snapshots import Snapshots, SnapshotStep, Version, digest_of, line_digest
from sightline.tools.hashline._text import FileText


class PatchTarget(msgspec.Struct, frozen=True):
    """The file a section is about, as it is now."""

    path: Path
    shown: str  # as the model is told its path
    text: FileText
    blocks: Callable[[Sequence[str]], BlockResolver]  # for a state of the file
    block_hint: str = ""


class Patched(msgspec.Struct, frozen=True):
    text: FileText
    changes: list[LineChange]
    notes: list[str]  # how blocks were resolved
    warnings: list[str]
    step: SnapshotStep


def patch(section: PatchSection, target: PatchTarget, snapshots: Snapshots) -> Patched:
    """Raises ToolError; changes nothing."""
    lines = target.text.lines
    splices, notes, warnings = _placed(section, target, snapshots)
    changes = changes_of(lines, splices)
    if not changes:
        raise messages.no_change(target.shown)
    spans = tuple((change.before_at, change.before_at + len(change.before), len(change.after)) for change in changes)
    return Patched(
        target.text.edited(splices), changes, notes, section.warnings + warnings, SnapshotStep(digest_of(lines), spans)
    )


def _placed(
    section: PatchSection, target: PatchTarget, snapshots: Snapshots
) -> tuple[list[Splice], list[str], list[str]]:
    """The section's splices in the file as it is now, how blocks were resolved, and warnings."""
    lines, tag = target.text.lines, section.tag
    if tag is None:
        raise messages.missing_tag(target.shown)
    version = snapshots.find(target.path, tag)
    if version is not None and is_current(version, lines):
        splices = splices_of(section.hunks, lines, target.blocks(lines), target.block_hint)
        _refuse_unseen(version, section, target, snapshots)
        return splices, [_note(splice) for splice in splices if splice.hunk.block], []
    recovered = None if version is None else _recovered(section, target, snapshots, version)
    if recovered is None:
        raise _mismatch(section.hunks, tag, target, snapshots, known=version is not None)
    return recovered[0], [], [recovered[1]]


def is_current(version: Version, lines: Sequence[str]) -> bool:
    if version.part is not None:
        shown = version.part.items()
        return bool(shown) and all(
            number <= len(lines) and line_digest(lines[number - 1]) == digest for number, digest in shown
        )
    return version.digest == digest_of(lines)


def _refuse_unseen(version: Version, section: PatchSection, target: PatchTarget, snapshots: Snapshots) -> None:
    """Of a file shown in part, only lines that were shown can be meant."""
    if version.part is None:
        return
    lines = target.text.lines
    for hunk in section.hunks:
        if hunk.verb in ("head", "tail"):
            continue
        for number in range(hunk.first, hunk.last + 1):
            if number not in version.part and not snapshots.shown(target.path, number, lines[number - 1]):
                raise messages.not_shown(target.shown, version.tag, number)


def _recovered(
    section: PatchSection, target: PatchTarget, snapshots: Snapshots, version: Version
) -> tuple[list[Splice], str] | None:
    old, new = version.lines, target.text.lines
    if old is None:
        return None
    try:
        splices = splices_of(section.hunks, old, target.blocks(old))
    except messages.PatchError as problem:
        if problem.kind == "overlap":
            raise
        return None
    found = recover(splices, old, new, steps_between(snapshots, target.path, version, digest_of(new)))
    return None if found is None else (found.splices, found.warning)


def _mismatch(
    hunks: Sequence[Hunk], tag: str, target: PatchTarget, snapshots: Snapshots, *, known: bool
) -> messages.MismatchError:
    lines = target.text.lines
    current = snapshots.record_whole(target.path, lines)
    anchors = [number for hunk in hunks if hunk.verb not in ("head", "tail") for number in (hunk.first, hunk.last)]
    context = messages.context_rows(lines, anchors)
    return messages.mismatch(known=known, path=target.shown, tag=tag, current=current, context=context)


def _note(splice: Splice) -> str:
    hunk = splice.hunk
    if hunk.verb == "after":
        first, last = hunk.first, splice.stop
    else:
        first, last = splice.start + 1, splice.stop
    count = last - first + 1
    return f"{hunk.operation.rstrip(':')} → resolved lines {first}-{last} ({count} line{'s' * (count > 1)})"
