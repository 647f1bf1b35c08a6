"""An answer put together while it streams: each thing a client hears goes in, the piece to pass on comes out."""

import secrets
from collections.abc import Callable

from sightline.conversation import AssistantMessage, AssistantPart, CallPart, ReasoningPart, StopReason, TextPart
from sightline.events import Usage
from sightline.models._api import CallDelta, CallStarted, Done, ReasoningDelta, TextDelta
from sightline.models.http._json import decode_text, whole_characters
from sightline.text import StreamFilter

_ID_BYTES = 6


def new_call_id() -> str:
    """For a call the agent did not name yet."""
    return f"call-{secrets.token_hex(_ID_BYTES)}"


class _Block:
    def __init__(self, index: int, kind: str) -> None:
        self.index = index
        self.kind = kind  # text, reasoning, call
        self.pieces: list[str] = []
        self.filter = StreamFilter()
        self.id = self.name = self.native_id = self.signature = ""
        self.opaque: object = None


class Assembly:
    """One answer. `key` is whatever the API identifies its blocks by; an unknown key begins a block.

    Clients whose API does not identify text blocks use one key until something else comes in between. What is of
    another kind is another block, whatever its key.
    """

    def __init__(self, api: str, model: str, *, new_id: Callable[[], str] = new_call_id) -> None:
        self.api = api
        self.model = model
        self.usage: Usage | None = None
        self.cost: float | None = None
        self._new_id = new_id
        self._blocks: dict[tuple[str, object], _Block] = {}  # by kind and key

    @property
    def begun(self) -> bool:
        return bool(self._blocks)

    def has_call(self, key: object) -> bool:
        return ("call", key) in self._blocks

    def text(self, key: object, text: str) -> TextDelta | None:
        block = self._block(key, "text")
        clean = block.filter.feed(text)
        block.pieces.append(clean)
        return TextDelta(block.index, clean) if clean else None

    def reasoning(
        self, key: object, text: str = "", *, signature: str = "", opaque: object = None
    ) -> ReasoningDelta | None:
        block = self._block(key, "reasoning")
        block.signature += signature
        block.opaque = opaque if opaque is not None else block.opaque
        clean = block.filter.feed(text)
        block.pieces.append(clean)
        return ReasoningDelta(block.index, clean) if clean else None

    def call(self, key: object, name: str, native_id: str = "", *, opaque: object = None) -> CallStarted | None:
        """A call begins; a repetition changes nothing but what was not known yet."""
        known = self.has_call(key)
        block = self._block(key, "call")
        block.name = block.name or whole_characters(name)
        block.native_id = block.native_id or whole_characters(native_id)
        block.opaque = opaque if opaque is not None else block.opaque
        if known:
            return None
        block.id = self._new_id()
        return CallStarted(block.index, block.id, block.name)

    def arguments(self, key: object, delta: str) -> CallDelta | None:
        block = self._blocks["call", key]
        block.pieces.append(delta)
        return CallDelta(block.index, block.id, block.name, delta) if delta else None

    def replace_arguments(self, key: object, whole: str) -> CallDelta | None:
        """The API sent them all at the end: only what is new of them is passed on."""
        block = self._blocks["call", key]
        before = "".join(block.pieces)
        block.pieces = [whole]
        new = whole[len(before) :] if whole.startswith(before) else ""
        return CallDelta(block.index, block.id, block.name, new) if new else None

    def count(self, usage: Usage, cost: float | None) -> None:
        self.usage, self.cost = usage, cost

    def message(self, stop_reason: StopReason, error: str = "") -> AssistantMessage:
        parts = [part for block in self._blocks.values() if (part := self._part(block)) is not None]
        return AssistantMessage(parts, self.api, self.model, stop_reason, self.usage, self.cost, error)

    def done(self, stop_reason: StopReason) -> Done:
        if stop_reason == "stop" and any(block.kind == "call" for block in self._blocks.values()):
            stop_reason = "tool_use"  # some servers stop with this reason whatever they call
        return Done(self.message(stop_reason))

    def _block(self, key: object, kind: str) -> _Block:
        block = self._blocks.get((kind, key))
        if block is None:
            block = self._blocks[kind, key] = _Block(len(self._blocks), kind)
        return block

    def _part(self, block: _Block) -> AssistantPart | None:
        text = "".join(block.pieces)
        if block.kind == "text":
            text += block.filter.end()
            return TextPart(text) if text else None
        if block.kind == "reasoning":
            if not (text or block.signature or block.opaque is not None):
                return None
            return ReasoningPart(text, self.api, block.signature, block.opaque)
        args, broken = decoded_arguments(text)
        api = self.api if block.opaque is not None else ""
        return CallPart(block.id, block.name, args, block.native_id, broken, api, block.opaque)


def decoded_arguments(text: str) -> tuple[dict[str, object], str]:
    """The arguments, or the text itself when it is no JSON object. Nothing at all stands for no arguments."""
    if not text.strip():
        return {}, ""
    try:
        value = decode_text(text)
    except ValueError:
        value = None
    return (value, "") if isinstance(value, dict) else ({}, whole_characters(text))
