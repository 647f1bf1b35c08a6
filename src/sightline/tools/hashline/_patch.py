"""One section against one file: whether the tag matches the file's content, what the edit changes, and whether it
can be moved to a file whose content has changed.

Rules of moving an edit:

- Nothing is guessed. An edit is moved only when where it belongs can be proved; otherwise the mismatch is reported.
- By its surroundings: a splice's lines and three lines on each side must be there unchanged, once in the old state and
  once in the new. Where they are there more often, more of the surroundings is taken until they are there once.
- The start and the end of a file count as surroundings for what is inserted there.
- By our own edits: when every step from the old state to the new is an edit of this session, line numbers are counted
  through the steps. Lines a step replaced cannot be followed, nor a place at which a step inserted or replaced
  something: the same insertion sent twice is not made twice.
- Splices stay in order, and none moves into another.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from sightline.tools.hashline import _messages as messages
from sightline.tools.hashline._apply import BlockResolver, FileText, LineChange, Splice, changes_of, splices_of
from sightline.tools.hashline._parser import Hunk, PatchSection
from sightline.tools.hashline._snapshots import Snapshots, SnapshotStep, Version, digest_of, line_digest

_CONTEXT = 3
_Place = tuple[int, int]


class PatchTarget(msgspec.Struct, frozen=True):
    """The file a section is about, as it is now."""

    path: Path
    shown: str  # the path as displayed
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
        raise messages.mistake("no_change", path=target.shown)
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
                raise messages.mistake("not_shown", path=target.shown, tag=version.tag, line=number)


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
    steps = _steps_between(snapshots, target.path, version, digest_of(new))
    return _recover(splices, old, new, steps, shown=_is_shown(target, snapshots))


def _is_shown(target: PatchTarget, snapshots: Snapshots) -> bool:
    """Whether the file is as the model was shown it last."""
    last = snapshots.last(target.path)
    return last is not None and is_current(last, target.text.lines)


def _mismatch(
    hunks: Sequence[Hunk], tag: str, target: PatchTarget, snapshots: Snapshots, *, known: bool
) -> messages.MismatchError:
    lines, shown = target.text.lines, _is_shown(target, snapshots)
    current = snapshots.record_whole(target.path, lines)
    anchors = [number for hunk in hunks if hunk.verb not in ("head", "tail") for number in (hunk.first, hunk.last)]
    context = messages.context_rows(lines, anchors)
    return messages.mismatch(known=known, shown=shown, path=target.shown, tag=tag, current=current, context=context)


def _note(splice: Splice) -> str:
    hunk, last = splice.hunk, splice.stop
    first = hunk.first if hunk.verb == "after" else splice.start + 1
    count = last - first + 1
    return f"{hunk.operation.rstrip(':')} → resolved lines {first}-{last} ({count} line{'s' * (count > 1)})"


def _recover(
    splices: Sequence[Splice],
    old: Sequence[str],
    new: Sequence[str],
    steps: Sequence[SnapshotStep] | None,
    *,
    shown: bool,
) -> tuple[list[Splice], str] | None:
    """The moved splices and a warning. `steps` lead from old to new; None when something else changed the file.
    `shown`: the model was shown the new state."""
    before, now = _searchable(old), _searchable(new)
    found = _moved(splices, lambda splice: _find(splice, old, len(new), before, now))
    if steps is None:
        warning = messages.RECOVERY_SHOWN_WARNING if shown else messages.RECOVERY_EXTERNAL_WARNING
        return None if found is None else (found, warning)
    counted = _moved(splices, lambda splice: _count(splice, steps))
    if counted is None:
        return None
    sure = found == counted
    warning = messages.RECOVERY_SESSION_CHAIN_WARNING if sure else messages.RECOVERY_SESSION_REPLAY_WARNING
    return counted, warning


def _steps_between(snapshots: Snapshots, path: Path, old: Version, digest: str) -> list[SnapshotStep] | None:
    """The edits of ours that made the state with this digest from an old one; None when that is not all there was."""
    steps: list[SnapshotStep] = []
    seen: set[str] = set()
    while digest != old.digest:
        version = snapshots.of_digest(path, digest)
        if version is None or version.step is None or digest in seen:
            return None
        seen.add(digest)
        steps.append(version.step)
        digest = version.step.base
    return steps[::-1]


def _moved(splices: Sequence[Splice], place: Callable[[Splice], _Place | None]) -> list[Splice] | None:
    moved: list[Splice] = []
    for splice in splices:
        found = place(splice)
        if found is None or (moved and found[0] < moved[-1].stop):
            return None
        moved.append(msgspec.structs.replace(splice, start=found[0], stop=found[1]))
    return moved


def _find(splice: Splice, old: Sequence[str], count: int, before: str, now: str) -> _Place | None:
    context = _CONTEXT
    while True:
        low, high = max(0, splice.start - context), min(len(old), splice.stop + context)
        if low == high:
            return None
        window = _searchable(old[low:high])
        in_old, in_new = _occurrences(window, before), _occurrences(window, now)
        if not in_new:
            return None
        if len(in_old) == len(in_new) == 1:
            start = in_new[0] + splice.start - low
            place = start, start + splice.stop - splice.start
            return place if _is_at_end(splice, place, count) else None
        if low == 0 and high == len(old):
            return None
        context *= 2


def _is_at_end(splice: Splice, place: _Place, count: int) -> bool:
    """Whether what is inserted at the head or the tail still is there; true for any other splice."""
    if splice.hunk.verb == "head":
        return place[0] == 0
    return splice.hunk.verb != "tail" or place[1] == count


def _searchable(lines: Sequence[str]) -> str:
    """Each line between line ends, so that looking for lines is looking for text."""
    return "\n" + "".join(f"{line}\n" for line in lines)


def _occurrences(window: str, text: str) -> list[int]:
    """The lines (from 0) at which the window is found; two are enough to know that it is not unique."""
    found: list[int] = []
    place = text.find(window)
    while place >= 0 and len(found) < 2:
        found.append(text.count("\n", 0, place))
        place = text.find(window, place + 1)
    return found


def _count(splice: Splice, steps: Sequence[SnapshotStep]) -> _Place | None:
    start, stop = splice.start, splice.stop
    for step in steps:
        shift = 0
        for low, high, count in step.spans:
            if _disturbs(start, stop, low, high):
                return None
            if high <= start:
                shift += count - (high - low)
        start, stop = start + shift, stop + shift
    return start, stop


def _disturbs(start: int, stop: int, low: int, high: int) -> bool:
    """Whether a step that changed `low..high` changed what a splice of `start..stop` is about."""
    if start == stop:
        return low <= start <= high
    return low < stop and high > start if low < high else start < low < stop
