"""The events of a stream without secrets, for a reader that is not a viewer of a session.

Rules:

- Every field is masked, ids too: the same id is the same mask.
- Words, arguments and output that come in pieces are masked as if they came whole. What may be the beginning of a value
  waits for the next piece, or for what ends it: anything else of the same agent ends its words, a call's start its
  arguments, a call's result its output.
- Without known secrets every batch is returned as it is.
"""

from msgspec.structs import replace

from sightline.events import Event, Reasoning, Text, ToolArgs, ToolOutput, ToolResult, ToolUse
from sightline.secrets._secrets import MaskedStream, Secrets

_PIECES: dict[type, str] = {Text: "text", Reasoning: "text", ToolArgs: "delta", ToolOutput: "content"}


class MaskedEvents:
    """`mask` each batch in order, then `end`."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._open: dict[tuple[object, ...], tuple[Event, MaskedStream]] = {}

    def mask(self, batch: list[Event]) -> list[Event]:
        if self._secrets.is_empty:
            return batch
        shown: list[Event] = []
        for event in batch:
            key = _key(event)
            for other in [other for other in self._open if other != key and _ends(event, other)]:
                shown += self._ended(other)
            field = _PIECES.get(type(event))
            masked = self._masked(event, field)
            if field is None:
                shown.append(masked)
                continue
            piece: str = getattr(event, field)
            stream = self._open[key][1] if key in self._open else self._secrets.stream()
            self._open[key] = masked, stream
            text = stream.feed(piece)
            if text or not piece or isinstance(event, ToolArgs):  # that there is a call is news
                shown.append(replace(masked, **{field: text}))
        return shown

    def end(self) -> list[Event]:
        """What still waits."""
        return [event for key in list(self._open) for event in self._ended(key)]

    def _ended(self, key: tuple[object, ...]) -> list[Event]:
        event, stream = self._open.pop(key)
        text = stream.end()
        return [replace(event, **{_PIECES[type(event)]: text})] if text else []

    def _masked(self, event: Event, apart: str | None) -> Event:
        changed: dict[str, object] = {}
        for name in event.__struct_fields__:
            value = getattr(event, name)
            if name != apart and isinstance(value, str | list | dict):
                changed[name] = self._value(value)
        masked: Event = replace(event, **changed)
        return masked

    def _value(self, value: object) -> object:
        try:
            return self._secrets.masked_value(value)
        except RecursionError:
            return {"left_out": "nested too deeply to be shown"}


def _key(event: Event) -> tuple[object, ...]:
    match event:
        case Text() | Reasoning():
            return event.agent, type(event), event.block
        case ToolArgs():
            return event.agent, ToolArgs, event.id
        case ToolOutput():
            return event.agent, ToolOutput, event.id, event.stream
        case _:
            return ()


def _ends(event: Event, key: tuple[object, ...]) -> bool:
    """Whether nothing more of that comes before this event is shown."""
    if key[0] != event.agent:
        return False
    if key[1] in (Text, Reasoning):
        return True
    is_end = isinstance(event, ToolResult) or (isinstance(event, ToolUse) and key[1] is ToolArgs)
    return is_end and key[2] == getattr(event, "id", "")
