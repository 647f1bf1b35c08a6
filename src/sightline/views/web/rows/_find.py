"""Looking for text in a chunk of output: in its bytes where they are the text, else in the rows made of it."""

import re
from collections.abc import Callable

from sightline.text import clean_output

Match = list[int]  # numbers of lines within the chunk, in order

# What changes how text looks, but not which characters stand in the row.
_only_looks = re.compile("\x1b\\[[0-9;:]*m").sub


def find_in_chunk(text: str, chunk: bytes, rows: Callable[[], list[str]]) -> Match:
    """The lines that contain a text, in any case. `rows` is asked when the bytes alone cannot tell."""
    plain = clean_output(chunk.decode("utf-8", "replace"))
    if "\x1b" in plain:
        plain = _only_looks("", plain)
    if "\r" in plain:
        plain = plain.replace("\r\n", "\n")
    if "\x1b" in plain or "\r" in plain or "\b" in plain:
        return _in_rows(text.casefold(), rows())
    return _in_text(text.casefold(), plain.casefold())


def _in_text(wanted: str, text: str) -> Match:
    found: Match = []
    line = position = 0
    while (at := text.find(wanted, position)) >= 0:
        line += text.count("\n", position, at)
        found.append(line)
        end = text.find("\n", at)
        if end < 0:
            break
        line, position = line + 1, end + 1
    return found


def _in_rows(wanted: str, rows: list[str]) -> Match:
    return [number for number, row in enumerate(rows) if wanted in row.casefold()]
