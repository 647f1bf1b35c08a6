"""The fold: events to the state a view draws. Live, replayed and resumed are the same fold over the same events."""

from sightline.transcript._fold import Transcript, fold
from sightline.transcript._repair import HOST, LOST, RECOVERY, LeftOpen, StoredCall
from sightline.transcript._state import (
    ENDED_TAIL,
    OUTPUT_TAIL,
    Entry,
    Reached,
    Remark,
    Snapshot,
    TranscriptAgent,
    TranscriptCall,
    TranscriptMessage,
    TranscriptPiece,
    TranscriptText,
)
from sightline.transcript._totals import Total

__all__ = [
    "ENDED_TAIL",
    "HOST",
    "LOST",
    "OUTPUT_TAIL",
    "RECOVERY",
    "Entry",
    "LeftOpen",
    "Reached",
    "Remark",
    "Snapshot",
    "StoredCall",
    "Total",
    "Transcript",
    "TranscriptAgent",
    "TranscriptCall",
    "TranscriptMessage",
    "TranscriptPiece",
    "TranscriptText",
    "fold",
]
