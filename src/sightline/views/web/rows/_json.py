"""A row as the page gets it: a list of runs, each its text and, where there is any, its style.

A row that is too long for a page is cut, with a note of how much.
"""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from sightline.text import Row, Style, row_text

ROW_CAP = 10_000

_encode = msgspec.json.Encoder().encode

_FLAGS = {"bold": "o", "dim": "d", "italic": "i", "underline": "u", "inverse": "v", "strike": "s"}


def encode_row(row: Row, more: int = 0) -> bytes:
    """`more`: bytes of its line that were not even looked at."""
    if len(row) == 1 and len(row[0].text) <= ROW_CAP and not more:  # by far the most
        run = row[0]
        style = _style(run.style, run.stream)
        return _encode([[run.text, style]] if style else [[run.text]])
    return _encode(list(_cut(row, more)))


def note_row(text: str) -> bytes:
    """A row that is about the output, not of it."""
    return _encode([[text, {"d": 1, "i": 1}]])


def skipped_row(count: int) -> bytes:
    return _encode({"skipped": count})


def _cut(row: Row, more: int) -> Iterable[list[object]]:
    room = ROW_CAP
    for run in row:
        if not room:
            break
        style = _style(run.style, run.stream)
        yield [run.text[:room], style] if style else [run.text[:room]]
        room -= min(room, len(run.text))
    over = len(row_text(row)) - ROW_CAP
    if more:
        yield [f" … {max(over, 0) + more:,} more bytes in this line", {"d": 1, "i": 1}]
    elif over > 0:
        yield [f" … {over:,} more characters in this row", {"d": 1, "i": 1}]


@lru_cache(maxsize=1024)
def _style(style: Style, stream: str) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    if style.fg is not None:
        found["f"] = style.fg
    if style.bg is not None:
        found["b"] = style.bg
    found.update({letter: 1 for name, letter in _FLAGS.items() if getattr(style, name)})
    if stream == "stderr":
        found["e"] = 1
    return found
