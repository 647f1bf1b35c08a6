"""Where text goes on after the part of it that is history, when the rest is laid out at another width.

A multiplexer keeps its history as it was wrapped. What comes after must begin with the letter that follows the last one
in history, wherever the new layout has it: rows are counted in letters and digits, which no layout adds or drops.
"""

from collections.abc import Iterable, Sequence

from sightline.tty._ledger import visible
from sightline.tty._width import measure, slice_columns


class Mark:
    """How much is history: letters, and the rows without any that followed them."""

    def __init__(self) -> None:
        self.letters = 0
        self.blank_rows = 0

    def add(self, rows: Iterable[str]) -> None:
        for row in rows:
            letters = count_letters(row)
            self.letters += letters
            self.blank_rows = 0 if letters else self.blank_rows + 1

    def __bool__(self) -> bool:
        return bool(self.letters or self.blank_rows)


def count_letters(row: str) -> int:
    """Letters and digits of a row."""
    return sum(map(str.isalnum, _readable(row)))


def rest_after(rows: Sequence[str], mark: Mark) -> tuple[int, str | None]:
    """How many rows are history already, and the part of the next row that is not, when that row is only half so."""
    left = mark.letters
    for index, row in enumerate(rows):
        if not left:
            return index + _letterless(rows, index, mark.blank_rows), None
        letters = count_letters(row)
        if letters > left:
            return index, _row_after(row, left)
        left -= letters
    return len(rows), None


def _letterless(rows: Sequence[str], index: int, most: int) -> int:
    count = 0
    while count < most and index + count < len(rows) and not count_letters(rows[index + count]):
        count += 1
    return count


def _row_after(row: str, letters: int) -> str:
    """What of the row follows its first `letters` letters, and the punctuation that belongs to them."""
    text = _readable(row)
    at = 0
    while letters:
        letters -= text[at].isalnum()
        at += 1
    while at < len(text) and not text[at].isalnum() and not text[at].isspace():
        at += 1
    while at < len(text) and text[at].isspace():
        at += 1
    return slice_columns(row, measure(text[:at]), measure(text))


def _readable(row: str) -> str:
    from sightline.text import clean_line

    return visible(row) if "\x1b]" not in row else clean_line(row)
