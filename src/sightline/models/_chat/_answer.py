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

import msgspec

from sightline.chat_completions import AnswerMessage, CallFragment, ChatBody, ChatFunctionCall, pieces
from sightline.conversation import StopReason
from sightline.events import Usage
from sightline.models._api import Piece
from sightline.models._assembly import Assembly
from sightline.models._chat._calls import ChatCalls
from sightline.models._chat._thinking import InlineThinking, Kind
from sightline.models._textual import WrittenCalls
from sightline.models.http import _json
from sightline.models.http._failing import failure, quoted
from sightline.models.http._openai_failure import in_stream

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
        chunk = _decoded(data)
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


def _decoded(data: bytes) -> ChatBody:
    try:
        return _json.decode(_chunk_decoder, data)
    except ValueError:
        if data.rstrip().endswith(b"}"):
            raise failure("protocol", f"a part of the answer cannot be read: {quoted(data)}") from None
        raise failure("cut", "the answer broke off before its end") from None
