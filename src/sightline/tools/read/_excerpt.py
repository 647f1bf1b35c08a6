"""Some lines of a text: which are selected, how much of them is shown, and what was left out."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from sightline.tools._truncation import MAX_BYTES, MAX_LINES, character_start, cut_end
from sightline.tools.files._selectors import LineRange, Selector, merge_ranges

LINES_BEFORE = 1
LINES_AFTER = 3
BYTES_PER_LINE = 512  # of the budget of a read, for each line it may show
MOST_BYTES = 128 * 1024  # of any read, numbers included: longer results are cut, and the note at their end with them
LONGEST_LINE = 16 * 1024  # shown of one line; raw, as much as a read may show


class ExcerptPlan(msgspec.Struct, frozen=True, kw_only=True):
    """`requested`: the selected lines; `ranges`: those and the lines around them, sorted, not touching."""

    requested: tuple[LineRange, ...]
    ranges: tuple[LineRange, ...]
    max_lines: int
    max_bytes: int
    longest_line: int
    raw: bool = False  # carriage returns stay


class Excerpt(msgspec.Struct, kw_only=True):
    """What was read. `total_lines` is None when the end was too far away to be counted."""

    lines: dict[int, str]
    total_lines: int | None
    total_bytes: int
    cut_by: Literal["lines", "bytes"] | None  # the limit that ended it before the ranges did
    long_lines: dict[int, int]  # lines shown in part, and their whole size in bytes
    garbled: bool  # some bytes are not UTF-8 and shown as replacement characters

    def spans(self) -> list[tuple[int, int]]:
        """The lines there are, as first and last of each piece."""
        found: list[tuple[int, int]] = []
        for number in self.lines:
            if found and found[-1][1] == number - 1:
                found[-1] = (found[-1][0], number)
            else:
                found.append((number, number))
        return found


def plan_excerpt(selector: Selector | None, *, default_limit: int) -> ExcerptPlan:
    """Lines around an explicit range are shown too, on the sides it has an end on. Raw means exactly these lines."""
    raw = selector is not None and selector.raw
    requested = (selector.ranges if selector else ()) or (LineRange(1),)
    ranges = requested if raw else merge_ranges(_with_context(one) for one in requested)
    limit = _line_limit(ranges, min(default_limit, MAX_LINES))
    max_bytes = min(max(MAX_BYTES, limit * BYTES_PER_LINE), MOST_BYTES)
    longest = max_bytes if raw else LONGEST_LINE
    return ExcerptPlan(
        requested=requested, ranges=ranges, max_lines=limit, max_bytes=max_bytes, longest_line=longest, raw=raw
    )


def _with_context(one: LineRange) -> LineRange:
    return LineRange(max(1, one.first - LINES_BEFORE), None if one.last is None else one.last + LINES_AFTER)


def _line_limit(ranges: Sequence[LineRange], default_limit: int) -> int:
    """Bounded ranges as far as any read goes; an open one for as many lines as a read without a selector shows."""
    bounded = sum(one.last - one.first + 1 for one in ranges if one.last is not None)
    opened = 0 if ranges[-1].last is not None else default_limit + (ranges[-1].first > 1)
    return min(MAX_LINES, bounded + opened)


class ExcerptCollector:
    """Takes selected lines, in order, until it has as many as it may."""

    def __init__(self, plan: ExcerptPlan) -> None:
        self._plan = plan
        self._bytes = 0
        self.lines: dict[int, str] = {}
        self.long_lines: dict[int, int] = {}
        self.garbled = False
        self.cut_by: Literal["lines", "bytes"] | None = None

    @property
    def full(self) -> bool:
        """Checked when there is one more line: then the lines end here because no more are shown."""
        if len(self.lines) == self._plan.max_lines:
            self.cut_by = "lines"
        return self.cut_by is not None

    def add(self, number: int, line: bytes, size: int) -> bool:
        """A line, of which at least as much as is shown is given. False when it was too much."""
        if self.full:
            return False
        longest = self._plan.longest_line
        if size > longest:
            line = line[: character_start(line, longest)]
        size_shown = len(line) + (1 if self._plan.raw else len(f"{number}:\n"))
        if self.lines and self._bytes + size_shown > self._plan.max_bytes:
            self.cut_by = "bytes"
            return False
        if size > longest:
            self.long_lines[number] = size
        self._bytes += size_shown
        self.lines[number] = self._decoded(line) if size <= longest else cut_end(self._decoded(line))
        return True

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.garbled = True
            return line.decode("utf-8", "replace")

    def excerpt(self, total_lines: int | None, total_bytes: int) -> Excerpt:
        return Excerpt(
            lines=self.lines,
            total_lines=total_lines,
            total_bytes=total_bytes,
            cut_by=self.cut_by,
            long_lines=self.long_lines,
            garbled=self.garbled,
        )


def excerpt_of(lines: Sequence[str], plan: ExcerptPlan, total_bytes: int) -> Excerpt:
    """From a text in memory."""
    collector = ExcerptCollector(plan)
    for one in plan.ranges:
        last = len(lines) if one.last is None else min(one.last, len(lines))
        for number in range(one.first, last + 1):
            data = lines[number - 1].encode("utf-8", "replace")
            if not collector.add(number, data, len(data)):
                return collector.excerpt(len(lines), total_bytes)
    return collector.excerpt(len(lines), total_bytes)
