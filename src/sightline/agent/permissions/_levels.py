"""Approval levels: what an agent may do unasked."""

from sightline.exceptions import UserMistake
from sightline.settings import Approval

LEVELS: tuple[Approval, ...] = ("plan", "edit", "auto", "full")
"""Each allows more than the one before it."""


def a_level(word: str) -> Approval:
    for level in LEVELS:
        if word == level:
            return level
    raise UserMistake(f"no approval level {word}", f"one of {', '.join(LEVELS)}")


def lowest(*levels: Approval) -> Approval:
    """The one of these that allows least."""
    return min(levels, key=LEVELS.index)
