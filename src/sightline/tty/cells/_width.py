"""How many cells text takes: the one model for measuring, cutting, wrapping.

The width of a text is the sum over its grapheme clusters (`_cells`); SGR, links and the cursor mark take no cell and
are carried along (`_marks`). Text that was not cleaned is treated as if it had been: controls take no cell and do not
come out again. Nothing here raises, whatever the text and however small the width.
"""

from collections.abc import Iterator

from sightline.tty.cells._cells import cells, clusters, prefix_within, width_of
from sightline.tty.cells._marks import Weaver, split, strip_marks, substitute
from sightline.tty.cells._pin import doubtful, is_doubtful, pin
from sightline.tty.cells._wrap import wrap

__all__ = [
    "doubtful",
    "expand_tabs",
    "graphemes",
    "is_doubtful",
    "measure",
    "pad",
    "pin",
    "slice_columns",
    "truncate",
    "wrap",
]


def measure(text: str) -> int:
    """Cells of one row; SGR and links take none."""
    if text.isprintable():
        return len(text) if text.isascii() else cells(text)
    plain = strip_marks(text)
    return len(plain) if plain.isascii() else cells(plain)


def graphemes(text: str) -> Iterator[tuple[str, int]]:
    """Grapheme clusters of plain text with their cells."""
    for cluster in clusters(strip_marks(text)):
        yield cluster, width_of(cluster)


def truncate(text: str, width: int, ellipsis: str = "…") -> str:
    """At most `width` cells; what is cut is marked."""
    if text.isascii() and text[: width + 1].isprintable() and width > 0:
        # Whatever follows the first cells is cut, so that it need not even be looked at.
        if len(text) <= width:
            return text
        if ellipsis == "…":
            return text[: width - 1] + "…"
    if width <= 0:
        return ""
    plain, marks, intact = split(text)
    room = width - measure(ellipsis)
    if room < 0:
        ellipsis, room = slice_columns(ellipsis, 0, width), 0
    end = prefix_within(plain, width, room)
    if end < len(plain):
        return Weaver(plain, marks).piece(0, end, ellipsis)
    if intact and Weaver(plain, marks).ends_plain():
        return text
    return Weaver(plain, marks).piece(0, end + 1)


def slice_columns(text: str, start: int, end: int) -> str:
    """The cells from `start` to before `end`, in the style they had. Half a wide character is a space.

    What takes no cell belongs to the cell before it, so that consecutive slices share nothing and lose nothing.
    """
    start = max(0, start)
    if end <= start:
        return ""
    if text.isascii() and text[:end].isprintable():
        return text[start:end]
    plain, marks, _ = split(text)
    first, last, halves = _range_of(plain, start, end)
    for at, stop, blanks in reversed(halves):
        plain, marks = substitute(plain, marks, at, stop, " " * blanks)
        last += blanks - (stop - at)
    weaver = Weaver(plain, marks)
    if first:
        weaver.skip(first - 1)
    return weaver.piece(first, last) if first < last else ""


def _range_of(plain: str, start: int, end: int) -> tuple[int, int, list[tuple[int, int, int]]]:
    """The offsets that hold the columns, and which clusters are cut at their edges: (from, to, cells inside)."""
    column = at = 0
    first, last = -1, 0
    halves: list[tuple[int, int, int]] = []
    for cluster in clusters(plain):
        width = width_of(cluster)
        stop, after = at + len(cluster), column + width
        if column >= end and (width or column > end):
            break
        inside = min(after, end) - max(column, start)
        if inside > 0 or (not width and (start < column or start == 0)):
            first = at if first < 0 else first
            last = stop
            if inside < width:
                halves.append((at, stop, inside))
        column, at = after, stop
    if first < 0:
        first = last = len(plain)
    # A mark behind the last character has the column behind it.
    return first, last + (start <= column < end), halves


def pad(text: str, width: int) -> str:
    """Exactly `width` cells: cut, or filled up with spaces."""
    text = truncate(text, width)
    return text + " " * (width - measure(text))


def expand_tabs(text: str, stop: int = 4) -> str:
    """Tabs as spaces up to the next multiple of `stop` cells."""
    if "\t" not in text:
        return text
    return "\n".join(_expand_line(line, stop) for line in text.split("\n"))


def _expand_line(line: str, stop: int) -> str:
    parts = line.split("\t")
    column = 0
    for index, part in enumerate(parts[:-1]):
        column += measure(part)
        blanks = stop - column % stop if stop > 0 else 0
        parts[index] = part + " " * blanks
        column += blanks
    return "".join(parts)
