"""Moving an edit to a file that is no longer in the state its tag names.

Rules:

- Nothing is guessed. An edit is moved only when where it belongs can be proved; otherwise the mismatch is reported.
- By its surroundings: a splice's lines and three lines on each side must be there unchanged, once in the old state and
  once in the new. Where they are there more often, more of the surroundings is taken until they are there once.
- The start and the end of a file count as surroundings for what is inserted there.
- By our own edits: when every step from the old state to the new is an edit of this session, line numbers are counted
  through the steps. Lines a step replaced cannot be followed, nor a place at which a step inserted or replaced
  something: the same insertion sent twice is not made twice.
- Splices keep their order, and none moves into another.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from sightline.tools.hashline import _messages as messages
from sightline.tools.hashline._apply import Splice
from sightline.tools.hashline._snapshots import Snapshots, SnapshotStep, Version

_CONTEXT = 3

Place = tuple[int, int]


class Recovered(msgspec.Struct, frozen=True):
    splices: list[Splice]
    warning: str


def recover(
    splices: Sequence[Splice], old: Sequence[str], new: Sequence[str], steps: Sequence[SnapshotStep] | None
) -> Recovered | None:
    """`steps` lead from old to new; None when someone else changed the file."""
    before, now = _searchable(old), _searchable(new)
    found = _moved(splices, lambda splice: _find(splice, old, len(new), before, now))
    if steps is None:
        return None if found is None else Recovered(found, messages.RECOVERY_EXTERNAL_WARNING)
    counted = _moved(splices, lambda splice: _count(splice, steps))
    if counted is None:
        return None
    sure = found == counted
    warning = messages.RECOVERY_SESSION_CHAIN_WARNING if sure else messages.RECOVERY_SESSION_REPLAY_WARNING
    return Recovered(counted, warning)


def steps_between(snapshots: Snapshots, path: Path, old: Version, digest: str) -> list[SnapshotStep] | None:
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


def _moved(splices: Sequence[Splice], place: Callable[[Splice], Place | None]) -> list[Splice] | None:
    moved: list[Splice] = []
    for splice in splices:
        found = place(splice)
        if found is None or (moved and found[0] < moved[-1].stop):
            return None
        moved.append(msgspec.structs.replace(splice, start=found[0], stop=found[1]))
    return moved


def _find(splice: Splice, old: Sequence[str], count: int, before: str, now: str) -> Place | None:
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
            return place if _keeps_end(splice, place, count) else None
        if low == 0 and high == len(old):
            return None
        context *= 2


def _keeps_end(splice: Splice, place: Place, count: int) -> bool:
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


def _count(splice: Splice, steps: Sequence[SnapshotStep]) -> Place | None:
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
