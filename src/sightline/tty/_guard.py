"""The last guard before a row is written: nothing but text, SGR and our own links reaches the terminal.

Components clean what they are given. This holds even where one of them forgets.
"""

import re

from sightline.tty._marks import FORBIDDEN, LINK, SGR, SURROGATE, find_forbidden

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
