"""What a write changes, as a unified diff.

Where lines change how they end, a carriage return is shown as `␍`: it is removed from what is displayed, and the two
lines would look the same.
"""

from collections.abc import Iterator
from itertools import groupby

import msgspec

from sightline.text import Unified, unified_diff

MAX_BYTES = 24 * 1024  # of the diff in a result's details


def diff(path: str, before: str | None, after: str) -> Unified:
    """`before` is None for a new file."""
    found = unified_diff(before, after, f"a/{path}", f"b/{path}")
    if before is None or "\r" not in found.text:
        return found
    return msgspec.structs.replace(found, text="\n".join(_with_visible_ends(found.text.split("\n"))))


def _with_visible_ends(rows: list[str]) -> Iterator[str]:
    """Rows that are removed or added together end alike, or show how each ends."""
    for changed, together in groupby(rows, key=lambda row: row[:1] in ("-", "+", "\\")):
        group = list(together)
        removed, added = ({row.endswith("\r") for row in group if row.startswith(mark)} for mark in "-+")
        visible = changed and removed and added and removed != added
        yield from (f"{row[:-1]}␍" if visible and row.endswith("\r") else row for row in group)
