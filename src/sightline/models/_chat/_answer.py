"""The chunks of one answer of Chat Completions.

Rules:

- The answer is whole once a `finish_reason` or `[DONE]` has come. Usage comes after the reason, in a chunk without
  choices; some servers send it with every chunk, and then the last one counts.
- Only the first of several choices is read. A body with a whole `message` is read like one delta.
- Thinking is in `reasoning_content`, `reasoning` or `thinking`, or among the words in a tag (`_thinking`). The same
  thinking under two names in one delta is read once.
- `function_call` counts only in an answer that has no `tool_calls`.
- A call among the words (`_textual`) counts only in an answer without any other.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Literal

import msgspec

from sightline.chat_completions import AnswerMessage, CallFragment, ChatBody, ChatFunctionCall, continues, pieces
from sightline.conversation import StopReason
from sightline.events import Usage
from sightline.models._api import Piece
from sightline.models._assembly import Assembly, decoded_arguments
from sightline.models._textual import WrittenCalls
from sightline.models.http import _json
from sightline.models.http._failing import failure
from sightline.models.http._openai_failure import decoded_part, in_stream

_OPEN, _CLOSE = "<think>", "</think>"

Kind = Literal["text", "reasoning"]


class InlineThinking:
    """One answer that arrives in pieces: which of it is thinking and which is words."""

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "between", "words"] = "start"
        self._held = ""
        self._thought = False  # something of the thinking has been passed on

    def feed(self, text: str) -> list[tuple[Kind, str]]:
        if self._state == "words":
            return [("text", text)] if text else []
        text = self._held + text
        self._held = ""
        if self._state == "start":
            return self._start(text)
        return self._think(text) if self._state == "thinking" else self._between(text)

    def end(self) -> list[tuple[Kind, str]]:
        """The answer is over, or continues with something else than text."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            return _thinking(held.rstrip())
        self._state = "words"
        return [("text", held)] if held else []

    def _start(self, text: str) -> list[tuple[Kind, str]]:
        inner = text.lstrip()
        if inner.startswith(_OPEN):
            self._state = "thinking"
            return self._think(inner[len(_OPEN) :])
        if _OPEN.startswith(inner):
            self._held = text
            return []
        self._state = "words"
        return [("text", text)]

    def _think(self, text: str) -> list[tuple[Kind, str]]:
        thought, found, words = (text if self._thought else text.lstrip()).partition(_CLOSE)
        if found:
            self._state = "between"
            return [*_thinking(thought.rstrip()), *self._between(words)]
        thought, self._held = _without_possible_end(thought)
        self._thought = self._thought or bool(thought)
        return _thinking(thought)

    def _between(self, words: str) -> list[tuple[Kind, str]]:
        words = words.lstrip()
        if not words:
            return []
        self._state = "words"
        return [("text", words)]


def _thinking(thought: str) -> list[tuple[Kind, str]]:
    return [("reasoning", thought)] if thought else []


def _without_possible_end(text: str) -> tuple[str, str]:
    """What is certain to be thinking, and what may be white space before the closing tag, or half of that."""
    for size in range(min(len(_CLOSE) - 1, len(text)), 0, -1):
        if text.endswith(_CLOSE[:size]):
            certain = text[:-size].rstrip()
            return certain, text[len(certain) :]
    certain = text.rstrip()
    return certain, text[len(certain) :]


_STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
}
_LAST = b"[DONE]"
_chunk_decoder = msgspec.json.Decoder(ChatBody)


class ChatAnswer:
    """Takes chunks in, gives pieces out. `written` are the names of tools that may be called in words."""

    def __init__(
        self, assembly: Assembly, price: Callable[[Usage], float | None], written: Collection[str] = ()
    ) -> None:
        self._assembly = assembly
        self._price = price
        self._thinking = InlineThinking()
        self._written = WrittenCalls(written)
        self._calls = ChatCalls(assembly)
        self._kind = ""  # of the block under way
        self._blocks = 0
        self._finish = ""
        self._refused = False
        self._streamed = self._structured = self._is_over = False

    @property
    def is_whole(self) -> bool:
        return bool(self._finish) or self._is_over

    def read(self, data: bytes) -> Iterator[Piece]:
        if data == _LAST:
            self._is_over = True
            return
        chunk = decoded_part(_chunk_decoder, data)
        failed = chunk.failure()
        if failed is not None:
            raise in_stream(failed)
        if (reported := chunk.tokens()) is not None:
            usage, cost = reported.usage(), reported.dollars()
            self._assembly.count(usage, self._price(usage) if cost is None else cost)
        for choice in chunk.choices or ():
            if choice.index:
                continue
            if choice.delta is not None:
                self._streamed = True
                yield from self._take(choice.delta)
            elif choice.message is not None and not self._streamed:
                yield from self._take(choice.message)
            if choice.finish_reason:
                self._finish = str(choice.finish_reason)
            break

    def end(self) -> Iterator[Piece]:
        """The stream has ended: what was held back, and `Done`; ModelError when the answer had not ended."""
        if not self.is_whole:
            yield from self.released()
            raise failure("cut", "the answer broke off before its end")
        if self._finish == "error":
            raise in_stream("it could not finish its answer")
        yield from self._of_kinds(self._thinking.end())
        words, calls = self._written.end()
        yield from self._text(words)
        for number, call in enumerate(calls):
            yield from self._calls.take(CallFragment(number, None, ChatFunctionCall(call.name, call.arguments)))
        yield from self._calls.end()
        yield self._assembly.done(self._stop_reason())

    def _stop_reason(self) -> StopReason:
        if self._refused:
            return "refusal"
        return _STOP_REASONS.get(self._finish, "stop")

    def _take(self, delta: AnswerMessage) -> Iterator[Piece]:
        for kind, words in pieces(delta):
            if kind == "reasoning":
                yield from self._reasoning(words)
            elif kind == "text":
                yield from self._of_kinds(self._thinking.feed(words))
            elif kind == "refusal":
                self._refused = True
                yield from self._text(words)
        for fragment in self._fragments(delta):
            if not self._calls.begun:
                yield from self.released()
            self._kind = ""
            yield from self._calls.take(fragment)

    def _fragments(self, delta: AnswerMessage) -> list[CallFragment]:
        if delta.tool_calls:
            self._structured = True
            return delta.tool_calls
        if delta.function_call is None or self._structured:
            return []
        return [CallFragment(0, None, delta.function_call)]

    def released(self) -> Iterator[Piece]:
        """What was held back is text: the answer continues with calls, or broke off."""
        yield from self._of_kinds(self._thinking.end())
        yield from self._text(self._written.give_up())

    def _of_kinds(self, found: list[tuple[Kind, str]]) -> Iterator[Piece]:
        for kind, words in found:
            yield from self._reasoning(words) if kind == "reasoning" else self._text(self._written.feed(words))

    def _text(self, words: str) -> Iterator[Piece]:
        if words and (piece := self._assembly.text(self._block("text"), words)) is not None:
            yield piece

    def _reasoning(self, words: str) -> Iterator[Piece]:
        if (piece := self._assembly.reasoning(self._block("reasoning"), words)) is not None:
            yield piece

    def _block(self, kind: str) -> tuple[str, int]:
        """The block words of a kind belong to: what is contiguous is one."""
        if kind != self._kind:
            self._kind = kind
            self._blocks += 1
        return kind, self._blocks


_NO_FUNCTION = ChatFunctionCall()


class _Call:
    def __init__(self, key: object) -> None:
        self.key = key
        self.native_id = self.name = ""
        self.arguments: list[str] = []

    def is_complete(self) -> bool:
        end = next((piece for piece in reversed(self.arguments) if piece.strip()), "")
        return end.rstrip().endswith("}") and not decoded_arguments("".join(self.arguments))[1]


class ChatCalls:
    """The calls of one answer, in the order they began."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._calls: list[_Call] = []
        self._last: dict[int | str | None, _Call] = {}  # of each index the last call, of None the last of all

    @property
    def begun(self) -> bool:
        return bool(self._calls)

    def take(self, fragment: CallFragment) -> Iterator[Piece]:
        function = fragment.function or _NO_FUNCTION
        call = self._call_of(fragment)
        if isinstance(fragment.id, str):
            call.native_id = call.native_id or fragment.id
        if isinstance(function.name, str):
            call.name = call.name or function.name
        text = _arguments_text(function.arguments)
        call.arguments.append(text)
        if not call.name:
            return  # it cannot be shown yet
        begun = self._assembly.call(call.key, call.name, call.native_id)
        if begun is not None:
            yield begun
            text = "".join(call.arguments)
        delta = self._assembly.arguments(call.key, text)
        if delta is not None:
            yield delta

    def end(self) -> Iterator[Piece]:
        """The answer is over: a call whose name never came is one all the same, so that the model hears of it."""
        for call in self._calls:
            if not call.name:
                begun = self._assembly.call(call.key, "", call.native_id)
                delta = self._assembly.arguments(call.key, "".join(call.arguments))
                yield from [piece for piece in (begun, delta) if piece is not None]

    def _call_of(self, fragment: CallFragment) -> _Call:
        index = fragment.index if isinstance(fragment.index, int | str) else None
        last = self._last.get(index)
        if last is not None and continues(fragment, last):
            return last
        if fragment.id and index is None:
            known = next((call for call in self._calls if call.native_id == fragment.id), None)
            if known is not None:
                return known
        index = len(self._calls) if index is None else index
        call = _Call(len(self._calls))
        self._calls.append(call)
        self._last[index] = self._last[None] = call
        return call


def _arguments_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else _json.encode(arguments).decode()
