"""A conversation made fit to send: servers refuse one in which calls and results do not match.

- After an answer with calls come their results, one each, in the order of the calls; then the other messages
  before the next answer. A call without a result gets one that reports it; a result without a call is left out.
- An answer without anything in it is left out, and so is a text of nothing but white space.
- Ids are letters, digits, `_` and `-`, at most 64 of them, and no two calls share one. So are names of tools: what a
  model made up would be refused with every request from then on.
"""

import re
from collections.abc import Sequence

from sightline.conversation import CallPart, Content, Message, TextPart, ToolMessage, UserMessage

NO_RESULT = "No result: the call was not carried out."
NO_OUTPUT = "(no output)"
_ID_AT_MOST = 64
_NAMELESS = "unnamed"
_not_in_ids = re.compile(r"[^a-zA-Z0-9_-]")
_a_name = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}").fullmatch


def consistent(messages: Sequence[Message]) -> list[Message]:
    """The same conversation with each call followed by its result."""
    fit: list[Message] = []
    calls: list[CallPart] = []  # of the last answer
    results: dict[str, ToolMessage] = {}
    others: list[Message] = []  # the messages since
    for message in messages:
        if isinstance(message, ToolMessage):
            results[message.call] = message
        elif isinstance(message, UserMessage):
            others.append(message)
        elif message.parts:
            fit += [results.get(call.id) or _missing(call) for call in calls]
            fit += others
            fit.append(message)
            calls, results, others = message.calls, {}, []
    fit += [results.get(call.id) or _missing(call) for call in calls]
    fit += others
    return fit


def _missing(call: CallPart) -> ToolMessage:
    return ToolMessage(call.id, call.name, [TextPart(NO_RESULT)], call.native_id, is_error=True)


def tool_name(name: str) -> str:
    """The name of a tool that was called, as it can be sent."""
    if _a_name(name):
        return name
    fit = _not_in_ids.sub("_", name)[: _ID_AT_MOST - 1]
    return (fit if _a_name(fit) else f"_{fit}") if fit else _NAMELESS


class CallIds:
    """What each call is named in one request: as the model named it, where that can be sent."""

    def __init__(self, at_most: int = _ID_AT_MOST) -> None:
        self._at_most = at_most
        self._of_call: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, call: CallPart | ToolMessage) -> str:
        own = call.id if isinstance(call, CallPart) else call.call
        known = self._of_call.get(own)
        if known is None:
            known = self._of_call[own] = self._free(_not_in_ids.sub("_", call.native_id or own) or "call")
            self._taken.add(known)
        return known

    def native(self, call: CallPart) -> str:
        """The same to the letter, for the server that named it so: a proxy may have put something into the name."""
        if call.id in self._of_call or not call.native_id or call.native_id in self._taken:
            return self.of(call)
        self._of_call[call.id] = call.native_id
        self._taken.add(call.native_id)
        return call.native_id

    def _free(self, base: str) -> str:
        base = base[: self._at_most]
        name, number = base, 1
        while name in self._taken:
            number += 1
            suffix = f"-{number}"
            name = base[: self._at_most - len(suffix)] + suffix
        return name


def sendable(parts: Sequence[Content], *, images: bool) -> list[Content]:
    """Without empty texts; an image that is not there, or that the model cannot see, is named instead."""
    fit: list[Content] = []
    for part in parts:
        if isinstance(part, TextPart):
            if part.text and not part.text.isspace():
                fit.append(part)
        elif part.data and images:
            fit.append(part)
        else:
            fit.append(TextPart(f"[image not shown: {part.url or part.media_type}]"))
    return fit
