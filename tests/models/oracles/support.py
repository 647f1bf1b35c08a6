"""Answers to be heard by two clients, and what each of them heard in one form.

A scenario says what a model answers; each API's module writes it down in that API's bytes. Both clients get these bytes
from the same server. What an SDK does not tell apart (a long conversation from another bad request, a quota from a rate
limit) is not told apart here either.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart, UserMessage
from sightline.events import Usage
from sightline.models import Model, ModelError, ModelRequest, ToolSpec
from tests.models.serving import Ending, Reply, Serving, outcome

_SCHEMA = b'{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'
PROMPT = "Go."
ASK = ModelRequest(
    system="",
    messages=[UserMessage([TextPart(PROMPT)])],
    tools=(ToolSpec("read", "Read a file.", msgspec.Raw(_SCHEMA)), ToolSpec("bash", "Run it.", msgspec.Raw(_SCHEMA))),
)


class Tokens(msgspec.Struct, frozen=True):
    """None: not told."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class Call(msgspec.Struct, frozen=True):
    name: str
    args: dict[str, Any]
    id: str = ""  # of the API's own
    pieces: int = 1  # how often its arguments are interrupted


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    reasoning: tuple[str, ...] = ()  # in pieces
    text: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    stop: str = "stop"  # stop, tool_use, length, refusal
    tokens: Tokens | None = Tokens(100, 20)
    ending: Ending = "chunked"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a client heard. `failed` is empty when the answer came to its end."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, dict[str, Any]]] = []
    stop: str = ""
    tokens: Tokens | None = None
    failed: str = ""


SCENARIOS = {
    "words": Scenario(text=("Hello ", "there.")),
    "one word in one piece": Scenario(text=("Hi",)),
    "words of every kind": Scenario(text=("日本", "語 👨‍👩‍👧‍👦 ", 'e\u0301 \\ " \u2028', "\n\ttab")),
    "reasoning": Scenario(reasoning=("Let me ", "see."), text=("Done.",)),
    "a call": Scenario(calls=(Call("read", {"path": "a.py"}, "id-1"),), stop="tool_use"),
    "a call in pieces": Scenario(
        text=("I look.",),
        calls=(Call("read", {"path": "日本/a b.py", "n": [1, {"x": None}]}, "id-1", 5),),
        stop="tool_use",
    ),
    "a call without arguments": Scenario(calls=(Call("read", {}, "id-1"),), stop="tool_use"),
    "parallel calls": Scenario(
        reasoning=("Two at once.",),
        text=("I look.",),
        calls=(
            Call("read", {"path": "a"}, "id-1", 3),
            Call("read", {"path": "b"}, "id-2"),
            Call("bash", {}, "id-3", 2),
        ),
        stop="tool_use",
    ),
    "cut for length": Scenario(text=("Once upon",), stop="length"),
    "refused": Scenario(text=("I would rather",), stop="refusal"),
    "usage with a cache": Scenario(text=("Hi",), tokens=Tokens(2100, 42, 2000)),
    "usage of nothing": Scenario(text=("Hi",), tokens=Tokens(0, 0)),
    "trap 12: an event of 3 MiB": Scenario(text=("x" * (3 << 20), "y")),
    "trap 12: arguments of 2 MiB": Scenario(calls=(Call("read", {"path": "p" * (2 << 20)}, "id-1"),), stop="tool_use"),
}

# Status of a reply, and what it comes to.
STATUSES = {
    400: "bad request",
    401: "auth",
    403: "auth",
    404: "not found",
    429: "rate limit",
    500: "server",
    503: "server",
}
_KINDS = {
    "overflow": "bad request",
    "bad_request": "bad request",
    "refused": "bad request",
    "auth": "auth",
    "not_found": "not found",
    "rate_limit": "rate limit",
    "quota": "rate limit",
    "overloaded": "server",
    "network": "connection",
    "cut": "connection",
    "protocol": "protocol",
}


def cut_up(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[at : at + size] for at in range(0, len(text), size)]


def json_pieces(call: Call) -> list[str]:
    return cut_up(json.dumps(call.args, ensure_ascii=False), call.pieces) if call.args else []


async def through_both(
    reply: Reply, ours: Callable[[str], Model], theirs: Callable[[str], Awaitable[Seen]]
) -> tuple[Seen, Seen]:
    """The same reply, heard by our client and by the vendor's."""
    async with Serving([reply]) as server:
        model = ours(server.url)
        try:
            seen = await _heard(model)
        finally:
            await model.close()
        return seen, await theirs(server.url)


async def _heard(model: Model) -> Seen:
    _, end = await outcome(model, ASK)
    if isinstance(end, ModelError):
        partial = end.partial or AssistantMessage([])
        return seen_of(partial, failed=_KINDS[end.kind])
    return seen_of(end.message)


def seen_of(message: AssistantMessage, *, failed: str = "") -> Seen:
    # What a call's arguments would have been when it was cut off in the middle nobody knows.
    calls = [(part.name, part.args) for part in message.parts if isinstance(part, CallPart) and not part.broken]
    return Seen(
        text=message.text,
        reasoning="".join(part.text for part in message.parts if isinstance(part, ReasoningPart)),
        calls=[] if failed else calls,
        stop="" if failed else message.stop_reason,
        tokens=None if failed else _tokens(message.usage),
        failed=failed,
    )


def _tokens(usage: Usage | None) -> Tokens | None:
    if usage is None:
        return None
    return Tokens(
        usage.input_tokens, usage.output_tokens, usage.cache_read_tokens or None, usage.cache_write_tokens or None
    )


def kind_of(error: Exception, sdk: Any) -> str:
    """What an SDK's exception comes to; its own hierarchy, which anthropic's and openai's share."""
    import httpx2

    for kind, names in {
        "auth": ("AuthenticationError", "PermissionDeniedError"),
        "not found": ("NotFoundError",),
        "rate limit": ("RateLimitError",),
        "bad request": ("BadRequestError", "UnprocessableEntityError"),
        "server": ("InternalServerError",),
        "connection": ("APIConnectionError",),
    }.items():
        if isinstance(error, tuple(getattr(sdk, name) for name in names)):
            return kind
    if isinstance(error, httpx2.TransportError):
        return "connection"
    raise error


def scenarios() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("scenario", [pytest.param(s, id=name) for name, s in SCENARIOS.items()])


def statuses() -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("status", "kind"), STATUSES.items(), ids=[f"HTTP {status}" for status in STATUSES])
