"""Bodies of chat completions (`sightline.chat_completions`), decoded however they are written, and error texts."""

import msgspec

from sightline.chat_completions import ChatBody
from sightline.providers._source import decode_leniently
from sightline.text import clean_line, cut_graphemes

ERROR_CAP = 600

decode_strictly = msgspec.json.Decoder(ChatBody).decode


def is_chat(body: ChatBody) -> bool:
    return body.choices is not None or body.is_error() or body.tokens() is not None


def decode_body(payload: bytes) -> ChatBody:
    """The response or chunk of one JSON text; ValueError (or RecursionError) when it is none."""
    try:
        return decode_strictly(payload)
    except (ValueError, RecursionError):
        return msgspec.convert(decode_leniently(payload), ChatBody)


def decode_bodies(payload: bytes) -> list[ChatBody]:
    """The bodies of several JSON texts that stand on one line without anything between them; ValueError otherwise."""
    import json

    text, position, bodies = payload.decode("utf-8", "replace").strip(), 0, []
    decoder = json.JSONDecoder()
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        bodies.append(msgspec.convert(value, ChatBody))
        while position < len(text) and text[position].isspace():
            position += 1
    return bodies


def error_text(body: ChatBody) -> str:
    """The text of an error body, in one bounded line: the message and, where it adds something, its type and code."""
    error = body.error or body.message or body.detail
    if isinstance(error, list):  # a validation error of a common web framework: a list of what is wrong
        messages = [item.get("msg") for item in error if isinstance(item, dict)]
        error = "; ".join(message for message in messages if isinstance(message, str))
    if isinstance(error, str) and error:
        return excerpt(error)
    if not isinstance(error, dict):
        return "no message"
    message, kind, code = error.get("message"), error.get("type"), error.get("code")
    if isinstance(code, int) and 0 < code < 1000:
        code = str(code)
    extra = ", ".join(one for one in (kind, code) if one and isinstance(one, str))
    if isinstance(message, str) and message:
        return f"{excerpt(message)} ({excerpt(extra)})" if extra else excerpt(message)
    return excerpt(extra) or "no message"


def error_status(body: ChatBody) -> int:
    """The HTTP status an error body names, as some do; 0 when it does not."""
    code = body.error.get("code") if isinstance(body.error, dict) else None
    return int(code) if isinstance(code, (int, str)) and str(code) in _STATUSES else 0


_STATUSES = frozenset(map(str, range(400, 600)))


def excerpt(text: str) -> str:
    """The beginning of an untrusted text, as one line."""
    return cut_graphemes(" ".join(clean_line(text[: ERROR_CAP * 8]).split()), ERROR_CAP)
