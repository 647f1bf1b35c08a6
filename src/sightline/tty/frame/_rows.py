"""A row's way to the terminal: made safe, cut to the width, and written over what stood there.

Nothing but text, SGR and our own links reaches the terminal: components clean what they are given, and this holds even
where one of them forgets.
"""

import re

from sightline.tty.cells._marks import FORBIDDEN, LINK, SGR, SURROGATE, find_forbidden
from sightline.tty.cells._width import is_doubtful, measure, pin, truncate
from sightline.tty.frame._ledger import visible

RESET = "\x1b[0m"
ERASE_TO_END = "\x1b[K"

_STYLE = re.compile(r"\x1b\[([0-9;:]*)m")
_OPEN_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;:]*)?$")
_allowed = re.compile(f"{SGR}|{LINK}")
_anything = re.compile(f"({_allowed.pattern})|([{SURROGATE}])|{FORBIDDEN}")


def is_safe(row: str) -> bool:
    """Whether a row holds only characters, SGR and links."""
    if "\x1b" in row:
        row = _allowed.sub("", row)
    return row.isprintable() or find_forbidden(row) is None


def make_safe(row: str) -> str:
    """The row without anything else: other sequences go whole; a lone surrogate becomes U+FFFD."""
    return row if is_safe(row) else _anything.sub(_allowed_part, row)


def _allowed_part(match: "re.Match[str]") -> str:
    return match[1] or ("\ufffd" if match[2] else "")


def fitted(row: str, width: int) -> str:
    """The row as it may be written: a last guard, since one bad row must never cost more than itself."""
    if row.isascii() and row.isprintable():
        return row if len(row) <= width else row[:width]
    if not is_safe(row):
        row = make_safe(row)
    if measure(row) > width:
        row = truncate(row, width, "")
    return row if _ends_plain(row) else row + RESET


def _ends_plain(row: str) -> bool:
    last = row.rfind("\x1b[")
    return last < 0 or row.startswith((RESET, "\x1b[m"), last)


def rewrite(old: str, new: str, *, cursor: int = -1, whole: bool = False) -> str:
    """Bytes that turn a row that shows `old` into `new`, the cursor being on it, in column `cursor` if that is known.

    Only what differs is written, from the first cell that does; all of it where `whole` asks for that.
    """
    if whole:
        return "\r" + ERASE_TO_END + pin(new)
    at = _unchanged(old, new)
    column = measure(new[:at])
    opening, rest = _open_style(new[:at]), new[at:]
    if rest.startswith(RESET):
        opening, rest = "", rest[len(RESET) :]
    move = "" if column == cursor else f"\x1b[{column + 1}G" if column else "\r"
    if is_doubtful(rest) or is_doubtful(old[at:]):
        # A terminal that takes a cluster for narrower than we do would leave what stood in the cell beside it.
        return f"{move}{ERASE_TO_END}{opening}{pin(rest, column)}"
    erase = ERASE_TO_END if measure(old) > measure(new) else ""
    return f"{move}{opening}{pin(rest, column)}{erase}"


def may_overflow(row: str, width: int) -> bool:
    """Whether a terminal that counts cells in its own way could run out of columns with this row."""
    if not is_doubtful(row):
        return False
    plain = visible(row)
    return len(plain) + sum(char > "\x7f" for char in plain) > width


def _unchanged(old: str, new: str) -> int:
    """How far both are equal, up to a place where a row can be taken up again."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if new.startswith(old[low:middle], low):
            low = middle
        else:
            high = middle - 1
    while low:
        inside = _OPEN_SEQUENCE.search(new, 0, low)
        if inside is not None:
            low = inside.start()
        # Not beside a cluster that is not sure: a mark may join what stands before it, and its own cells are in doubt.
        elif _unsure(old, low) or _unsure(new, low) or _unsure(new, low - 1):
            low -= 1
        else:
            break
    return 0 if "\x1b]" in new[:low] else low


def _unsure(row: str, at: int) -> bool:
    return at < len(row) and not row[at].isascii() and is_doubtful(row[at])


def _open_style(text: str) -> str:
    """The sequences that give the style in force at the end of `text`."""
    styles = _STYLE.findall(text)
    open_from = 0
    for index, parameters in enumerate(styles):
        if parameters in ("", "0"):
            open_from = index + 1
    return "".join(f"\x1b[{parameters}m" for parameters in styles[open_from:])
