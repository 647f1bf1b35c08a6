"""The events of a step inside a flow: the same facts, under the step's name.

A step is an agent of the flow: its events carry its id as their agent path, with the path they came with behind it.
Ids are made unique in the flow by the same prefix, and an attempt after the first numbers its text blocks on from the
last one, so that no block is ever reopened. What a person must be told (errors, notices) names the step in its text as
well: it is read apart from everything else.
"""

from typing import Any

import msgspec

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    Reasoning,
    Request,
    RequestResolved,
    Text,
    ToolArgs,
    ToolConnection,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
)

_WITH_ID = (ToolUse, ToolArgs, ToolOutput, ToolUpdate, ToolConnection, ToolResult, Request, RequestResolved)


class Nested:
    """Places the events of one step, attempt after attempt."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._attempt = 1
        self._blocks_before = 0
        self._blocks = 0

    def next_attempt(self) -> None:
        self._attempt += 1
        self._blocks_before = self._blocks

    def id(self, ident: str) -> str:
        prefix = self._step if self._attempt == 1 else f"{self._step}#{self._attempt}"
        return f"{prefix}/{ident}"

    def path(self, agent: str) -> str:
        return f"{self._step}/{agent}" if agent else self._step

    def place(self, event: Event) -> Event:
        changes: dict[str, Any] = {"agent": self.path(event.agent)}
        if event.seq:  # of a session of its own: here it gets another
            changes |= {"seq": 0, "time": 0.0}
        if isinstance(event, (Text, Reasoning)):
            changes["block"] = event.block + self._blocks_before
            self._blocks = max(self._blocks, changes["block"] + 1)
        elif isinstance(event, (Error, Notice)):
            changes["text"] = f"{self._step}: {event.text}"
        elif isinstance(event, _WITH_ID):
            changes["id"] = self.id(event.id)
        elif isinstance(event, (AgentStarted, AgentEnded)):
            changes["path"] = self.path(event.path)
            if isinstance(event, AgentStarted) and event.call:
                changes["call"] = self.id(event.call)
        placed: Event = msgspec.structs.replace(event, **changes)
        return placed
