"""What an edit changed, for people (a unified diff) and for the model (few rows with the new line numbers)."""

from collections.abc import Iterator, Sequence
from itertools import islice

from sightline.tools.hashline._apply import LineChange
from sightline.tools.hashline._messages import clip

_UNIFIED_CONTEXT = 3
_COMPACT_CONTEXT = 2
_COMPACT_RUN = 8  # rows of one run of added or removed lines; of a longer one its ends are shown
_COMPACT_ENDS = 3
COMPACT_ROWS = 120  # a preview longer than this is none
COMPACT_WIDTH = 240  # characters of a line


def unified(path: str, before: Sequence[str], changes: Sequence[LineChange], *, created: bool = False) -> str:
    """A unified diff, "" when there is no change."""
    if not changes:
        return ""
    rows = ["--- /dev/null" if created else f"--- a/{path}", f"+++ b/{path}"]
    for group in _grouped(changes, _UNIFIED_CONTEXT):
        rows += _unified_hunk(before, group)
    return "\n".join(rows) + "\n"


def _grouped(changes: Sequence[LineChange], context: int) -> Iterator[list[LineChange]]:
    """Changes whose surroundings touch, together."""
    group: list[LineChange] = []
    for change in changes:
        if group and change.before_at - _end(group[-1]) > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _end(change: LineChange) -> int:
    return change.before_at + len(change.before)


def _unified_hunk(before: Sequence[str], group: list[LineChange]) -> Iterator[str]:
    low = max(0, group[0].before_at - _UNIFIED_CONTEXT)
    high = min(len(before), _end(group[-1]) + _UNIFIED_CONTEXT)
    new_low = low + group[0].after_at - group[0].before_at
    new_count = high - low + sum(len(change.after) - len(change.before) for change in group)
    yield f"@@ -{_span(low, high - low)} +{_span(new_low, new_count)} @@"
    place = low
    for change in group:
        yield from (f" {line}" for line in before[place : change.before_at])
        yield from (f"-{line}" for line in change.before)
        yield from (f"+{line}" for line in change.after)
        place = _end(change)
    yield from (f" {line}" for line in before[place:high])


def _span(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def compact(before: Sequence[str], changes: Sequence[LineChange]) -> str:
    """Rows ` N:TEXT`, `-N:TEXT` (old number) and `+N:TEXT` (new number); "" when there would be too many."""
    rows = list(islice(compact_rows(before, changes, _COMPACT_RUN), COMPACT_ROWS + 1))
    return "\n".join(rows) if len(rows) <= COMPACT_ROWS else ""


def compact_rows(before: Sequence[str], changes: Sequence[LineChange], longest: int) -> Iterator[str]:
    """All the rows; of a run of more than `longest` added or removed lines only its ends."""
    for number, group in enumerate(_grouped(changes, _COMPACT_CONTEXT)):
        if number:
            yield "..."
        yield from _compact_group(before, group, longest)


def _compact_group(before: Sequence[str], group: list[LineChange], longest: int) -> Iterator[str]:
    place = max(0, group[0].before_at - _COMPACT_CONTEXT)
    shift = 0
    for change in group:
        shift = change.after_at - change.before_at
        yield from _rows(" ", before[place : change.before_at], place + shift, longest)
        yield from _rows("-", change.before, change.before_at, longest)
        yield from _rows("+", change.after, change.after_at, longest)
        place = _end(change)
        shift += len(change.after) - len(change.before)
    yield from _rows(" ", before[place : place + _COMPACT_CONTEXT], place + shift, longest)


def _rows(mark: str, lines: Sequence[str], start: int, longest: int) -> Iterator[str]:
    for index, line in enumerate(lines):
        if len(lines) <= longest or not _COMPACT_ENDS <= index < len(lines) - _COMPACT_ENDS:
            yield f"{mark}{start + index + 1}:{clip(line, COMPACT_WIDTH)}"
        elif index == _COMPACT_ENDS:
            yield f"{mark}... {len(lines) - 2 * _COMPACT_ENDS} more lines"
