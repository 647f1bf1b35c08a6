"""What the server needs of a dialect: read a request, say a turn whole or in pieces, say an error."""

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from sightline.testing.standin._conversation import Conversation
from sightline.testing.standin._script import ErrorBlock
from sightline.testing.standin._turn import Cut, ReadyTurn


class Frame(msgspec.Struct, frozen=True):
    """One server-sent event, and how long to pause after it."""

    data: bytes
    pause_ms: float = 0


Stream = Iterator[Frame | Cut]


class Dialect(Protocol):
    """One model API."""

    def read(self, body: dict[str, Any], path: str) -> Conversation: ...

    def whole(self, turn: ReadyTurn, conversation: Conversation) -> Any: ...

    def stream(self, turn: ReadyTurn, conversation: Conversation) -> Stream: ...

    def error(self, error: ErrorBlock) -> Any: ...


def frame(value: Any, *, event: str = "", pause_ms: float = 0) -> Frame:
    """A value as a server-sent event; a text goes out as it is."""
    data = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
    head = f"event: {event}\n".encode() if event else b""
    return Frame(head + b"data: " + data + b"\n\n", pause_ms)


def error_type(status: int) -> str:
    """The word most APIs use for an HTTP status."""
    words = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    return words.get(status, "api_error")
