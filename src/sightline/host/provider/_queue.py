"""The queue of a session with a provider: prompts of the user, and runs the provider began by itself."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from sightline.events import QueuedMessage, QueueState
from sightline.providers import Run

_SHOWN = 2000  # characters of what waits


class WaitingMessage(msgspec.Struct, frozen=True):
    text: str = ""
    how: Literal["prompt", "steer", "follow_up"] = "prompt"
    attachments: list[str] = []
    run: Run | None = None  # begun by the provider, without a prompt


def returned_prompts(queue: Iterable[WaitingMessage]) -> dict[str, Any]:
    """What is returned to the user: their own prompts."""
    theirs = [queued for queued in queue if queued.run is None]
    return {
        "queued": [queued.text for queued in theirs],
        "attachments": [url for queued in theirs for url in queued.attachments],
    }


def waiting(queue: Iterable[WaitingMessage], masked: Callable[[str], str]) -> QueueState:
    """As views show it during a run."""
    return QueueState([QueuedMessage(masked(q.text)[:_SHOWN], q.how) for q in queue if q.how != "prompt"])


def name_of(attached: str, number: str) -> str:
    """The name a file is stored under. A plain suffix stays: programs go by it."""
    suffix = Path(attached).suffix.lower()
    plain = suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) < 10
    return f"attached-{number}{suffix if plain else ''}"
