"""The lines around a place of a file, as a part of a diff: what changed there, in what did not.

A place is a line's number after the change; of a file that is gone, its number before. What stands between two hunks is
the same before and after, so it is read from the file as it was.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sightline.text import cut_graphemes
from sightline.working_copies.change._diff import DiffHunk, FileDiff

_AROUND = 4  # lines before and after
_LINES_AT_MOST = 24
_LINE_AT_MOST = 240  # characters

BaseLines = Callable[[], list[str]]


class _Line(NamedTuple):
    sign: str
    old: int
    new: int
    text: str


def lines_around(file: FileDiff | None, base: BaseLines, first: int, last: int) -> str:
    """Empty where there is no such place. `base`: the file as it was."""
    hunks = () if file is None else file.hunks
    is_gone = file is not None and not file.paths[1]
    if not first:
        first = last = _first_change(hunks, is_gone=is_gone)
    if not first:
        return ""
    start, end = max(first - _AROUND, 1), min(max(first, last), first + _LINES_AT_MOST) + _AROUND
    found: list[_Line] = []
    for line in _all(hunks, base, start, end):
        number = line.old if is_gone else line.new
        if start <= number <= end and len(found) < _LINES_AT_MOST:
            found.append(line)
    return "\n".join(_parts(found))


def _first_change(hunks: tuple[DiffHunk, ...], *, is_gone: bool) -> int:
    for hunk in hunks[:1]:
        number = hunk.old if is_gone else hunk.new
        for line in hunk.lines:
            if line[:1] != " ":
                return number
            number += 1
    return 0


def _all(hunks: tuple[DiffHunk, ...], base: BaseLines, start: int, end: int) -> Iterator[_Line]:
    """Of the file, from its beginning; what does not change is left out where it is far from the place."""
    old = new = 1
    for hunk in hunks:
        yield from _same(base, old, new, min(hunk.new, end + 1), start)
        if hunk.new > end and hunk.old > end:
            return
        yield from _changed(hunk)
        old, new = hunk.old_end, hunk.new_end
    yield from _same(base, old, new, end + 1, start)


def _same(base: BaseLines, old: int, new: int, until: int, start: int) -> Iterator[_Line]:
    """Lines from `new` on, up to but without `until`."""
    numbers = range(max(new, start), until)
    lines = base() if numbers else []
    for number in numbers:
        at = number - new + old
        if at > len(lines) or (at == len(lines) and not lines[-1]):
            return
        yield _Line(" ", at, number, lines[at - 1])


def _changed(hunk: DiffHunk) -> Iterator[_Line]:
    old, new = hunk.old, hunk.new
    for line in hunk.lines:
        sign = line[:1]
        if sign in (" ", "+", "-"):
            yield _Line(sign, old, new, line[1:])
            old += sign != "+"
            new += sign != "-"


def _parts(lines: list[_Line]) -> Iterator[str]:
    """Each run of lines that follow each other, below a header with their numbers."""
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _follows(lines[end - 1], lines[end]):
            end += 1
        run = lines[at:end]
        counts = [sum(line.sign != other for line in run) for other in "+-"]
        yield f"@@ -{run[0].old},{counts[0]} +{run[0].new},{counts[1]} @@"
        yield from (f"{line.sign}{cut_graphemes(line.text, _LINE_AT_MOST)}" for line in run)
        at = end


def _follows(line: _Line, after: _Line) -> bool:
    return (after.old, after.new) == (line.old + (line.sign != "+"), line.new + (line.sign != "-"))
