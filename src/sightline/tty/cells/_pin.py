"""Rows that stay in their columns on a terminal that counts cells in another way.

Terminals agree on letters, box drawing and ideographs. They do not agree on emoji sequences, combining marks, Indic
conjuncts and much else: one takes four cells where another takes two, and everything behind it is displaced. `pin`
writes the column, as we count, behind every run of such doubtful clusters, so that at worst the cluster itself looks
odd.
"""

import re

from sightline.tty.cells._cells import NARROW, WIDE, clusters, width_of
from sightline.tty.cells._marks import Mark, split

# ESC is let through so that a row is searched as it is: what belongs to SGR and links is ASCII.
_doubtful = re.compile(f"[^\x1b{NARROW}{WIDE}]").search


def doubtful(cluster: str) -> bool:
    """Whether terminals disagree on the width of a cluster."""
    return _doubtful(cluster) is not None


def is_doubtful(row: str) -> bool:
    """Whether a row holds a cluster whose width terminals disagree on."""
    return not row.isascii() and _doubtful(row) is not None


def pin(row: str, column: int = 0) -> str:
    """The row with the column (`CSI n G`) after each run of doubtful clusters that something follows.

    `column` is where the row begins.
    """
    if row.isascii() or _doubtful(row) is None:
        return row
    plain, marks, _ = split(row)
    pins = _pins(plain, column)
    if not pins:
        return row
    # A pin comes before the marks at its place: it belongs to what it follows.
    parts: list[str] = []
    at = 0
    for offset, sequence in sorted([*pins, *marks], key=_offset_of):
        parts += (plain[at:offset], sequence)
        at = offset
    return "".join((*parts, plain[at:]))


def _offset_of(mark: Mark) -> int:
    return mark[0]


def _pins(plain: str, column: int) -> list[Mark]:
    pins: list[Mark] = []
    at = 0
    in_doubt = False
    for cluster in clusters(plain):
        was_in_doubt, in_doubt = in_doubt, _doubtful(cluster) is not None
        if was_in_doubt and not in_doubt:
            pins.append((at, f"\x1b[{column + 1}G"))
        column += width_of(cluster)
        at += len(cluster)
    return pins
