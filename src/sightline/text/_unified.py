"""A unified diff of two texts: all of it, in bounded time.

Lines end at newlines and nowhere else, so that a carriage return or a form feed is part of its line. Where comparing
what differs would take too long, all of it is shown as removed and all that takes its place as added: that is longer
than need be, and as true.
"""

from collections.abc import Iterator

import msgspec

_PAIRS_COMPARED = 4_000_000  # of lines
_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file"

_Step = tuple[str, int, int, int, int]


class Unified(msgspec.Struct, frozen=True):
    """`text` is empty where nothing differs."""

    text: str = ""
    added: int = 0
    removed: int = 0


def unified_diff(before: str | None, after: str, old_name: str, new_name: str) -> Unified:
    """`before` is None for a new file. An empty one has the lines with its names and no other."""
    old, new = _lines(before or ""), _lines(after)
    steps = [] if old == new and before is not None else _steps(old, new)
    if not steps and before is not None:
        return Unified()
    names = [f"--- {'/dev/null' if before is None else old_name}", f"+++ {new_name}"]
    rows = [row for group in _groups(steps) for row in _hunk(group, old, new)]
    added = sum(end - start for kind, _, _, start, end in steps if kind != "equal")
    removed = sum(end - start for kind, start, end, _, _ in steps if kind != "equal")
    return Unified("\n".join([*names, *rows, ""]), added, removed)


def _lines(text: str) -> list[str]:
    """A last line that does not end has its newline missing as a row below it, which is part of it here."""
    lines = text.split("\n")
    if not lines[-1]:
        return lines[:-1]
    lines[-1] += f"\n{_NO_NEWLINE}"
    return lines


def _steps(old: list[str], new: list[str]) -> list[_Step]:
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - end, len(new) - end
    steps: list[_Step] = [("equal", 0, start, 0, start)] if start else []
    if (old_end - start) * (new_end - start) > _PAIRS_COMPARED:
        steps.append(("replace", start, old_end, start, new_end))
    elif old_end > start and new_end > start:
        from difflib import SequenceMatcher

        middle = SequenceMatcher(None, old[start:old_end], new[start:new_end]).get_opcodes()
        steps += [(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in middle]
    elif old_end > start or new_end > start:
        steps.append(("replace", start, old_end, start, new_end))
    if end:
        steps.append(("equal", old_end, len(old), new_end, len(new)))
    return steps


def changed_spans(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """Where two lists of lines differ: start and end in the old one, start and end in the new one."""
    return [(a, b, c, d) for kind, a, b, c, d in _steps(old, new) if kind != "equal"]


def common_start(left: list[str], right: list[str]) -> int:
    """How many items both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _groups(steps: list[_Step]) -> Iterator[list[_Step]]:
    """Changes with the lines around them, those whose surroundings touch together."""
    group: list[_Step] = []
    for kind, a, b, c, d in steps:
        if kind == "equal" and group and b - a > 2 * _CONTEXT:
            yield [*group, ("equal", a, a + _CONTEXT, c, c + _CONTEXT)]
            group = [("equal", b - _CONTEXT, b, d - _CONTEXT, d)]
        elif kind == "equal" and not group:
            skipped = max(b - a - _CONTEXT, 0)
            group = [("equal", a + skipped, b, c + skipped, d)]
        else:
            group.append((kind, a, b, c, d))
    if group and group[-1][0] == "equal":
        _, a, b, c, d = group.pop()
        shown = min(b - a, _CONTEXT)
        group.append(("equal", a, a + shown, c, c + shown))
    if any(kind != "equal" for kind, *_ in group):
        yield group


def _hunk(group: list[_Step], old: list[str], new: list[str]) -> Iterator[str]:
    _, a, _, c, _ = group[0]
    _, _, b, _, d = group[-1]
    yield f"@@ -{_range(a, b)} +{_range(c, d)} @@"
    for kind, old_from, old_to, new_from, new_to in group:
        if kind == "equal":
            yield from (f" {line}" for line in old[old_from:old_to])
        else:
            yield from (f"-{line}" for line in old[old_from:old_to])
            yield from (f"+{line}" for line in new[new_from:new_to])


def _range(start: int, end: int) -> str:
    size = end - start
    return f"{start + 1 if size else start},{size}"
