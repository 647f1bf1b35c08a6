"""The fold: events to the state a view draws. Live, replayed and resumed are the same fold over the same events."""

from sightline.transcript._fold import Transcript, fold
from sightline.transcript._state import OUTPUT_TAIL, Agent, Call, Entry, Message, Remark, Snapshot, Words

__all__ = [
    "OUTPUT_TAIL",
    "Agent",
    "Call",
    "Entry",
    "Message",
    "Remark",
    "Snapshot",
    "Transcript",
    "Words",
    "fold",
]
