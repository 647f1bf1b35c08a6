"""Where vim's motions and text objects lead.

A motion is exclusive (up to its target), inclusive (with the cluster there) or linewise (whole lines).
"""

import re
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._clusters import floor, is_marker
from sightline.tty.components.editor._undo import Position
from sightline.tty.components.editor._words import is_word

Reach = Literal["exclusive", "inclusive", "linewise"]
Find = tuple[str, str]  # one of f F t T, and the character to find


class MotionTarget(msgspec.Struct, frozen=True):
    """Where a motion leads, and what of the way an operator takes."""

    position: Position
    reach: Reach = "exclusive"


def _kind(buffer: Buffer, at: Position, *, big: bool) -> int:
    """0 for blanks and line ends, else one number for what belongs together in a word."""
    line = buffer.lines[at[0]]
    if at[1] >= len(line) or line[at[1]].isspace():
        return 0
    if is_marker(line[at[1]]):
        return 4 + at[1]
    return 1 if big or is_word(line[at[1]]) else 2


def _empty_line(buffer: Buffer, at: Position) -> bool:
    return not buffer.lines[at[0]]


def word_forward(buffer: Buffer, at: Position, *, big: bool) -> Position:
    start, kind = at, _kind(buffer, at, big=big)
    while kind and _kind(buffer, at, big=big) == kind and at[0] == start[0]:
        at = buffer.right_of(at)
    while at != buffer.end and not _kind(buffer, at, big=big):
        if _empty_line(buffer, at) and at != start:
            break
        at = buffer.right_of(at)
    return at


def word_backward(buffer: Buffer, at: Position, *, big: bool) -> Position:
    at = buffer.left_of(at)
    while at != (0, 0) and not _kind(buffer, at, big=big) and not _empty_line(buffer, at):
        at = buffer.left_of(at)
    kind = _kind(buffer, at, big=big)
    while kind and at[1] > 0 and _kind(buffer, buffer.left_of(at), big=big) == kind:
        at = buffer.left_of(at)
    return at


def word_end(buffer: Buffer, at: Position, *, big: bool) -> Position:
    at = buffer.right_of(at)
    while at != buffer.end and not _kind(buffer, at, big=big):
        at = buffer.right_of(at)
    kind = _kind(buffer, at, big=big)
    while kind and (following := buffer.right_of(at))[0] == at[0] and _kind(buffer, following, big=big) == kind:
        at = following
    return at


def first_letter(buffer: Buffer, line: int) -> Position:
    text = buffer.lines[line]
    return line, len(text) - len(text.lstrip())


def find(buffer: Buffer, at: Position, search: Find, count: int) -> Position | None:
    """The count-th occurrence in the line; for t and T the place on this side of it."""
    how, letter = search
    line, column = at
    text = buffer.lines[line]
    found = column
    for _ in range(count):
        found = _next(text, letter, found) if how in "ft" else _last(text, letter, found)
        if found < 0:
            return None
    if how == "t":
        return buffer.left_of((line, found))
    return buffer.right_of((line, found)) if how == "T" else (line, found)


def _next(text: str, letter: str, at: int) -> int:
    found = text.find(letter, at + 1)
    while found >= 0 and floor(text, found) != found:
        found = text.find(letter, found + 1)
    return found


def _last(text: str, letter: str, at: int) -> int:
    found = text.rfind(letter, 0, at)
    while found >= 0 and floor(text, found) != found:
        found = text.rfind(letter, 0, found)
    return found


def _repeated(step: Callable[[Buffer, Position], Position], buffer: Buffer, count: int) -> Position:
    at = buffer.cursor
    for _ in range(count):
        further = step(buffer, at)
        if further == at:
            break
        at = further
    return at


def motion(buffer: Buffer, name: str, count: int | None) -> MotionTarget | None:
    """Where a motion without an argument leads; None for one that is none."""
    line, column = buffer.cursor
    times, last = count or 1, len(buffer.lines) - 1
    big = name in "WBE"
    match name:
        case "h":
            return MotionTarget(_repeated(lambda b, at: b.left_of(at) if at[1] else at, buffer, times))
        case "l":
            return MotionTarget(
                _repeated(lambda b, at: b.right_of(at) if at[1] < len(b.lines[at[0]]) else at, buffer, times)
            )
        case "w" | "W":
            return MotionTarget(_repeated(lambda b, at: word_forward(b, at, big=big), buffer, times))
        case "b" | "B":
            return MotionTarget(_repeated(lambda b, at: word_backward(b, at, big=big), buffer, times))
        case "e" | "E":
            return MotionTarget(_repeated(lambda b, at: word_end(b, at, big=big), buffer, times), "inclusive")
        case "0":
            return MotionTarget((line, 0))
        case "^":
            return MotionTarget(first_letter(buffer, line))
        case "$":
            to = min(last, line + times - 1)
            return MotionTarget((to, len(buffer.lines[to])))
        case "gg":
            return MotionTarget(first_letter(buffer, min(last, times - 1)), "linewise")
        case "G":
            return MotionTarget(first_letter(buffer, last if count is None else min(last, times - 1)), "linewise")
        case "j":
            return MotionTarget((min(last, line + times), column), "linewise") if line < last else None
        case "k":
            return MotionTarget((max(0, line - times), column), "linewise") if line > 0 else None
    raise ValueError(f"no motion: {name!r}")


_PAIRS = {"(": "()", ")": "()", "b": "()", "[": "[]", "]": "[]", "{": "{}", "}": "{}", "B": "{}", "<": "<>", ">": "<>"}


def text_object(buffer: Buffer, name: str) -> tuple[Position, Position] | None:
    """What a text object (`iw`, `a"`, `i(`) covers around the cursor."""
    around, what = name[0] == "a", name[1]
    if what in "wW":
        return _word_object(buffer, big=what == "W", around=around)
    if what in "\"'`":
        return _quoted(buffer, what, around=around)
    return _enclosed(buffer, _PAIRS[what], around=around)


def _word_object(buffer: Buffer, *, big: bool, around: bool) -> tuple[Position, Position] | None:
    line, column = buffer.cursor
    text = buffer.lines[line]
    if not text:
        return None
    kind = _kind(buffer, (line, column), big=big)
    start = end = column
    while start > 0 and _kind(buffer, (line, start - 1), big=big) == kind:
        start -= 1
    while end < len(text) and _kind(buffer, (line, end), big=big) == kind:
        end += 1
    if around:
        blanks = len(text[end:]) - len(text[end:].lstrip())
        start -= 0 if blanks else len(text[:start]) - len(text[:start].rstrip())
        end += blanks
    return (line, floor(text, start)), (line, end)


def _quoted(buffer: Buffer, quote: str, *, around: bool) -> tuple[Position, Position] | None:
    line, column = buffer.cursor
    escaped = re.escape(quote)
    for match in re.finditer(rf"{escaped}(?:\\.|[^{escaped}\\])*{escaped}", buffer.lines[line]):
        if column < match.end():
            inside = 0 if around else 1
            return (line, match.start() + inside), (line, match.end() - inside)
    return None


def _enclosed(buffer: Buffer, pair: str, *, around: bool) -> tuple[Position, Position] | None:
    opening = _unmatched(buffer, pair, forward=False)
    closing = _unmatched(buffer, pair, forward=True)
    if opening is None or closing is None:
        return None
    if around:
        return opening, buffer.right_of(closing)
    return buffer.right_of(opening), closing


def _unmatched(buffer: Buffer, pair: str, *, forward: bool) -> Position | None:
    """The bracket around the cursor on one side; the one under the cursor counts."""
    sought = pair[1] if forward else pair[0]
    depth = 0
    for at, bracket in _brackets(buffer, pair, forward=forward):
        if bracket != sought:
            depth += at != buffer.cursor
        elif depth == 0:
            return at
        else:
            depth -= 1
    return None


def _brackets(buffer: Buffer, pair: str, *, forward: bool) -> Iterator[tuple[Position, str]]:
    """The brackets from the cursor on, its own included, in the order one comes by them."""
    line, column = buffer.cursor
    for number in range(line, len(buffer.lines)) if forward else range(line, -1, -1):
        found = re.finditer(f"[{re.escape(pair)}]", buffer.lines[number])
        for match in found if forward else reversed(list(found)):
            at = (number, match.start())
            if number != line or (at[1] >= column if forward else at[1] <= column):
                yield at, match.group()
