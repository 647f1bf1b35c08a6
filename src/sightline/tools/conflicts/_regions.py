"""Conflict regions as Git leaves them in a file, with two sides or (diff3) with what both came from.

<<<<<<< ours          A marker is exactly seven characters at the start of a line, alone or followed by a space and
||||||| base          a name. Longer ones (merges inside the base) belong to the content. A region that is not
=======               closed, or whose markers come in another order, is no region.
>>>>>>> theirs
"""

import re

import msgspec

_MARKER = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: (.*))?")


class Region(msgspec.Struct, frozen=True):
    """One conflict: where it is (both lines are markers, counted from 1) and the lines of each side, ends included."""

    first: int
    last: int
    lines: tuple[str, ...]  # all of it, markers included
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    base: tuple[str, ...] | None
    ours_name: str
    theirs_name: str
    base_name: str

    @property
    def text(self) -> str:
        return "".join(self.lines)

    @property
    def line_end(self) -> str:
        return "\r\n" if self.lines[0].endswith("\r\n") else "\n"


def readable(text: str) -> str:
    """Without the escapes that stand for bytes that are no text: as a reader sees them."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def split_lines(text: str) -> list[str]:
    """Lines with their ends. Only a line feed ends a line: other separators are content."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def find_regions(text: str) -> list[Region]:
    if "<<<<<<<" not in text:
        return []
    lines = split_lines(text)
    found: list[Region] = []
    marks: list[tuple[str, int, str]] = []
    for index, line in enumerate(lines):
        match = _MARKER.fullmatch(line.rstrip("\r\n"))
        if match is None:
            continue
        kind = match[1][0]
        if kind == "<":
            marks = [("<", index, match[2] or "")]
        elif _fits(kind, marks):
            marks.append((kind, index, match[2] or ""))
            if kind == ">":
                found.append(_region(lines, marks))
                marks = []
    return found


def _fits(kind: str, marks: list[tuple[str, int, str]]) -> bool:
    """Whether a marker can follow those so far. One that cannot is content: a heading's underline, for one."""
    order = "".join(mark[0] for mark in marks)
    return (order, kind) in {("<", "|"), ("<", "="), ("<|", "="), ("<=", ">"), ("<|=", ">")}


def _region(lines: list[str], marks: list[tuple[str, int, str]]) -> Region:
    at = {kind: index for kind, index, _ in marks}
    names = {kind: name for kind, _, name in marks}
    ours_end = at.get("|", at["="])
    return Region(
        first=at["<"] + 1,
        last=at[">"] + 1,
        lines=tuple(lines[at["<"] : at[">"] + 1]),
        ours=tuple(lines[at["<"] + 1 : ours_end]),
        theirs=tuple(lines[at["="] + 1 : at[">"]]),
        base=tuple(lines[at["|"] + 1 : at["="]]) if "|" in at else None,
        ours_name=names["<"],
        theirs_name=names[">"],
        base_name=names.get("|", ""),
    )
