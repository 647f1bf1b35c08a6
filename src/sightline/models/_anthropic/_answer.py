"""The events of one answer, in the order Anthropic sends them.

`message_start`, then each block (`content_block_start`, deltas, `content_block_stop`), then `message_delta` with the
stop reason and the last word on usage, then `message_stop`. `ping` and unknown events may stand anywhere. An `error`
event ends the stream at any place. There are servers that begin a second block under the index of one that has ended.
"""

from collections.abc import Callable

from sightline.conversation import StopReason
from sightline.events import Usage
from sightline.models._anthropic import _failure
from sightline.models._anthropic import _wire as wire
from sightline.models._api import Done, Piece
from sightline.models._assembly import Assembly
from sightline.models.http import _json
from sightline.models.http._failing import failure
from sightline.models.http._usage import TokenCounts
from sightline.text import clean_text

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",  # a pause between tools of the server, of which it has none from us
    "tool_use": "tool_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


Key = tuple[int, int]  # of a block: its index, and how many have ended under it


class _Thought:
    """A thought as it came. What is signed must go back to the letter, and shown is only what passed the filter."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.signature = ""

    @property
    def text(self) -> str:
        return _json.whole_characters("".join(self.pieces))

    def was_filtered(self) -> bool:
        return bool(self.signature) and clean_text(self.text) != self.text

    def opaque(self) -> dict[str, str]:
        return {"type": "thinking", "thinking": self.text, "signature": self.signature}


class AnthropicAnswer:
    """Takes events in, gives pieces out."""

    def __init__(self, assembly: Assembly, price: Callable[[Usage], float | None]) -> None:
        self._assembly = assembly
        self._price = price
        self._tokens = TokenCounts(
            "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
        )
        self._stop_reason = ""
        self._whole_inputs: dict[Key, bytes] = {}  # of calls whose arguments came with their beginning
        self._thoughts: dict[Key, _Thought] = {}
        self._ended: dict[int, int] = {}  # how many blocks have ended under an index
        self.is_over = False

    def read(self, data: bytes) -> list[Piece]:
        piece = self._piece(_decoded(data))
        return [] if piece is None else [piece]

    def _piece(self, event: wire.AnthropicEvent) -> Piece | None:
        match event.type:
            case "content_block_delta":
                return self._delta(self._key(event.index), event.delta or wire.AnthropicDelta())
            case "content_block_start":
                return self._begin(self._key(event.index), event.content_block or wire.StartedBlock())
            case "content_block_stop":
                key = self._key(event.index)
                self._ended[event.index] = key[1] + 1
                return self._end(key)
            case "message_start":
                self._count(event.message.usage if event.message else None)
            case "message_delta":
                self._count(event.usage)
                self._stop_reason = (event.delta.stop_reason if event.delta else None) or self._stop_reason
            case "message_stop":
                self.is_over = True
            case "message":
                raise failure("protocol", "the server answered in one piece, not as a stream")
            case _ if event.type == "error" or event.error:
                raise _failure.in_stream(event.error)
        return None

    def done(self) -> Done:
        """The stream has ended; ModelError when the answer had not."""
        if not (self.is_over or self._stop_reason):
            raise failure("cut", "the answer broke off before its end")
        return self._assembly.done(_STOP_REASONS.get(self._stop_reason, "stop"))

    def _key(self, index: int) -> Key:
        return index, self._ended.get(index, 0)

    def _begin(self, key: Key, block: wire.StartedBlock) -> Piece | None:
        match block.type:
            case "text":
                return self._assembly.text(key, block.text or "")
            case "thinking":
                return self._think(key, block.thinking or "", block.signature or "")
            case "redacted_thinking":
                opaque = {"type": "redacted_thinking", "data": block.data or ""}
                return self._assembly.reasoning(key, opaque=opaque)
            case "tool_use":
                if block.input:
                    self._whole_inputs[key] = _json.encode(block.input)
                return self._assembly.call(key, block.name or "", block.id or "")
        return None

    def _delta(self, key: Key, delta: wire.AnthropicDelta) -> Piece | None:
        match delta.type:
            case "text_delta":
                return self._assembly.text(key, delta.text or "")
            case "input_json_delta" if self._assembly.has_call(key):
                if delta.partial_json:
                    self._whole_inputs.pop(key, None)
                return self._assembly.arguments(key, delta.partial_json or "")
            case "thinking_delta":
                return self._think(key, delta.thinking or "")
            case "signature_delta":
                return self._think(key, "", delta.signature or "")
        return None

    def _think(self, key: Key, text: str, signature: str = "") -> Piece | None:
        thought = self._thoughts.setdefault(key, _Thought())
        thought.pieces.append(text)
        thought.signature += signature
        return self._assembly.reasoning(key, text, signature=signature)

    def _end(self, key: Key) -> Piece | None:
        thought = self._thoughts.pop(key, None)
        if thought is not None and thought.was_filtered():
            self._assembly.reasoning(key, opaque=thought.opaque())
        whole = self._whole_inputs.pop(key, None)
        if whole is not None:
            return self._assembly.arguments(key, whole.decode())
        return None

    def _count(self, report: object) -> None:
        """As the API counts: what came from the cache and what went there is no part of the input."""
        if self._tokens.update(report):
            counts = self._tokens
            usage = Usage(
                input_tokens=counts.sum("input_tokens"),
                output_tokens=counts.sum("output_tokens"),
                cache_read_tokens=counts.sum("cache_read_input_tokens"),
                cache_write_tokens=counts.sum("cache_creation_input_tokens"),
            )
            self._assembly.count(usage, self._price(usage))


def _decoded(data: bytes) -> wire.AnthropicEvent:
    try:
        return _json.decode(wire.event_decoder, data)
    except ValueError as problem:
        if _is_unknown(data):
            return wire.AnthropicEvent()
        raise failure("protocol", f"an event of the answer cannot be read: {problem}") from None


def _is_unknown(data: bytes) -> bool:
    try:
        return _json.decode(wire.type_decoder, data).type not in wire.READ
    except ValueError:
        return False
