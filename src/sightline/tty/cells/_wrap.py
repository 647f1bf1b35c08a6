"""Breaking text into rows.

- A newline ends a line. A line that fits is one row, as it is.
- A row ends at spaces, which are dropped there; a word that is longer than a row is cut between clusters. Around wide
  characters (ideographs, kana, hangul, emoji) a row may end without a space, but no row begins with a closing mark or
  ends with an opening one.
- The indentation of a line stays, as far as its first word leaves room for it.
- Style and links continue in the next row; every row is complete in itself.
- A cluster that is wider than a whole row is shown as an ellipsis.

ASCII takes shorter ways to the same rows.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from sightline.tty._component import CURSOR
from sightline.tty.cells._cells import cells, clusters, is_ideographic, prefix_within, width_of
from sightline.tty.cells._marks import DEFAULT_LOOK, Look, Mark, Weaver, split

_CONTROLS = "".join(chr(point) for point in (*range(0x20), 0x7F) if chr(point) != "\n")
_LONG = 512
_FIRM_SPACE = "\xa0"
_NO_ROW_BEGINS_WITH = frozenset(
    ")]}>,.!?:;%'\"’”…、。，．：；！？）］｝〉》」』】〕〗〙〛ー々ゝゞヽヾ・ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
_NO_ROW_ENDS_WITH = frozenset("([{<'\"‘“（［｛〈《「『【〔〖〘〚")
_Span = tuple[int, int]


def wrap(text: str, width: int) -> list[str]:
    """Rows of at most `width` cells, broken at spaces where possible; style and links carry over to the next row."""
    if width <= 0:
        return [""]
    if text.isascii() and _only_printable_lines(text):
        return _wrap_ascii(text, width)
    rows: list[str] = []
    look = DEFAULT_LOOK
    for line in text.split("\n"):
        look = _wrap_styled(line, width, look, rows)
    return rows


def _only_printable_lines(text: str) -> bool:
    if len(text) < _LONG:
        return text.isprintable() or ("\n" in text and text.replace("\n", "").isprintable())
    # Searching a long text for each of them is faster than looking at every character once.
    return not any(map(text.__contains__, _CONTROLS))


def _wrap_ascii(text: str, width: int) -> list[str]:
    rows: list[str] = []
    find_rows = _row_pattern(width).findall
    for line in text.split("\n"):
        if len(line) <= width:
            rows.append(line)
        elif line[0] != " ":
            rows += find_rows(line)
        else:
            rows += [line[start:end] for start, end in _spans(line, width)]
    return rows


@lru_cache(maxsize=64)
def _row_pattern(width: int) -> "re.Pattern[str]":
    """Finds the rows of an ASCII line: as much as fits before a space or the end, else a whole row of a long word."""
    return re.compile(f"(?s)[^ ].{{0,{width - 1}}}(?![^ ])(?<! )|[^ ]{{{width}}}")


def _wrap_styled(line: str, width: int, look: Look, rows: list[str]) -> Look:
    """Append the rows of one line; returns what is open at its end."""
    plain, marks, intact = split(line)
    if prefix_within(plain, width, width) == len(plain):
        if intact and look == DEFAULT_LOOK and Weaver(plain, marks).ends_plain():
            rows.append(line)
            return look
        spans = [(0, len(plain))]
    else:
        plain, marks = _without_too_wide(plain, marks, width)
        spans = _spans(plain, width)
    if not marks and look == DEFAULT_LOOK:
        rows += [plain[start:end] for start, end in spans]
        return look
    weaver = Weaver(plain, marks, look)
    rows += [weaver.piece(start, end) for start, end in spans]
    if weaver.skip(len(plain)):
        rows[-1] += CURSOR
    return weaver.look


def _without_too_wide(plain: str, marks: list[Mark], width: int) -> tuple[str, list[Mark]]:
    if width > 1:
        return plain, marks
    parts = clusters(plain)
    shown = [part if width_of(part) <= width else "…" for part in parts]
    befores, afters = ([*accumulate(map(len, each), initial=0)] for each in (parts, shown))
    return "".join(shown), [(afters[bisect_left(befores, offset)], mark) for offset, mark in marks]


def _spans(plain: str, width: int) -> list[_Span]:
    """Where the rows of a line that does not fit begin and end."""
    words = plain.lstrip(" ")
    if not words:
        return [(0, width)]
    # Firm spaces tie the indentation to the first word; offsets stay those of the line.
    indentation = len(plain) - len(words)
    shown = _shown_indentation(indentation, words, width) if indentation else 0
    firm = " " * (indentation - shown) + _FIRM_SPACE * shown + words.rstrip(" ")
    if words.isascii():
        return [match.span() for match in _row_pattern(width).finditer(firm)]
    return _spans_of_clusters(firm, width)


def _shown_indentation(indentation: int, words: str, width: int) -> int:
    first = cells(words.partition(" ")[0])
    return min(indentation, width - first if first <= width else width // 2)


def _spans_of_clusters(plain: str, width: int) -> list[_Span]:
    parts = clusters(plain)
    columns = list(accumulate(map(width_of, parts), initial=0))
    spans: list[_Span] = []
    at, count = 0, len(parts)
    while (start := _next_word(parts, at)) < count:
        end = at = bisect_right(columns, columns[start] + width, start + 1) - 1
        if end < count:
            end = at = _break_before(parts, start, max(end, start + 1))
            while parts[end - 1] == " ":
                end -= 1
        spans.append((start, end))
    if len(parts) == len(plain):
        return spans
    offsets = list(accumulate(map(len, parts), initial=0))
    return [(offsets[start], offsets[end]) for start, end in spans]


def _next_word(parts: Sequence[str], at: int) -> int:
    while at < len(parts) and parts[at] == " ":
        at += 1
    return at


def _break_before(parts: Sequence[str], start: int, end: int) -> int:
    """The last place up to `end` where a row that began at `start` may end; `end` itself when there is none."""
    for at in range(end, start, -1):
        if _may_break(parts[at - 1], parts[at]):
            return at
    return end


def _may_break(left: str, right: str) -> bool:
    if left == " " or right == " ":
        return True
    if right[0] in _NO_ROW_BEGINS_WITH or left in _NO_ROW_ENDS_WITH:
        return False
    return is_ideographic(left) or is_ideographic(right)
