"""The events of OpenCode's server as ours.

Rules of this wire:

- Every event names its session; sessions other than the one that was prompted are subagents, which the `task` call that
  started them names in its metadata. What they do is shown as theirs.
- A part is sent again, whole, whenever it changes; text also comes as deltas. What a shell command printed is in its
  metadata (`_printed`).
- Parts of the user's own messages are sent too. A message has its role before its parts come.
- A session that has nothing more to do is `idle`, which is also sent after it was stopped, then even twice.
"""

import msgspec
from msgspec.structs import replace

from sightline.events import Event, Reasoning, RunEnded, RunStarted, Text, ToolOutput, TurnEnded
from sightline.providers._source import remember
from sightline.providers.opencode._printed import Printed
from sightline.providers.opencode._source import OpenCodeSource
from sightline.text import clean_output, clean_text

_PIECE = 256 * 1024  # characters of an output in one event
_REMEMBERED_AT_MOST = 256  # of the things that are known by an id
_LINES = {"tool": "tool_use", "step-start": "step_start", "step-finish": "step_finish"}
_WORDS: dict[str, type[Text] | type[Reasoning]] = {"text": Text, "reasoning": Reasoning}


class Talk:
    """One session of OpenCode's: the one that was prompted, or a subagent's. `data`: where it stores files."""

    def __init__(self, agent: str = "", data: str = "") -> None:
        self.agent = agent
        self._data = data
        self._inner = OpenCodeSource()
        self._prompts: dict[str, None] = {}  # messages of the user
        self._words: dict[str, tuple[type[Text] | type[Reasoning], int, int]] = {}  # part → kind, block, shown
        self._parts: dict[str, str] = {}  # call → its part
        self._printed: dict[str, Printed] = {}  # by the part of a running command

    def call_of(self, native_id: str) -> str:
        """Our id of a call that runs, by the id the model's API gave it."""
        return self._call(self._parts.get(native_id, ""))

    def _call(self, part: str) -> str:
        return self._named(self._inner.open_id(part))

    def agent_of(self, part: str) -> str:
        """The path of the subagent a `task` part started."""
        path = self._inner.agent_of(part)
        return f"{self.agent}/{path}" if path and self.agent else path

    def on_message(self, info: dict[str, object]) -> None:
        id = info.get("id")
        if info.get("role") == "user" and isinstance(id, str):
            remember(self._prompts, id, None, _REMEMBERED_AT_MOST)

    def on_delta(self, part: str, delta: str) -> list[Event]:
        kind, block, shown = self._words.get(part, (Text, 0, -1))
        if shown < 0 or not delta:
            return []
        block = block or self._inner.new_block()
        self._words[part] = (kind, block, shown + len(delta))
        return self._of_session([kind(clean_text(delta), block)])

    def on_part(self, part: dict[str, object]) -> list[Event]:
        kind, ident, message = part.get("type"), part.get("id"), part.get("messageID")
        if not isinstance(kind, str) or not isinstance(ident, str):
            return []
        if isinstance(message, str) and message in self._prompts:
            return []
        if kind in _WORDS:
            return self._on_words(_WORDS[kind], ident, part.get("text"))
        if kind not in _LINES:
            return []
        native_id, state = part.get("callID"), part.get("state")
        if isinstance(native_id, str):
            remember(self._parts, native_id, ident, _REMEMBERED_AT_MOST)
        line = msgspec.json.encode({"type": _LINES[kind], "sessionID": "s", "part": part})
        call = self._call(ident)
        events = self._of_session(self._inner.parse_events(line))
        if kind != "tool" or not isinstance(state, dict):
            return events
        if call and not self._call(ident):  # it has ended: what it printed comes before that
            return [*self._output(call, self._rest(ident, state)), *events]
        return [*events, *self._output(self._call(ident), self._more(ident, state))]

    def _on_words(self, kind: type[Text] | type[Reasoning], part: str, text: object) -> list[Event]:
        if part not in self._words:
            remember(self._words, part, (kind, 0, 0), _REMEMBERED_AT_MOST)
        return self.on_delta(part, text[self._words[part][2] :]) if isinstance(text, str) else []

    def _more(self, part: str, state: dict[str, object]) -> str:
        """What a running command printed since the last event of it."""
        metadata = state.get("metadata")
        window = metadata.get("output") if isinstance(metadata, dict) else None
        if not isinstance(window, str) or not self._call(part):
            return ""
        if part not in self._printed:
            remember(self._printed, part, Printed(self._data), _REMEMBERED_AT_MOST)
        return self._printed[part].more(window)

    def _rest(self, part: str, state: dict[str, object]) -> str:
        printed = self._printed.pop(part, None)
        return printed.rest(state) if printed is not None else ""

    def _output(self, call: str, text: str) -> list[Event]:
        events: list[Event] = []
        while text and call:
            end = len(text) if len(text) <= _PIECE else text.rfind("\n", 0, _PIECE) + 1 or _PIECE
            piece, text = clean_output(text[:end]), text[end:]
            events += [ToolOutput(call, piece)] if piece else []
        return events

    def _of_session(self, events: list[Event]) -> list[Event]:
        """The events as those of this session. Its parts do not begin or end a run."""
        return [self._own(event) for event in events if not isinstance(event, RunStarted | RunEnded)]

    def _own(self, event: Event) -> Event:
        if not self.agent:
            return event
        fields: dict[str, object] = {}
        for name in ("id", "call", "path"):
            value = getattr(event, name, "")
            if value:
                fields[name] = f"{self.agent}/{value}" if name == "path" else self._named(value)
        return replace(event, **fields)

    def _named(self, call: str) -> str:
        """Subagents count their calls anew."""
        return f"{self.agent}:{call}" if call and self.agent else call


def used_in(events: list[Event]) -> int | None:
    """How many tokens the last request of these had, if there was one."""
    usages = [event.usage for event in events if isinstance(event, TurnEnded)]
    return usages[-1].total_tokens if usages and usages[-1] is not None else None
