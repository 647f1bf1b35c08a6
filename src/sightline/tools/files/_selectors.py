"""What follows the last colon of a path: which lines, and how they are shown.

    :raw  :conflicts
    :N  :N-  from line N on           :A-B  these lines, both included          :A+C  C lines from A on
    :R1,R2,…  several of these, sorted and merged                               :R:raw  :raw:R  both

Line numbers count from 1 and may be written with an L (`:L10-L20`). Anything else after a colon is part of the path:
archives and databases have a syntax of their own there.
"""

import re
from collections.abc import Iterable

import msgspec

from sightline.tools._tool import ToolError

_CHUNK = re.compile(r"[Ll]?([0-9]{1,15})(?:([-+])(?:[Ll]?([0-9]{1,15}))?)?")


class LineRange(msgspec.Struct, frozen=True, order=True):
    """Lines from `first` to `last`, both included; no `last` means the end, wherever that is."""

    first: int
    last: int | None = None

    def __contains__(self, line: int) -> bool:
        return self.first <= line and (self.last is None or line <= self.last)


class Selector(msgspec.Struct, frozen=True, kw_only=True):
    """Sorted ranges that do not touch (none: all lines), raw or not, or only the unresolved merge conflicts."""

    ranges: tuple[LineRange, ...] = ()
    raw: bool = False
    conflicts: bool = False


def split_selector(path: str) -> tuple[str, Selector | None]:
    """A path without its selector, and the selector; None when there is none. ToolError when its numbers are wrong."""
    base, colon, last = path.rpartition(":")
    if not colon or not base:
        return path, None
    if last.lower() == "conflicts":
        return base, Selector(conflicts=True)
    if last.lower() == "raw":
        ranges, rest = _ranges_at_the_end(base)
        return (base, Selector(raw=True)) if ranges is None else (rest, Selector(ranges=ranges, raw=True))
    found = parse_ranges(last)
    if found is None:
        return path, None
    if base.lower().endswith(":raw") and len(base) > len(":raw"):
        return base[: -len(":raw")], Selector(ranges=found, raw=True)
    return base, Selector(ranges=found)


def _ranges_at_the_end(path: str) -> tuple[tuple[LineRange, ...] | None, str]:
    rest, colon, last = path.rpartition(":")
    return (parse_ranges(last), rest) if colon and rest else (None, path)


def parse_ranges(text: str) -> tuple[LineRange, ...] | None:
    """`5-16,960-973`, sorted and merged; None when it is not of that form, ToolError when its numbers are wrong."""
    matches = [_CHUNK.fullmatch(chunk) for chunk in text.split(",")]
    if not all(matches):
        return None
    return merge_ranges(_range(match) for match in matches if match)


def merge_ranges(ranges: Iterable[LineRange]) -> tuple[LineRange, ...]:
    """In order, with those that overlap or follow each other made one."""
    merged: list[LineRange] = []
    for one in sorted(ranges, key=lambda range_: range_.first):
        before = merged[-1] if merged else None
        if before is None or (before.last is not None and one.first > before.last + 1):
            merged.append(one)
        elif before.last is not None and (one.last is None or one.last > before.last):
            merged[-1] = LineRange(before.first, one.last)
    return tuple(merged)


def _range(match: re.Match[str]) -> LineRange:
    first, sign, second = int(match[1]), match[2], match[3]
    if first < 1:
        raise ToolError("Line selector 0 is invalid; lines are 1-indexed. Use :1.")
    if sign == "+":
        if second is None or int(second) < 1:
            raise ToolError(f"Line selector {match[0]} is invalid: a count after + is at least 1. Use :{first}+1.")
        return LineRange(first, first + int(second) - 1)
    if second is None:
        return LineRange(first)
    if int(second) < first:
        raise ToolError(f"Line selector {match[0]} is invalid: it ends before it starts. Use :{first}-{first}.")
    return LineRange(first, int(second))
