"""The fold: events to the state a view draws. Live, replayed and resumed are the same fold over the same events."""

from sightline.transcript._fold import Transcript, fold
from sightline.transcript._state import (
    ENDED_TAIL,
    OUTPUT_TAIL,
    Agent,
    Call,
    Entry,
    Message,
    Piece,
    Reached,
    Remark,
    Snapshot,
    Words,
)
from sightline.transcript._totals import Total

__all__ = [
    "ENDED_TAIL",
    "OUTPUT_TAIL",
    "Agent",
    "Call",
    "Entry",
    "Message",
    "Piece",
    "Reached",
    "Remark",
    "Snapshot",
    "Total",
    "Transcript",
    "Words",
    "fold",
]
