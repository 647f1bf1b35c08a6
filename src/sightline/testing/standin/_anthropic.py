"""Anthropic Messages.

A message is a list of content blocks. Streamed, each is opened, filled by deltas and closed, in order, inside
`message_start` … `message_delta` (which has the stop reason and the real usage) and `message_stop`. The arguments of a
call arrive as pieces of JSON text.
"""

from collections.abc import Iterator
from typing import Any

from sightline.testing.standin._conversation import Conversation, OfferedTool, text_of
from sightline.testing.standin._dialect import Frame, Stream, error_type, frame
from sightline.testing.standin._script import ErrorBlock
from sightline.testing.standin._turn import Calling, Cut, ReadyTurn, Saying, Speech, Thinking, stable_id


class Anthropic:
    def read(self, body: dict[str, Any], path: str) -> Conversation:
        messages = body.get("messages") or []
        return Conversation(
            user_text="\n".join(text_of(message["content"]) for message in messages if message["role"] == "user"),
            system=text_of(body.get("system")),
            history="".join(map(_letters, messages)),
            tools={
                tool["name"]: OfferedTool.from_schema(tool.get("input_schema"))
                for tool in body.get("tools") or []
                if "name" in tool
            },
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
        )

    def whole(self, turn: ReadyTurn, conversation: Conversation) -> Any:
        return {
            **_message(turn, conversation),
            "content": [_content(speech) for speech in turn.speeches],
            "stop_reason": _stop_reason(turn),
            "usage": _usage(turn, turn.output_tokens),
        }

    def stream(self, turn: ReadyTurn, conversation: Conversation) -> Stream:
        yield _event({"type": "message_start", "message": _message(turn, conversation)})
        yield _event({"type": "ping"})
        for index, speech in enumerate(turn.speeches):
            yield _event({"type": "content_block_start", "index": index, "content_block": _opening(speech)})
            for delta in _deltas(speech):
                if isinstance(delta, Cut):
                    yield delta
                    continue
                yield _event(
                    {"type": "content_block_delta", "index": index, "delta": delta}, pause_ms=speech.block.delay_ms
                )
            yield _event({"type": "content_block_stop", "index": index})
        delta = {"stop_reason": _stop_reason(turn), "stop_sequence": None}
        yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": turn.output_tokens}})
        yield _event({"type": "message_stop"})

    def error(self, error: ErrorBlock) -> Any:
        return {
            "type": "error",
            "error": {"type": error_type(error.status), "message": error.error},
            "request_id": "req_01" + stable_id(error.error, length=20),
        }


def _letters(message: dict[str, Any]) -> str:
    if message["role"] != "assistant":
        return "u"
    if isinstance(message["content"], str):
        return "t"
    return "".join("c" if block.get("type") == "tool_use" else "t" for block in message["content"])


def _event(value: dict[str, Any], *, pause_ms: float = 0) -> Frame:
    return frame(value, event=value["type"], pause_ms=pause_ms)


def _message(turn: ReadyTurn, conversation: Conversation) -> dict[str, Any]:
    return {
        "id": "msg_01" + turn.uid[:22],
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(turn, 1),
    }


def _usage(turn: ReadyTurn, output_tokens: int) -> dict[str, int]:
    return {
        "input_tokens": turn.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def _stop_reason(turn: ReadyTurn) -> str:
    return "tool_use" if turn.calls else "end_turn"


def _content(speech: Speech) -> dict[str, Any]:
    match speech:
        case Saying():
            return {"type": "text", "text": speech.text}
        case Thinking():
            return {"type": "thinking", "thinking": speech.text, "signature": speech.signature}
        case Calling():
            return {"type": "tool_use", "id": "toolu_01" + speech.uid[:22], "name": speech.name, "input": speech.args}


def _opening(speech: Speech) -> dict[str, Any]:
    empty: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in _content(speech).items()}


def _deltas(speech: Speech) -> Iterator[dict[str, Any] | Cut]:
    match speech:
        case Saying():
            for piece in speech.pieces():
                yield piece if isinstance(piece, Cut) else {"type": "text_delta", "text": piece}
        case Thinking():
            for piece in speech.pieces():
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": speech.signature}
        case Calling():
            for piece in speech.pieces():
                yield {"type": "input_json_delta", "partial_json": piece}
