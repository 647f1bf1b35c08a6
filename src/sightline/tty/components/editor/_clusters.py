"""Where a cursor may stand in a line: between grapheme clusters, and never inside a marker.

A marker stands for a folded paste and is one character of U+DC00 to U+DFFF. Cleaned text holds no surrogates, so
nothing a person types or pastes can be taken for one, and a marker cannot be cut in two.

Boundaries are found from the neighbourhood of a position, so that a key costs the same in a line of a megabyte.
"""

import re
from collections.abc import Iterator

from sightline.tty.cells._cells import NARROW, WIDE, clusters, width_of

FIRST_MARKER, LAST_MARKER = 0xDC00, 0xDFFF
MARKER = re.compile("[\udc00-\udfff]")
_alone = re.compile("[\t\udc00-\udfff]").search
_pieces = re.compile("[\t\udc00-\udfff]|[^\t\udc00-\udfff]+").findall

# Between two of these there is always a boundary: none of them extends, joins or begins a cluster of more than itself.
_PLAIN = f"\t{NARROW}{WIDE}\udc00-\udfff\U0001f300-\U0001f3fa\U0001f400-\U0001f64f\U0001f900-\U0001f9ff"
_two_plain = re.compile(f"[{_PLAIN}]{{2}}").match
_LOOKED_BACK = 4096
_WINDOW = 64
_CHUNK = 1024


def is_marker(cluster: str) -> bool:
    return len(cluster) == 1 and "\udc00" <= cluster <= "\udfff"


def units(text: str) -> Iterator[tuple[str, int]]:
    """The clusters of a text with their cells; tabs and markers stand alone, and have none of their own."""
    for piece in (text,) if _alone(text) is None else _pieces(text):
        if is_marker(piece) or piece == "\t":
            yield piece, 0
        else:
            yield from ((cluster, width_of(cluster)) for cluster in clusters(piece))


def units_from(line: str, at: int) -> Iterator[tuple[str, int]]:
    """The clusters from a boundary on, found one by one."""
    while at < len(line):
        end = _sure_boundary(line, at + _CHUNK) if at + _CHUNK < len(line) else len(line)
        end = end if end > at else len(line)
        yield from units(line[at:end])
        at = end


def after(line: str, at: int) -> int:
    """The boundary after the one at `at`; the end of the line stays."""
    if at + 1 >= len(line):
        return len(line)
    if _two_plain(line, at):
        return at + 1
    size = _WINDOW
    while True:
        length = len(next(units(line[at : at + size]))[0])
        if length < size or at + size >= len(line):
            return at + length
        size *= 2


def before(line: str, at: int) -> int:
    """The boundary before the one at `at`; the beginning of the line stays."""
    if at <= 1:
        return 0
    if _two_plain(line, at - 2):
        return at - 1
    start = _sure_boundary(line, at - 1)
    *_, (last, _) = units(line[start:at])
    return at - len(last)


def ceiling(line: str, at: int) -> int:
    """The boundary at `at`, or the first after it."""
    if at >= len(line):
        return len(line)
    position = _sure_boundary(line, at)
    while position < at:
        position = after(line, position)
    return position


def floor(line: str, at: int) -> int:
    """The boundary at `at`, or the last before it."""
    position = ceiling(line, at)
    return position if position == at else before(line, position)


def _sure_boundary(line: str, at: int) -> int:
    """The nearest position at or before `at` that is a boundary whatever comes before it."""
    lowest = max(0, at - _LOOKED_BACK)
    while at > lowest:
        if _two_plain(line, at - 1):
            return at
        at -= 1
    return 0
