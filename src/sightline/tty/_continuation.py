"""Where text goes on after the part of it that is history, when the rest is laid out at another width.

A multiplexer keeps its history as it was wrapped. What comes after must begin with the letter that follows the last one
in history, wherever the new layout has it. Letters and digits are what layouts have in common: they are counted, and
the last of them are looked for near that count, since a layout may also cut words off. Where they are not found the
text is shown again: doubled, never lost.
"""

from collections.abc import Iterable, Sequence

from sightline.tty._ledger import visible
from sightline.tty._width import measure, slice_columns

_TAILS = (48, 16, 6)
"""How many of the last letters are looked for."""


class Mark:
    """How much is history: letters, the last of them, and the rows without any that followed them."""

    def __init__(self) -> None:
        self.letters = 0
        self.tail = ""
        self.blank_rows = 0

    def add(self, rows: Iterable[str]) -> None:
        for row in rows:
            letters = letters_of(row)
            self.letters += len(letters)
            self.tail = (self.tail + letters)[-_TAILS[0] :]
            self.blank_rows = 0 if letters else self.blank_rows + 1

    def __bool__(self) -> bool:
        return bool(self.letters or self.blank_rows)


def letters_of(row: str) -> str:
    """Letters and digits of a row."""
    return "".join(filter(str.isalnum, _readable(row)))


def rest_after(rows: Sequence[str], mark: Mark) -> tuple[int, str | None]:
    """How many rows are history already, and the part of the next row that is not, when that row is only half so."""
    letters = [letters_of(row) for row in rows]
    left = _end_of_history("".join(letters), mark)
    for index, row in enumerate(rows):
        if not left:
            return index + _letterless(rows, index, mark.blank_rows), None
        if len(letters[index]) > left:
            return index, _row_after(row, left)
        left -= len(letters[index])
    return len(rows), None


def _end_of_history(text: str, mark: Mark) -> int:
    """The letters of `text` that are history: up to where its last ones stand, nearest to where they are expected."""
    if text.startswith(mark.tail, mark.letters - len(mark.tail)):
        return mark.letters
    for size in _TAILS:
        tail = mark.tail[-size:]
        before, after = text.rfind(tail, 0, mark.letters), text.find(tail, max(0, mark.letters - len(tail)))
        found = [at + len(tail) for at in (before, after) if at >= 0]
        if found:
            return min(found, key=lambda end: abs(end - mark.letters))
    return 0


def _letterless(rows: Sequence[str], index: int, most: int) -> int:
    count = 0
    while count < most and index + count < len(rows) and not letters_of(rows[index + count]):
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
