"""A conversation that was cut off because its host ended without warning, made whole again.

Rules:

- Events are kept before entries. What was seen to happen after the last message that is kept becomes a message now:
  the person's words, the model's words as far as they came, what calls came to.
- A call nobody saw the end of has ended with the host, and what it did is not known. The model is told so.
- What nobody answers any more is resolved, and what was said about a wait, a queue or a compaction is taken back.
- The run that was going on is ended, once. A run ends after its last message: where no end follows that, it is open.
"""

from collections.abc import Sequence

from sightline.conversation import AssistantMessage, CallPart, Message, TextPart, ToolMessage, UserMessage
from sightline.events import (
    Error,
    Event,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolArgs,
    ToolResult,
    ToolUse,
    User,
)
from sightline.journal import RECOVERY

_PASSING = ("retry", "compaction", "queue")
LOST = "lost: the session ended while this was running; what it had done by then is unknown"


def mended(messages: Sequence[Message], tail: Sequence[Event]) -> list[Event | Message]:
    """What is missing, in order. `tail`: the events after the last message that is kept."""
    if any(isinstance(event, RunEnded) and not event.agent for event in tail):
        return []
    missing: list[Event | Message] = []
    missing += [UserMessage([TextPart(event.text)]) for event in tail if isinstance(event, User)]
    words = "".join([event.text for event in tail if isinstance(event, Text) and not event.agent])
    if words:
        missing.append(AssistantMessage([TextPart(words)], stop_reason="aborted"))
    results = {event.id: event for event in tail if isinstance(event, ToolResult)}
    open_calls = _unanswered(messages)
    lived = _lived(tail)
    for call in open_calls:
        missing += _answer(call, results.get(call.id), lived.get(call.id))
    missing += _closed(tail, {call.id for call in open_calls} | set(results), lived)
    missing += _settled(tail)
    is_known = any(isinstance(event, Error) and event.source == RECOVERY for event in tail)
    if not is_known and (missing or any(isinstance(event, RunStarted) for event in tail)):
        missing.append(Error("the session ended unexpectedly; what was running ended with it", source=RECOVERY))
    if missing or messages:
        missing.append(RunEnded(stop_reason="host", is_error=True, source="agent"))
    return missing


def _settled(tail: Sequence[Event]) -> list[Event | Message]:
    """Questions that are open, and states that pass."""
    answered = {event.id for event in tail if isinstance(event, RequestResolved)}
    asked = [event for event in tail if isinstance(event, Request) and event.id not in answered]
    states = {event.key: event.value for event in tail if isinstance(event, State) and event.key in _PASSING}
    settled: list[Event | Message] = [RequestResolved(event.id, agent=event.agent, source="agent") for event in asked]
    return settled + [State(key, None, source="agent") for key, value in states.items() if value]


def _unanswered(messages: Sequence[Message]) -> list[CallPart]:
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.call)
        elif isinstance(message, AssistantMessage):
            return [call for call in message.calls if call.id not in answered]
    return []


def _lived(tail: Sequence[Event]) -> dict[str, float]:
    """How long each call ran, as far as is known: until the last event of its host."""
    last = max([event.time for event in tail], default=0.0)
    return {event.id: round(last - event.time, 4) for event in tail if isinstance(event, ToolUse)}


def _answer(call: CallPart, result: ToolResult | None, lived: float | None) -> list[Event | Message]:
    if result is not None:
        return [ToolMessage(call.id, call.name, [TextPart(result.content)], call.native_id, result.is_error)]
    details = {"ended": "host"}
    ended = ToolResult(call.id, LOST, details, True, duration=lived, native_id=call.native_id, source="agent")
    return [ended, ToolMessage(call.id, call.name, [TextPart(LOST)], call.native_id, True)]


def _closed(tail: Sequence[Event], known: set[str], lived: dict[str, float]) -> list[Event | Message]:
    """Calls that were seen to begin and of which no message is kept: the model was still writing them."""
    seen = dict.fromkeys(event.id for event in tail if isinstance(event, ToolArgs | ToolUse))
    details = {"ended": "host"}
    lost = [id for id in seen if id not in known]
    return [ToolResult(id, LOST, details, True, duration=lived.get(id), source="agent") for id in lost]
