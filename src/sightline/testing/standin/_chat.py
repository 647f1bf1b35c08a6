"""OpenAI Chat Completions.

A whole answer has all words in one string and all calls in one list. Streamed, chunks keep the order of the two; a
call's first chunk has its id and name, later ones only pieces of its arguments, tied together by `index`. The stream
ends with `[DONE]`, after a chunk with the usage when the client asked for it.
"""

import time
from collections.abc import Iterator
from typing import Any

from sightline.testing.standin._conversation import Conversation, OfferedTool, text_of
from sightline.testing.standin._dialect import Stream, frame
from sightline.testing.standin._responses import openai_error
from sightline.testing.standin._script import ErrorBlock
from sightline.testing.standin._turn import Calling, Cut, ReadyTurn, Saying, Thinking


class Chat:
    def read(self, body: dict[str, Any], path: str) -> Conversation:
        messages = body.get("messages") or []
        return Conversation(
            user_text=_text_by(messages, "user"),
            system=_text_by(messages, "system", "developer"),
            history="".join(map(_letters, messages)),
            tools={
                tool["function"]["name"]: OfferedTool.from_schema(tool["function"].get("parameters"))
                for tool in body.get("tools") or []
                if "function" in tool
            },
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        )

    def whole(self, turn: ReadyTurn, conversation: Conversation) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": turn.words or None, "refusal": None}
        if turn.thoughts:
            message["reasoning_content"] = turn.thoughts
        if turn.calls:
            message["tool_calls"] = [_call(call, call.json) for call in turn.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(turn)}
        return {**_envelope(turn, conversation, "chat.completion"), "choices": [choice], "usage": _usage(turn)}

    def stream(self, turn: ReadyTurn, conversation: Conversation) -> Stream:
        envelope = _envelope(turn, conversation, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
            return {**envelope, "choices": [choice]}

        yield frame(chunk({"role": "assistant", "content": ""}))
        for delta, pause_ms in _deltas(turn):
            yield delta if isinstance(delta, Cut) else frame(chunk(delta), pause_ms=pause_ms)
        yield frame(chunk({}, _finish_reason(turn)))
        if conversation.include_usage:
            yield frame({**envelope, "choices": [], "usage": _usage(turn)})
        yield frame("[DONE]")

    def error(self, error: ErrorBlock) -> Any:
        return openai_error(error)


def _text_by(messages: list[dict[str, Any]], *roles: str) -> str:
    return "\n".join(text_of(message.get("content")) for message in messages if message["role"] in roles)


def _letters(message: dict[str, Any]) -> str:
    if message["role"] != "assistant":
        return "u"
    return "t" * bool(message.get("content")) + "c" * len(message.get("tool_calls") or [])


def _envelope(turn: ReadyTurn, conversation: Conversation, kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-" + turn.uid,
        "object": kind,
        "created": int(time.time()),
        "model": conversation.model,
        "system_fingerprint": None,
    }


def _finish_reason(turn: ReadyTurn) -> str:
    return "tool_calls" if turn.calls else "stop"


def _usage(turn: ReadyTurn) -> dict[str, Any]:
    return {
        "prompt_tokens": turn.input_tokens,
        "completion_tokens": turn.output_tokens,
        "total_tokens": turn.input_tokens + turn.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": turn.reasoning_tokens},
    }


def _call(call: Calling, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": "call_" + call.uid, "type": "function", "function": function}


def _deltas(turn: ReadyTurn) -> Iterator[tuple[dict[str, Any] | Cut, float]]:
    calls = 0
    for speech in turn.speeches:
        pause = speech.block.delay_ms
        match speech:
            case Saying():
                for piece in speech.pieces():
                    yield piece if isinstance(piece, Cut) else {"content": piece}, pause
            case Thinking():
                for piece in speech.pieces():
                    yield {"reasoning_content": piece}, pause
            case Calling():
                yield {"tool_calls": [{"index": calls, **_call(speech, "")}]}, pause
                for piece in speech.pieces():
                    yield {"tool_calls": [{"index": calls, "function": {"arguments": piece}}]}, pause
                calls += 1
