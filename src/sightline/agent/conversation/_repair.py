"""The messages that are missing from a conversation because its host was killed.

Rules:

- Events are stored before messages. What happened after the last message that is stored becomes a message now: the
  user's words, the model's words as far as they came, the results of calls.
- By then every call has a result: the journal is repaired when it is opened. The model reads that its call is lost.
- Where the run ended by itself nothing is missing, nor where it was one of a command.
"""

from collections.abc import Sequence

from sightline.conversation import AssistantMessage, CallPart, Message, TextPart, ToolMessage, UserMessage
from sightline.events import Event, RunEnded, RunStarted, Text, ToolResult, User
from sightline.transcript import HOST, LOST

_OF_THE_USER = ("", "person")


def missing_messages(messages: Sequence[Message], tail: Sequence[Event], agent: str = "") -> list[Message]:
    """In order. `tail`: the events after the last message that is stored. `agent`: the path of the one that has
    the conversation."""
    own = _of_prompts([event for event in tail if event.agent == agent])
    if any(isinstance(event, RunEnded) and event.stop_reason != HOST for event in own):
        return []
    missing: list[Message] = []
    missing += [UserMessage([TextPart(event.text)], _origin(event)) for event in own if isinstance(event, User)]
    words = "".join([event.text for event in own if isinstance(event, Text)])
    if words:
        missing.append(AssistantMessage([TextPart(words)], stop_reason="aborted"))
    results = {event.id: event for event in tail if isinstance(event, ToolResult)}
    for call in unanswered(messages):
        result = results.get(call.id) or ToolResult(call.id, LOST, is_error=True)
        missing.append(ToolMessage(call.id, call.name, [TextPart(result.content)], call.native_id, result.is_error))
    return missing


def _origin(event: User) -> str:
    return "" if event.source in _OF_THE_USER else event.source


def _of_prompts(events: list[Event]) -> list[Event]:
    """Without runs of commands: what one was given and what it showed are in no conversation."""
    is_command, found = False, []
    for event in events:
        if isinstance(event, RunStarted):
            is_command = bool(event.command)
        if not is_command:
            found.append(event)
    return found


def unanswered(messages: Sequence[Message]) -> list[CallPart]:
    """The calls of the last answer that have no result."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.call)
        elif isinstance(message, AssistantMessage):
            return [call for call in message.calls if call.id not in answered]
    return []
