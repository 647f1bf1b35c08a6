"""The wire format of chat completions, as far as we read it.

A response is one JSON body (`choices[0].message`) or a stream of chunks (`choices[0].delta`); both hold the same
fields. Only what is used is declared, so that the decoder skips the rest. Leaves are `Any`: servers disagree about
them, and one odd leaf must not cost the words beside it.

- `content` is a string, null, or a list of parts.
- Thinking is in `reasoning_content` or, with other servers, `reasoning`. Proxies add `thinking_blocks` and
  `provider_specific_fields` with the same words again; those are not read.
- `tool_calls[].function.arguments` is a JSON text. `function_call` is the form of before tool calls and counts only
  where there are none (one server sends both).
- Errors are `{"error": {...}}`, `{"error": "..."}` or `{"object": "error", "message": ...}`; what stands before the
  server itself may answer with only a `message` or `detail`.
"""

from typing import Any

import msgspec

from sightline.events import Usage
from sightline.providers._source import decode_leniently
from sightline.text import clean_line, cut_graphemes

ERROR_CAP = 600


class Function(msgspec.Struct, gc=False):
    name: Any = None
    arguments: Any = None
    input: Any = None  # a custom tool takes plain text instead of arguments


class Call(msgspec.Struct, gc=False):
    index: Any = None
    id: Any = None
    function: Function | None = None
    custom: Function | None = None


class Message(msgspec.Struct, gc=False):
    role: Any = None
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    tool_calls: list[Call] | None = None
    function_call: Function | None = None

    def calls(self) -> list[Call]:
        if self.tool_calls:
            return self.tool_calls
        return [] if self.function_call is None else [Call(0, None, self.function_call)]


class Choice(msgspec.Struct, gc=False):
    index: Any = 0
    delta: Message | None = None
    message: Message | None = None
    finish_reason: Any = None


class PromptTokens(msgspec.Struct, gc=False):
    cached_tokens: Any = None
    cache_write_tokens: Any = None


class CompletionTokens(msgspec.Struct, gc=False):
    reasoning_tokens: Any = None


class Tokens(msgspec.Struct, gc=False):
    prompt_tokens: Any = None
    completion_tokens: Any = None
    total_tokens: Any = None
    prompt_tokens_details: PromptTokens | None = None
    completion_tokens_details: CompletionTokens | None = None
    cost: Any = None


class Body(msgspec.Struct, gc=False):
    id: Any = None
    object: Any = None
    model: Any = None
    choices: list[Choice] | None = None
    usage: Tokens | None = None
    error: Any = None
    message: Any = None
    detail: Any = None

    def is_chat(self) -> bool:
        return self.choices is not None or self.usage is not None or self.is_error()

    def is_error(self) -> bool:
        return bool(self.error) or self.object == "error"


decode_strictly = msgspec.json.Decoder(Body).decode


def decode_body(payload: bytes) -> Body:
    """The response or chunk of one JSON text; ValueError (or RecursionError) when it is none."""
    try:
        return decode_strictly(payload)
    except (ValueError, RecursionError):
        return msgspec.convert(decode_leniently(payload), Body)


def decode_bodies(payload: bytes) -> list[Body]:
    """The bodies of several JSON texts that stand on one line without anything between them; ValueError otherwise."""
    import json

    text, position, bodies = payload.decode("utf-8", "replace").strip(), 0, []
    decoder = json.JSONDecoder()
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        bodies.append(msgspec.convert(value, Body))
        while position < len(text) and text[position].isspace():
            position += 1
    return bodies


def pieces(message: Message) -> list[tuple[str, str]]:
    """What was thought and said, in that order, as (`reasoning`, words), (`text`, words) or (`other`, type of part)."""
    thought = message.reasoning_content or message.reasoning
    found = [("reasoning", thought)] if thought and isinstance(thought, str) else []
    content = message.content
    if isinstance(content, str):
        if content:
            found.append(("text", content))
    elif isinstance(content, list):
        found += [piece for part in content for piece in _part_pieces(part)]
    if message.refusal and isinstance(message.refusal, str):
        found.append(("text", message.refusal))
    return found


def _part_pieces(part: Any) -> list[tuple[str, str]]:
    if isinstance(part, str):
        return [("text", part)] if part else []
    if not isinstance(part, dict):
        return [("other", "unknown")]
    kind = part.get("type")
    if kind in ("thinking", "reasoning"):
        inner = part.get("thinking") or part.get("text")
        return [("reasoning", words) for words in _words(inner if isinstance(inner, list) else [inner])]
    words = _words([part.get("text") or part.get("refusal")])
    if words or kind in ("text", "refusal"):
        return [("text", words[0])] if words else []
    return [("other", kind if isinstance(kind, str) else "unknown")]


def _words(parts: list[Any]) -> list[str]:
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return [text for text in texts if text and isinstance(text, str)]


def usage_of(tokens: Tokens) -> Usage:
    prompt, completion = tokens.prompt_tokens_details, tokens.completion_tokens_details
    return Usage(
        _count(tokens.prompt_tokens),
        _count(tokens.completion_tokens),
        None if prompt is None else _count(prompt.cached_tokens),
        None if prompt is None else _count(prompt.cache_write_tokens),
        None if completion is None else _count(completion.reasoning_tokens),
        _count(tokens.total_tokens),
    )


def cost_of(tokens: Tokens) -> float | None:
    """What some proxies say the response cost, in US dollars."""
    cost = tokens.cost
    return float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < 1e12 else None


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    sums = {}
    for field in Usage.__struct_fields__:
        counts = [count for count in (getattr(one, field), getattr(other, field)) if count is not None]
        sums[field] = sum(counts) if counts else None
    return Usage(**sums)


def error_text(body: Body) -> str:
    """What an error body says, in one bounded line: the message and, where it adds something, its type and code."""
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


def error_status(body: Body) -> int:
    """The HTTP status an error body names, as some do; 0 when it does not."""
    code = body.error.get("code") if isinstance(body.error, dict) else None
    return int(code) if isinstance(code, (int, str)) and str(code) in _STATUSES else 0


_STATUSES = frozenset(map(str, range(400, 600)))


def excerpt(text: str) -> str:
    """The beginning of an untrusted text, as one line."""
    return cut_graphemes(" ".join(clean_line(text[: ERROR_CAP * 8]).split()), ERROR_CAP)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None
