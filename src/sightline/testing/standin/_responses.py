"""OpenAI Responses.

A response is a list of output items: messages, reasoning, calls. Streamed, each item is added, its inside is sent as
deltas and once more whole, and it is done; `response.completed` repeats all of them. Every event has a number. Tools
may come in namespaces, or as an input item; a free-form one takes a text instead of an object.
"""

import re
import time
from collections.abc import Iterator
from typing import Any

from sightline.testing.standin._conversation import Conversation, OfferedTool, text_of
from sightline.testing.standin._dialect import Frame, Stream, error_type, frame
from sightline.testing.standin._script import ErrorBlock
from sightline.testing.standin._turn import Calling, Cut, ReadyTurn, Saying, Speech, Thinking

_CALL_TYPES = ("function_call", "custom_tool_call", "local_shell_call")
_started_agent = re.compile(r'"agent_id"\s*:\s*"([^"]+)"')

# An event without its number: the name, then the fields.
_Unnumbered = tuple[str, dict[str, Any]]


class Responses:
    def read(self, body: dict[str, Any], path: str) -> Conversation:
        items = body.get("input") or []
        if isinstance(items, str):
            items = [{"type": "message", "role": "user", "content": items}]
        return Conversation(
            user_text="\n".join(text_of(item.get("content")) for item in items if _is_from_user(item)),
            system=str(body.get("instructions") or ""),
            history="".join(map(_letter, items)),
            tools=dict(_tools(body, items)),
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            agent_ids=_started_agent.findall("".join(map(_output_text, items))),
            answer_schema=((body.get("text") or {}).get("format") or {}).get("schema"),
        )

    def whole(self, turn: ReadyTurn, conversation: Conversation) -> Any:
        return _response(turn, conversation, [_item(speech) for speech in turn.speeches])

    def stream(self, turn: ReadyTurn, conversation: Conversation) -> Stream:
        number = 0
        for event in _events(turn, conversation):
            if isinstance(event, Cut):
                yield event
                continue
            (name, fields), pause_ms = event
            yield _numbered(name, fields, number, pause_ms)
            number += 1

    def error(self, error: ErrorBlock) -> Any:
        return openai_error(error)


def openai_error(error: ErrorBlock) -> Any:
    return {"error": {"message": error.error, "type": error_type(error.status), "param": None, "code": None}}


def _is_from_user(item: dict[str, Any]) -> bool:
    return item.get("role") == "user" or item.get("type") == "agent_message"


def _letter(item: dict[str, Any]) -> str:
    if item.get("type") in _CALL_TYPES:
        return "c"
    return "t" if item.get("role") == "assistant" or item.get("type") == "reasoning" else "u"


def _output_text(item: dict[str, Any]) -> str:
    return text_of(item.get("output")) if item.get("type") == "function_call_output" else ""


def _tools(body: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[tuple[str, OfferedTool]]:
    offered = list(body.get("tools") or [])
    for item in items:
        if item.get("type") == "additional_tools":
            offered += item.get("tools") or []
    for tool in offered:
        inner = tool.get("tools") or [] if tool.get("type") == "namespace" else [tool]
        namespace = tool["name"] if tool.get("type") == "namespace" else ""
        for one in inner:
            if one.get("name"):
                freeform = one.get("type") == "custom"
                yield (
                    one["name"],
                    OfferedTool.from_schema(one.get("parameters"), freeform=freeform, namespace=namespace),
                )


def _response(turn: ReadyTurn, conversation: Conversation, output: list[Any] | None) -> dict[str, Any]:
    """The response with all its output, or at its beginning when there is none yet."""
    usage = {
        "input_tokens": turn.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": turn.output_tokens,
        "output_tokens_details": {"reasoning_tokens": turn.reasoning_tokens},
        "total_tokens": turn.input_tokens + turn.output_tokens,
    }
    return {
        "id": "resp_" + turn.uid,
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress" if output is None else "completed",
        "model": conversation.model,
        "output": output or [],
        "error": None,
        "usage": None if output is None else usage,
    }


def _item(speech: Speech) -> dict[str, Any]:
    match speech:
        case Saying():
            content = [{"type": "output_text", "text": speech.text, "annotations": []}]
            item = {"id": "msg_" + speech.uid, "type": "message", "role": "assistant", "content": content}
        case Thinking():
            summary = [{"type": "summary_text", "text": speech.text}]
            return {"id": "rs_" + speech.uid, "type": "reasoning", "summary": summary, "encrypted_content": None}
        case Calling(args=str(text)):
            item = {"id": "ctc_" + speech.uid, "type": "custom_tool_call", "name": speech.name, "input": text}
            item["call_id"] = "call_" + speech.uid
        case Calling():
            item = {"id": "fc_" + speech.uid, "type": "function_call", "name": speech.name, "arguments": speech.json}
            item["call_id"] = "call_" + speech.uid
            if speech.namespace:
                item["namespace"] = speech.namespace
    return {**item, "status": "completed"}


def _opening(speech: Speech) -> dict[str, Any]:
    empty: dict[str, Any] = {"content": [], "summary": [], "input": "", "arguments": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in _item(speech).items()}


def _numbered(name: str, fields: dict[str, Any], number: int, pause_ms: float) -> Frame:
    return frame({"type": name, "sequence_number": number, **fields}, event=name, pause_ms=pause_ms)


def _events(turn: ReadyTurn, conversation: Conversation) -> Iterator[tuple[_Unnumbered, float] | Cut]:
    for name in ("response.created", "response.in_progress"):
        yield (name, {"response": _response(turn, conversation, None)}), 0
    output: list[Any] = []
    for index, speech in enumerate(turn.speeches):
        done = _item(speech)
        yield ("response.output_item.added", {"output_index": index, "item": _opening(speech)}), 0
        place = {"item_id": done["id"], "output_index": index}
        for event in _inside(speech, done):
            if isinstance(event, Cut):
                yield event
                continue
            name, fields = event
            yield (name, {**place, **fields}), speech.block.delay_ms if name.endswith(".delta") else 0
        yield ("response.output_item.done", {"output_index": index, "item": done}), 0
        output.append(done)
    yield ("response.completed", {"response": _response(turn, conversation, output)}), 0


def _inside(speech: Speech, done: dict[str, Any]) -> Iterator[_Unnumbered | Cut]:
    match speech:
        case Saying():
            part = done["content"][0]
            yield "response.content_part.added", {"content_index": 0, "part": {**part, "text": ""}}
            for piece in speech.pieces():
                delta = {"content_index": 0, "delta": piece}
                yield piece if isinstance(piece, Cut) else ("response.output_text.delta", delta)
            yield "response.output_text.done", {"content_index": 0, "text": speech.text}
            yield "response.content_part.done", {"content_index": 0, "part": part}
        case Thinking():
            part = done["summary"][0]
            yield "response.reasoning_summary_part.added", {"summary_index": 0, "part": {**part, "text": ""}}
            for piece in speech.pieces():
                yield "response.reasoning_summary_text.delta", {"summary_index": 0, "delta": piece}
            yield "response.reasoning_summary_text.done", {"summary_index": 0, "text": speech.text}
            yield "response.reasoning_summary_part.done", {"summary_index": 0, "part": part}
        case Calling(args=str(text)):
            for piece in speech.pieces():
                yield "response.custom_tool_call_input.delta", {"delta": piece}
            yield "response.custom_tool_call_input.done", {"input": text}
        case Calling():
            for piece in speech.pieces():
                yield "response.function_call_arguments.delta", {"delta": piece}
            yield "response.function_call_arguments.done", {"arguments": speech.json}
