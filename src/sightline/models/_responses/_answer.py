"""The events of one answer of OpenAI Responses.

An answer is a list of items: messages, reasoning, calls. Each is added, its inside is sent as deltas and once more
whole, and it is done; the last event (`response.completed`, `.incomplete` or `.failed`) repeats all of them. Servers
leave out parts of that, so whatever comes first is taken and what is repeated adds only what is new. An `error` event
ends the stream at any place. Unknown events and items are passed over.
"""

from collections.abc import Callable, Iterator

from sightline.chat_completions import converted, dollars, tokens
from sightline.conversation import StopReason
from sightline.events import Usage
from sightline.models._api import Done, Piece
from sightline.models._assembly import Assembly
from sightline.models._responses import _wire as wire
from sightline.models.http import _json
from sightline.models.http._failing import failure, quoted
from sightline.models.http._openai_failure import decoded_part, in_stream

LAST_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})

_TEXT_DELTAS = ("response.output_text.delta", "response.refusal.delta")
_REASONING_DELTAS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDINGS: dict[str, StopReason] = {"max_output_tokens": "length", "content_filter": "refusal"}
_BETWEEN_THOUGHTS = "\n\n"


class ResponsesAnswer:
    """Takes events in, gives pieces out."""

    def __init__(self, assembly: Assembly, price: Callable[[Usage], float | None]) -> None:
        self._assembly = assembly
        self._price = price
        self._received: dict[object, list[str]] = {}  # texts and thoughts by block, to recognise repetitions
        self._thought_kind: dict[object, tuple[object, int | None]] = {}  # event and part of a thought's last words
        self._indexes: dict[str, object] = {}  # of items by their ids
        self._stop_reason: StopReason | None = None
        self._refused = False

    @property
    def is_over(self) -> bool:
        return self._stop_reason is not None

    def read(self, data: bytes) -> Iterator[Piece]:
        if data == b"[DONE]":
            return
        event = decoded_part(wire.event_decoder, data)
        kind = event.type
        if event.kind == "response":
            yield from self._end(_whole(data))
        elif kind in _TEXT_DELTAS:
            self._refused |= kind == "response.refusal.delta"
            yield from self._text((self._index(event), event.content_index or 0), event.delta)
        elif kind in _REASONING_DELTAS:
            yield from self._think(event)
        elif kind == "response.function_call_arguments.delta":
            yield from self._arguments(self._index(event), event.delta)
        elif kind == "response.function_call_arguments.done":
            yield from self._whole_arguments(self._index(event), event.arguments)
        elif kind == "response.output_item.added":
            index, item = self._index(event), event.item or {}
            yield from self._call(index, item) if item.get("type") == "function_call" else ()
        elif kind == "response.output_item.done":
            yield from self._finish(self._index(event), event.item or {})
        elif kind in ("response.completed", "response.incomplete", "response.failed", "response.cancelled"):
            yield from self._end(event.response or wire.Response(status=kind.partition(".")[2]))
        elif kind == "error" or event.error:
            raise in_stream(event.error or {"message": event.message, "code": event.code})

    def done(self) -> Done:
        """The stream has ended; ModelError when the answer had not."""
        if self._stop_reason is None:
            raise failure("cut", "the answer broke off before its end")
        return self._assembly.done(self._stop_reason)

    def _index(self, event: wire.ResponsesEvent) -> object:
        """What identifies the item: its place, or its id from a server that does not send the place."""
        ident = event.item_id or _id(event.item or {})
        if ident is None:
            return event.output_index
        known = self._indexes.setdefault(ident, ident if event.output_index is None else event.output_index)
        return known if event.output_index is None else event.output_index

    def _finish(self, index: object, item: dict[str, object]) -> Iterator[Piece]:
        match item.get("type"):
            case "message":
                yield from self._message(index, item.get("content"))
            case "function_call":
                yield from self._call(index, item)
                yield from self._whole_arguments(index, item.get("arguments"))
            case "reasoning":
                yield from self._reasoning(index, item)

    def _message(self, index: object, content: object) -> Iterator[Piece]:
        for number, part in enumerate(content if isinstance(content, list) else []):
            if isinstance(part, dict):
                self._refused |= part.get("type") == "refusal"
                key = (index, number)
                yield from self._text(key, self._rest(key, part.get("text") or part.get("refusal")))

    def _reasoning(self, index: object, item: dict[str, object]) -> Iterator[Piece]:
        key = ("reasoning", index)
        thought = _texts(item.get("summary")) or _texts(item.get("content"))
        rest = self._rest(key, thought)
        self._received.setdefault(key, []).append(rest)
        opaque = item if item.get("encrypted_content") else None
        if (rest or opaque is not None) and (piece := self._assembly.reasoning(key, rest, opaque=opaque)) is not None:
            yield piece

    def _think(self, event: wire.ResponsesEvent) -> Iterator[Piece]:
        """Of a thought and its summary only the one that came first is read; its parts are paragraphs."""
        key = ("reasoning", self._index(event))
        part = event.summary_index if event.type == _REASONING_DELTAS[0] else event.content_index
        kind, last = self._thought_kind.setdefault(key, (event.type, part))
        if kind != event.type or not isinstance(event.delta, str):
            return
        words = event.delta if part == last else _BETWEEN_THOUGHTS + event.delta
        self._thought_kind[key] = (kind, part)
        self._received.setdefault(key, []).append(words)
        if (piece := self._assembly.reasoning(key, words)) is not None:
            yield piece

    def _text(self, place: tuple[object, object], words: object) -> Iterator[Piece]:
        if not words or not isinstance(words, str):
            return
        self._received.setdefault(place, []).append(words)
        if (piece := self._assembly.text(("text", *place), words)) is not None:
            yield piece

    def _call(self, index: object, item: dict[str, object]) -> Iterator[Piece]:
        name, native_id = item.get("name"), item.get("call_id")
        piece = self._assembly.call(
            ("call", index), name if isinstance(name, str) else "", native_id if isinstance(native_id, str) else ""
        )
        if piece is not None:
            yield piece

    def _arguments(self, index: object, delta: object) -> Iterator[Piece]:
        key = ("call", index)
        if self._assembly.has_call(key) and isinstance(delta, str):
            piece = self._assembly.arguments(key, delta)
            if piece is not None:
                yield piece

    def _whole_arguments(self, index: object, whole: object) -> Iterator[Piece]:
        key = ("call", index)
        if self._assembly.has_call(key) and isinstance(whole, str) and whole:
            piece = self._assembly.replace_arguments(key, whole)
            if piece is not None:
                yield piece

    def _end(self, response: wire.Response) -> Iterator[Piece]:
        if (reported := converted(response.usage, wire.ResponsesTokens)) is not None:
            self._count(reported)
        if response.status in ("failed", "cancelled") or response.error:
            raise in_stream(response.error or f"the response was {response.status}")
        for index, item in enumerate(response.output or ()):
            yield from self._finish(self._indexes.get(_id(item) or "", index), item)
        self._stop_reason = "refusal" if self._refused else "stop"
        if response.status == "incomplete":
            reason = response.incomplete_details.reason if response.incomplete_details else None
            self._stop_reason = _ENDINGS.get(reason or "", "length")

    def _rest(self, key: object, whole: object) -> str:
        """What is new of a text that is sent whole after its pieces."""
        before = "".join(self._received.get(key, ()))
        return whole[len(before) :] if isinstance(whole, str) and whole.startswith(before) else ""

    def _count(self, reported: wire.ResponsesTokens) -> None:
        read, made = reported.input_tokens_details, reported.output_tokens_details
        usage = Usage(
            tokens(reported.input_tokens),
            tokens(reported.output_tokens),
            None if read is None else tokens(read.cached_tokens),
            None,
            None if made is None else tokens(made.reasoning_tokens),
            tokens(reported.total_tokens),
        )
        cost = dollars(reported.cost)
        self._assembly.count(usage, self._price(usage) if cost is None else cost)


def _id(item: dict[str, object]) -> str | None:
    ident = item.get("id")
    return ident if isinstance(ident, str) else None


def _texts(parts: object) -> str:
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return _BETWEEN_THOUGHTS.join([text for text in texts if isinstance(text, str)])


def _whole(data: bytes) -> wire.Response:
    try:
        return _json.decode(wire.response_decoder, data)
    except ValueError:
        raise failure("protocol", f"the answer cannot be read: {quoted(data)}") from None
