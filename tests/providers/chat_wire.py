"""Building chat completions by hand, and taking their events apart again."""

import json

from sightline.events import Reasoning, Text, ToolUse
from sightline.providers import EventStream
from sightline.providers.openai_compatible import ChatSource


def events_of(data: bytes) -> list:
    stream = EventStream(ChatSource())
    return stream.feed(data) + stream.end()


def words(events) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def thoughts(events) -> str:
    return "".join(event.text for event in events if isinstance(event, Reasoning))


def calls(events) -> list:
    return [(event.native_name, event.args) for event in events if isinstance(event, ToolUse)]


def kinds(events) -> list[str]:
    return [type(event).__name__ for event in events]


def body(message: dict, finish: str = "stop", **more) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "r1", "object": "chat.completion", "model": "m", "choices": [choice], **more}).encode()


def chunk(delta: dict, finish: str | None = None, ident: str = "r1", **more) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": ident, "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def fragment(arguments=None, name=None, index=0, ident=None) -> dict:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call = {"index": index, "id": ident, "function": function}
    return {"tool_calls": [{key: value for key, value in call.items() if value is not None}]}


DONE = b"data: [DONE]\n\n"
