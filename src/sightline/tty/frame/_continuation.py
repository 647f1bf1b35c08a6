"""Where text continues after the part of it that is history, when the rest is laid out at another width.

A multiplexer does not rewrap history. What comes after must begin with the letter that follows the last one
in history, wherever the new layout has it. Letters and digits are what layouts have in common: they are counted, and
the last of them are looked for near that count, since a layout may also cut words off. Where they are not found the
text is shown again: doubled, never lost.

Rows that could still change when they became history must be found as they stood, sign by sign: what differs is shown
again.
"""

from collections.abc import Callable, Iterable, Sequence

from sightline.tty.cells._width import measure, slice_columns
from sightline.tty.frame._ledger import visible

_TAILS = (48, 16, 6)  # how many of the last letters are looked for


class HistoryMark:
    """How much is history: letters, the last of them, and of the rows without any that followed them the signs, and how
    many had not even those."""

    def __init__(self) -> None:
        self.letters = 0
        self.tail = ""
        self.signs = self.blank_rows = 0

    def add(self, rows: Iterable[str]) -> None:
        for row in rows:
            letters = letters_of(row)
            self.letters += len(letters)
            self.tail = (self.tail + letters)[-_TAILS[0] :]
            if letters:
                self.signs = self.blank_rows = 0
            else:
                signs = len(_signs_of(row))
                self.signs += signs
                self.blank_rows += not signs

    def __bool__(self) -> bool:
        return bool(self.letters or self.signs or self.blank_rows)


def letters_of(row: str) -> str:
    return "".join(filter(str.isalnum, _readable(row)))


def end_of_history(rows: Sequence[str], history: Sequence[str], firm: int) -> tuple[int, int, str | None]:
    """As `rest_after`, where rows of `history` from `firm` on could still change; before that, how many rows are firm
    as history."""
    mark = HistoryMark()
    mark.add(history[:firm])
    done, rest = rest_after(rows, mark)
    if firm >= len(history):
        return done, done, rest
    return done, *_after_risked(rows, done, rest, history[firm:])


def _after_risked(rows: Sequence[str], done: int, rest: str | None, risked: Sequence[str]) -> tuple[int, str | None]:
    left = "".join(map(_signs_of, risked))
    blanks = len(risked) - next((at + 1 for at in range(len(risked) - 1, -1, -1) if _signs_of(risked[at])), 0)
    for index in range(done, len(rows)):
        text = rows[index] if rest is None or index > done else rest
        signs = _signs_of(text)
        if not left:
            blank = 0 if text is rest else _blank(rows, index, blanks, _signs_of)
            return index + blank, rest if text is rest else None
        if left.startswith(signs):
            left = left[len(signs) :]
        elif signs.startswith(left):
            return index, _row_after(text, len(left), _is_sign)
        else:
            return index, rest if index == done else None
    return len(rows), None


def rest_after(rows: Sequence[str], mark: HistoryMark) -> tuple[int, str | None]:
    """How many rows are history already, and the part of the next row that is not, when that row is only half so."""
    letters = [letters_of(row) for row in rows]
    left = _end_of_history("".join(letters), mark)
    for index, row in enumerate(rows):
        if not left:
            return _after_signs(rows, index, mark)
        if len(letters[index]) > left:
            return index, _row_after(row, left, str.isalnum)
        left -= len(letters[index])
    return len(rows), None


def _end_of_history(text: str, mark: HistoryMark) -> int:
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


def _after_signs(rows: Sequence[str], index: int, mark: HistoryMark) -> tuple[int, str | None]:
    """As `rest_after`, from the row after the last letter on: another width has other rows of the same signs."""
    signs, blanks = mark.signs, mark.blank_rows
    while index < len(rows) and not letters_of(rows[index]):
        count = len(_signs_of(rows[index]))
        if count > signs:
            return index, _row_after(rows[index], signs, _is_sign) if signs else None
        if not count and not blanks:
            break
        signs, blanks, index = signs - count, blanks - (not count), index + 1
    return index, None


def _blank(rows: Sequence[str], index: int, most: int, content: Callable[[str], str]) -> int:
    count = 0
    while count < most and index + count < len(rows) and not content(rows[index + count]):
        count += 1
    return count


def _row_after(row: str, count: int, counts: Callable[[str], bool]) -> str:
    """What of the row follows its first `count` characters that count, and the punctuation that belongs to them."""
    text = _readable(row)
    at = 0
    while count:
        count -= counts(text[at])
        at += 1
    while at < len(text) and not counts(text[at]) and not text[at].isspace():
        at += 1
    while at < len(text) and text[at].isspace():
        at += 1
    return slice_columns(row, measure(text[:at]), measure(text))


def _signs_of(row: str) -> str:
    """All that can be read in a row but lines and frames, of which a narrower layout has more or fewer."""
    return "".join(filter(_is_sign, _readable(row)))


def _is_sign(character: str) -> bool:
    return not character.isspace() and not "\u2500" <= character <= "\u259f"


def _readable(row: str) -> str:
    from sightline.text import clean_line

    return visible(row) if "\x1b]" not in row else clean_line(row)
