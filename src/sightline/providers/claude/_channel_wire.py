"""The lines of Claude Code's stream that are about the conversation itself, as far as they are read, and those it is
sent. Anything but their type may be of any shape."""

import json
from typing import Any

import msgspec

from sightline.providers._source import decode_leniently


class ChannelLine(msgspec.Struct, gc=False):
    """Any line: enough to tell whose it is. What a line says and does is the source's to read."""

    type: str
    subtype: Any = ""
    request_id: Any = ""
    request: Any = None
    response: Any = None
    state: Any = ""
    task_id: Any = ""
    tool_use_id: Any = ""
    summary: Any = ""


_decode = msgspec.json.Decoder(ChannelLine).decode


def head_of(line: bytes) -> ChannelLine:
    """ValueError or RecursionError when it cannot be read."""
    try:
        return _decode(line)
    except ValueError:
        return msgspec.convert(decode_leniently(line), ChannelLine)


def encoded(*messages: dict[str, Any]) -> bytes:
    """Lines to be sent. Half a character that came in goes back as it was."""
    return b"".join([json.dumps(message).encode() + b"\n" for message in messages])


def control(id: str, subtype: str, **fields: Any) -> dict[str, Any]:
    return {"type": "control_request", "request_id": id, "request": {"subtype": subtype, **fields}}


def words(text: str, uuid: str) -> dict[str, Any]:
    """What the person says."""
    message = {"role": "user", "content": text}
    return {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "", "uuid": uuid}


def answer(id: Any, response: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": id, "response": response},
    }


def refusal(id: Any, why: str) -> dict[str, Any]:
    return {"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": why}}
