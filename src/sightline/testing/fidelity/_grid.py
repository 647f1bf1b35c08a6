"""A row's cells as a terminal must show them, worked out from the row alone and without the engine.

A row is text with SGR and links. Anything else in it that would drive a terminal is dropped whole, and what is wider
than the screen is cut; of a wide character that is cut in half nothing is shown.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from wcwidth import width

from sightline.testing.emulators._sgr import cells_of_row
from sightline.testing.emulators._types import Cell

CURSOR = "\x1b_sightline:cursor\x1b\\"
_SGR_OR_LINK = r"\x1b\[[0-9;:]*m|\x1b\]8;;[!-~]*\x1b\\"
_STRING = "[^\x07\x1b\x9c\n]*(?:\x07|\x9c|\x1b\\\\)?"
_DROPPED = re.compile(
    f"({_SGR_OR_LINK})"
    f"|\x1b(?:\\[[0-?]*[ -/]*[@-~]?|[]PX^_]{_STRING}|[ -/]*[0-~]?)"
    f"|\x9b[0-?]*[ -/]*[@-~]?|[\x9d\x90\x98\x9e\x9f]{_STRING}"
    "|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_STYLE = re.compile(_SGR_OR_LINK)
_SURROGATE = re.compile("[\ud800-\udfff]")
BLANK = Cell()


def cleaned(row: str) -> str:
    """The row without what must never reach a terminal; a lone surrogate is the replacement character."""
    return _SURROGATE.sub("\ufffd", _DROPPED.sub(lambda match: match[1] or "", row))


def cells(row: str, columns: int) -> list[Cell]:
    """One cell for each column of the screen."""
    if row.isascii() and row.isprintable():
        return [Cell(text) for text in row[:columns]] + [BLANK] * (columns - len(row))
    # Enough columns that nothing is cut there: a wide character must not be cut in half.
    found = cells_of_row(cleaned(row), len(row) * 2 + columns)[: columns + 1]
    if found[columns].width == 0:
        found[columns - 1] = BLANK
    return found[:columns]


def text_of(row: Sequence[Cell]) -> str:
    return "".join(cell.text for cell in row).rstrip(" ")


@lru_cache(maxsize=4096)
def shown_text(row: str, columns: int) -> str:
    """The row's text as it is read back from a terminal."""
    if row.isascii() and row.isprintable():
        return row[:columns].rstrip(" ")
    return text_of(cells(row, columns))


def readable(row: str) -> str:
    """The row without style: what counts when rows are compared as text."""
    return _STYLE.sub("", row) if "\x1b" in row else row


def letters(rows: Sequence[str]) -> str:
    """Letters and digits: what no wrapping adds or drops."""
    return "".join(map(_letters, rows))


@lru_cache(maxsize=4096)
def _letters(row: str) -> str:
    return "".join(filter(str.isalnum, cleaned(readable(row))))


def without_marks(text: str) -> str:
    """Text as all emulators agree to read it back: combining marks and joiners may drift between cells."""
    if text.isascii():
        return text
    return "".join(character for character in text if unicodedata.category(character) not in ("Mn", "Me", "Cf", "Mc"))


def take_cursor(rows: Sequence[str]) -> tuple[list[str], tuple[int, int] | None]:
    """The rows without the cursor mark, and where the last one was: row, column."""
    taken, place = [], None
    for index, row in enumerate(rows):
        if CURSOR in row:
            place = index, width(cleaned(readable(row[: row.index(CURSOR)])))
            row = row.replace(CURSOR, "")
        taken.append(row)
    return taken, place


def laid_over(below: list[Cell], row: list[Cell], left: int) -> list[Cell]:
    """A row of an overlay over a row of the window: half a wide character under its edge is a blank in its style."""
    result = below[:left] + row + below[left + len(row) :]
    if left and below[left].width == 0:
        result[left - 1] = _blank_of(below[left - 1])
    end = left + len(row)
    if end < len(below) and below[end].width == 0:
        result[end] = _blank_of(below[end - 1])
    return result


def _blank_of(cell: Cell) -> Cell:
    return msgspec.structs.replace(cell, text=" ", width=1)
