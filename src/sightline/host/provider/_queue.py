"""What waits in a session that a provider works in: prompts of the person's, and runs that it began by itself."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from sightline.events import QueuedMessage, QueueState
from sightline.providers import Run

_SHOWN = 2000  # characters of what waits


class AttachmentStore(Protocol):
    """Where files of the person's are kept."""

    def store(self, name: str, data: bytes) -> str: ...

    def find(self, url: str) -> Path | None: ...


class WaitingMessage(msgspec.Struct, frozen=True):
    text: str = ""
    how: Literal["prompt", "steer", "follow_up"] = "prompt"
    attachments: list[str] = []
    run: Run | None = None  # begun by the provider: nobody said anything


def given_back(queue: Iterable[WaitingMessage]) -> dict[str, Any]:
    """What the person gets back of it: their own."""
    theirs = [queued for queued in queue if queued.run is None]
    return {
        "queued": [queued.text for queued in theirs],
        "attachments": [url for queued in theirs for url in queued.attachments],
    }


def waiting(queue: Iterable[WaitingMessage], masked: Callable[[str], str]) -> QueueState:
    """As it is shown while something else goes on."""
    return QueueState([QueuedMessage(masked(q.text)[:_SHOWN], q.how) for q in queue if q.how != "prompt"])


def name_of(attached: str, number: str) -> str:
    """What a file is kept as. Its ending stays, where it is a plain one: programs go by it."""
    suffix = Path(attached).suffix.lower()
    plain = suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) < 10
    return f"attached-{number}{suffix if plain else ''}"
