"""Patterns with stars, matched in linear time."""

from collections.abc import Sequence


def fits_stars(pieces: Sequence[str], text: str) -> bool:
    """Whether a text consists of these pieces with anything between them: a pattern, split where its stars are.

    The first place at which a piece stands leaves the most for those behind it, so nothing is tried twice.
    """
    if len(pieces) == 1:
        return pieces[0] == text
    first, last = pieces[0], pieces[-1]
    end = len(text) - len(last)
    if end < len(first) or not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
