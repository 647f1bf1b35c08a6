"""Answers of the Anthropic Messages API, as data."""

from typing import Any

from tests.models.serving import sse

Event = dict[str, Any]

USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 100,
    "cache_read_input_tokens": 2000,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 1,
    "service_tier": "standard",
}


def start(usage: Event | None = USAGE) -> Event:
    message: Event = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None}
    return {"type": "message_start", "message": message if usage is None else {**message, "usage": usage}}


def begin(index: int, block: Event) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def end(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def finish(reason: str | None, usage: Event | None = {"output_tokens": 42}) -> list[Event]:  # noqa: B006
    stop: Event = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
    return [stop if usage is None else {**stop, "usage": usage}, {"type": "message_stop"}]


def text(index: int, *pieces: str) -> list[Event]:
    deltas = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [begin(index, {"type": "text", "text": ""}), *deltas, end(index)]


def thinking(index: int, *pieces: str, signature: str = "c2ln") -> list[Event]:
    deltas = [delta(index, "thinking_delta", thinking=piece) for piece in pieces]
    opening = begin(index, {"type": "thinking", "thinking": "", "signature": ""})
    return [opening, *deltas, delta(index, "signature_delta", signature=signature), end(index)]


def call(index: int, ident: str, name: str, *pieces: str) -> list[Event]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [begin(index, {"type": "tool_use", "id": ident, "name": name, "input": {}}), *deltas, end(index)]


PING = {"type": "ping"}

FULL = sse(
    start(),
    PING,
    *thinking(0, "Let me ", "see 日本語."),
    begin(1, {"type": "redacted_thinking", "data": "b3BhcXVl"}),
    end(1),
    PING,
    *text(2, "I look ", "around 👨‍👩‍👧‍👦."),
    *call(3, "toolu_1", "read", "", '{"path": "a', '.py"}'),
    *call(4, "toolu_2", "bash", '{"command": "ls"}'),
    *finish("tool_use", {"output_tokens": 42}),
)
