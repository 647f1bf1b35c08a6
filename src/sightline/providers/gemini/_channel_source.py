"""The updates of Gemini's channel as events: those of its other stream, where both report the same.

Rules of this wire:

- `session/update` has text in pieces, thoughts whole, and calls. Nothing marks the end of a text, as in the stream.
- A call that needs approval is reported by the request alone; one that the user refused has no end, one that was
  refused by Gemini's own rules has no beginning. A call to a tool that does not exist is not reported at all.
- Each output of a running call is all of its output so far.
- A change of the approval mode is reported as text of the model.
- A conversation that is loaded is replayed.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

import sightline.events as ev
from sightline.events import Event, Reasoning, ToolResult, ToolUse
from sightline.providers._failure import hint_for, human_message
from sightline.providers._plan import plan_from
from sightline.providers._source import text_at
from sightline.providers.gemini._channel_calls import GeminiCall
from sightline.providers.gemini._source import GeminiMessage, GeminiResult, GeminiSource, GeminiToolUse
from sightline.text import clean_line, clean_output, clean_text, clean_value

_MODE = "[MODE_UPDATE] "
_MODES = frozenset(("default", "autoEdit", "yolo", "plan"))
_NO_SUBJECT = "****\n"
_ENDS = ("completed", "failed")  # a tuple: a status may be a list or an object, which no set can be searched for
_STOPS = {
    "max_tokens": "Gemini stopped: the conversation is too long for the model",
    "max_turn_requests": "Gemini stopped: it repeated itself, or reached the maximum number of turns in its settings",
    "refusal": "Gemini refused to continue",
}
_REFUSED = "refused by the user"


class ChannelSource(GeminiSource):
    """Everything about the run of one prompt, and what follows from prompt to prompt."""

    def __init__(self, cwd: str) -> None:
        super().__init__()
        self.replaying = False
        self.replayed = 0  # updates since the last answer
        self._cwd = cwd
        self._printed: dict[str, str] = {}  # by open calls
        self._over: set[str] = set()  # calls of this prompt: what comes late of one is not another
        self._silent = True  # no event of this prompt yet

    def updated(self, update: object, line: bytes) -> list[Event]:
        """The events of an update, which may hold anything."""
        handler = _HANDLERS.get(text_at(update, "sessionUpdate"))
        self.replayed += self.replaying
        if handler is None or self.replaying or not isinstance(update, dict):
            return []
        try:
            events = handler(self, update)
        except (ValueError, RecursionError) as error:
            return self.unreadable(line, str(error))
        self._silent = self._silent and not events
        return events

    def _on_text(self, update: dict[str, object]) -> list[Event]:
        text = _text_of(update)
        if text.startswith(_MODE) and text.removeprefix(_MODE) in _MODES:
            return [ev.Notice(f"Gemini's approval mode is now {text.removeprefix(_MODE)}")]
        return self._message(GeminiMessage("assistant", text, delta=True))

    def _on_thought(self, update: dict[str, object]) -> list[Event]:
        text = clean_text(_text_of(update).removeprefix(_NO_SUBJECT))
        return [*self._end_text(), *([Reasoning(text, self.new_block())] if text else [])]

    def call_requested(self, call: GeminiCall) -> tuple[list[Event], ToolUse]:
        """The events that come before the request, and the call as it was published."""
        call.toolCallId = id = clean_line(call.toolCallId)
        self._silent = False
        known = self._open_calls.get(id)
        events = self._begun(call)
        use = next(event for event in events if isinstance(event, ToolUse))
        if known is None:
            return [*self._end_text(), *events], use
        self._open_calls[id] = known  # published before the request
        return self._end_text(), replace(use, id=known)

    def refused(self, native_id: str, why: str = _REFUSED) -> list[Event]:
        """The end of a call that will not be made."""
        self._over.add(native_id)
        return self._result(GeminiResult(native_id, "error", why), b"")

    def _on_call(self, update: dict[str, object]) -> list[Event]:
        call = _call_of(update)
        if call.toolCallId in self._open_calls:
            return []
        events = [*self._end_text(), *self._begun(call)]
        return [*events, *self._end_of(call)] if call.status in _ENDS else events

    def _on_call_update(self, update: dict[str, object]) -> list[Event]:
        call = _call_of(update)
        id = call.toolCallId
        if id in self._over:
            return []
        # Its content is what came of the call, not what it is about.
        events = [] if id in self._open_calls else [*self._end_text(), *self._begun(replace(call, content=None))]
        if call.status in _ENDS:
            return [*events, *self._end_of(call)]
        text, printed = call.text, self._printed.get(id, "")
        if not text.startswith(printed) or text == printed:
            return events
        self._printed[id] = text
        return [*events, ev.ToolOutput(self.call_id(id), clean_output(text[len(printed) :]))]

    def _begun(self, call: GeminiCall) -> list[Event]:
        self._over.discard(call.toolCallId)
        use = GeminiToolUse(call.native_name, call.toolCallId, call.args(self._cwd))
        # The steps of a plan are not on this wire, and an empty one would take the last away.
        return [event for event in self._call(use, b"") if not isinstance(event, ev.State)]

    def _end_of(self, call: GeminiCall) -> list[Event]:
        self._printed.pop(call.toolCallId, None)
        self._over.add(call.toolCallId)
        path, diff = call.changes(self._cwd)
        status = "error" if call.status == "failed" else "success"
        events = self._result(GeminiResult(call.toolCallId, status, call.text), b"")
        details = ev.DiffFact(path=path, diff=diff).as_details() if diff else None
        return [replace(event, details=details) if isinstance(event, ToolResult) else event for event in events]

    def _on_plan(self, update: dict[str, object]) -> list[Event]:
        plan = plan_from({"items": clean_value(update.get("entries"))})
        return [*self._end_text(), ev.TodoState(plan).as_state()]

    def turn_over(self) -> list[Event]:
        """Of a prompt that another one follows at once."""
        self._open_calls.clear()
        self._printed.clear()
        self._over.clear()
        return self._end_text()

    def run_over(self, result: object, error: object) -> list[Event]:
        """The answer to a prompt."""
        silent, self._silent = self._silent, True
        events = self.turn_over()
        if error is not None:
            return [*events, _failure(error), ev.RunEnded(is_error=True)]
        given = result if isinstance(result, dict) else {}
        reason = given.get("stopReason")
        reason = clean_line(reason) if isinstance(reason, str) and reason != "end_turn" else ""
        text = _STOPS.get(reason) or ("Gemini ended without an answer: send it again" if silent and not reason else "")
        notices = [ev.Notice(text, "warning")] if text else []
        return [*events, *notices, ev.RunEnded(_usage(given), None, reason)]


def _call_of(update: dict[str, object]) -> GeminiCall:
    call = msgspec.convert(clean_value(update), GeminiCall)
    call.toolCallId = clean_line(call.toolCallId)
    call.status = call.status if isinstance(call.status, str) else ""
    return call


def _text_of(update: dict[str, object]) -> str:
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str):
        raise ValueError("content that is not text")
    return text


def _usage(result: dict[str, object]) -> ev.Usage | None:
    """Of all requests to the model, summed up by Gemini; of a prompt that was stopped it reports none."""
    meta: object = result
    for name in ("_meta", "quota", "token_count"):
        meta = meta.get(name) if isinstance(meta, dict) else None
    given, made = (meta.get("input_tokens"), meta.get("output_tokens")) if isinstance(meta, dict) else (None, None)
    if not isinstance(given, int) or not isinstance(made, int) or not given + made:
        return None
    return ev.Usage(given, made, total_tokens=given + made)


def _failure(error: object) -> ev.Error:
    message = error.get("message") if isinstance(error, dict) else None
    text = human_message(message) if isinstance(message, str) else ""
    return ev.Error(text or "the run failed", hint_for(error.get("code")) if isinstance(error, dict) else "")


_HANDLERS: dict[str, Callable[[ChannelSource, dict[str, object]], list[Event]]] = {
    "agent_message_chunk": ChannelSource._on_text,
    "agent_thought_chunk": ChannelSource._on_thought,
    "tool_call": ChannelSource._on_call,
    "tool_call_update": ChannelSource._on_call_update,
    "plan": ChannelSource._on_plan,
}
