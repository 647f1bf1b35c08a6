"""An answer of Chat Completions, as far as it is read: for our own agent (`models`) and as a provider (`providers`).

An answer is one JSON body (`choices[0].message`) or a stream of chunks (`choices[0].delta`); both hold the same fields.
Only what is used is declared, so that the decoder skips the rest. Leaves are `object`: servers disagree about them, and
one odd leaf must not cost the words beside it.

- `content` is a string, null, or a list of parts.
- Thinking is in `reasoning_content`, `reasoning` or `thinking`; under two names in one message it is read once. Proxies
  add `thinking_blocks` and `provider_specific_fields` with the same words again; those are not read.
- `tool_calls[].function.arguments` is a JSON text. `function_call` is the form of before tool calls and counts only
  where there are none (one server sends both).
- Fragments of a call share `index`. Its name comes once, or with each fragment. The index may be missing, or 0 for all:
  then another id together with a name is another call. Another id alone is not: there are servers that make one up per
  fragment. Without any ids, a name after whole arguments is another call.
- Errors are `{"error": {...}}`, `{"error": "..."}` or `{"object": "error", "message": ...}`; what stands before the
  server itself may answer with only a `message` or `detail`.
"""

from typing import Literal, Protocol, TypeVar

import msgspec

from sightline.events import Usage

T = TypeVar("T")


class ChatFunctionCall(msgspec.Struct, gc=False):
    name: object = None
    arguments: object = None
    input: object = None  # a custom tool takes plain text instead of arguments


class CallFragment(msgspec.Struct, gc=False):
    """A call, or what one chunk has of it."""

    index: object = None
    id: object = None
    function: ChatFunctionCall | None = None
    custom: ChatFunctionCall | None = None


class CallSoFar(Protocol):
    """What is known of a call whose fragments still come."""

    name: str
    native_id: str  # as its fragments give it

    def is_complete(self) -> bool:
        """Whether its arguments are whole as they are."""


def continues(fragment: CallFragment, call: CallSoFar) -> bool:
    """Whether a fragment of the call's index, or of none, is of that call."""
    function = fragment.function or fragment.custom
    if function is None or not function.name or not call.name:
        return True
    if fragment.id and call.native_id:
        return bool(fragment.id == call.native_id)
    return not (function.arguments and call.is_complete())


class AnswerMessage(msgspec.Struct, gc=False):
    """The message of a body, or what one chunk adds to it."""

    role: object = None
    content: object = None
    reasoning_content: object = None
    reasoning: object = None
    thinking: object = None
    refusal: object = None
    tool_calls: list[CallFragment] | None = None
    function_call: ChatFunctionCall | None = None

    def calls(self) -> list[CallFragment]:
        if self.tool_calls:
            return self.tool_calls
        return [] if self.function_call is None else [CallFragment(0, None, self.function_call)]


class ChatChoice(msgspec.Struct, gc=False):
    index: object = 0
    delta: AnswerMessage | None = None
    message: AnswerMessage | None = None
    finish_reason: object = None
    error: object = None


class _PromptTokens(msgspec.Struct, gc=False):
    cached_tokens: object = None
    cache_write_tokens: object = None


class _CompletionTokens(msgspec.Struct, gc=False):
    reasoning_tokens: object = None


class _CostDetails(msgspec.Struct, gc=False):
    upstream_inference_cost: object = None


class ChatTokens(msgspec.Struct, gc=False):
    prompt_tokens: object = None
    completion_tokens: object = None
    total_tokens: object = None
    prompt_tokens_details: _PromptTokens | None = None
    completion_tokens_details: _CompletionTokens | None = None
    prompt_cache_hit_tokens: object = None
    cost: object = None
    is_byok: object = None  # the account upstream is billed, not this one
    cost_details: _CostDetails | None = None

    def usage(self) -> Usage:
        prompt, completion = self.prompt_tokens_details, self.completion_tokens_details
        cached = None if prompt is None else tokens(prompt.cached_tokens)
        return Usage(
            tokens(self.prompt_tokens),
            tokens(self.completion_tokens),
            tokens(self.prompt_cache_hit_tokens) if cached is None else cached,
            None if prompt is None else tokens(prompt.cache_write_tokens),
            None if completion is None else tokens(completion.reasoning_tokens),
            tokens(self.total_tokens),
        )

    def dollars(self) -> float | None:
        """The cost the server reports, as some proxies do."""
        own = dollars(self.cost)
        if not self.is_byok or own is None:
            return own
        upstream = None if self.cost_details is None else dollars(self.cost_details.upstream_inference_cost)
        return None if upstream is None else own + upstream


class ChatBody(msgspec.Struct, gc=False):
    """A whole answer, or one chunk of it."""

    id: object = None
    kind: object = msgspec.field(name="object", default=None)
    model: object = None
    choices: list[ChatChoice] | None = None
    usage: object = None  # Tokens
    error: object = None
    message: object = None
    detail: object = None
    type: object = None
    code: object = None

    def is_error(self) -> bool:
        return bool(self.error) or self.kind == "error"

    def failure(self) -> object:
        """The error it is, or has in a choice; None when there is none."""
        if self.error:
            return self.error
        if self.kind == "error":
            return {"message": self.message, "type": self.type, "code": self.code}
        return next((choice.error for choice in self.choices or () if choice.error), None)

    def tokens(self) -> ChatTokens | None:
        """What it reports about usage; None when it reports nothing, or something else."""
        return None if self.usage is None else converted(self.usage, ChatTokens)


# `other`: the type of a part that is neither.
PieceKind = Literal["reasoning", "text", "refusal", "other"]


def pieces(message: AnswerMessage) -> list[tuple[PieceKind, str]]:
    """The thinking and the text, in that order."""
    thought = message.reasoning_content or message.reasoning or message.thinking
    found: list[tuple[PieceKind, str]] = [("reasoning", thought)] if thought and isinstance(thought, str) else []
    content = message.content
    if isinstance(content, str):
        if content:
            found.append(("text", content))
    elif isinstance(content, list):
        found += [piece for part in content for piece in _part_pieces(part)]
    if message.refusal and isinstance(message.refusal, str):
        found.append(("refusal", message.refusal))
    return found


def _part_pieces(part: object) -> list[tuple[PieceKind, str]]:
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


def _words(parts: list[object]) -> list[str]:
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return [text for text in texts if text and isinstance(text, str)]


def converted(value: object, kind: type[T]) -> T | None:
    """A decoded value as a struct; None when it does not fit."""
    try:
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError):
        return None


def tokens(value: object) -> int | None:
    """A count of tokens; None when it is anything else."""
    return value if type(value) is int and 0 <= value < 2**63 else None


def dollars(value: object) -> float | None:
    """A price; None when it is anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9 else None
