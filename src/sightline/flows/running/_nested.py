"""The events of a step inside a flow: its own, and those of the provider that works on it, under the step's name.

A step is an agent of the flow: its events carry its id as their agent path, with the path they came with behind it.
Ids are made unique in the flow by the same prefix, and an attempt after the first numbers its text blocks on from the
last one, so that no block is ever reopened. What the user must read (errors, notices) names the step in its text as
well: it is read apart from everything else.
"""

from collections.abc import Sequence

import msgspec

import sightline.events as ev
from sightline.events import Event, Reasoning, Text, ToolArgs, ToolResult, ToolUse
from sightline.events.stamping import of_agent, of_source
from sightline.flows.running._channel import FLOW, EventChannel

_WITH_ID = (
    ToolUse,
    ToolArgs,
    ev.ToolOutput,
    ev.ToolUpdate,
    ev.ToolConnection,
    ToolResult,
    ev.Request,
    ev.RequestResolved,
)


class Nested:
    """Publishes for one step, attempt after attempt."""

    def __init__(self, step: str, channel: EventChannel) -> None:
        self._step = step
        self._channel = channel
        self._attempt = 1
        self._blocks_before = 0
        self._blocks = 0

    def next_attempt(self) -> None:
        self._attempt += 1
        self._blocks_before = self._blocks

    def id(self, ident: str) -> str:
        prefix = self._step if self._attempt == 1 else f"{self._step}#{self._attempt}"
        return f"{prefix}/{ident}"

    def publish(self, *events: Event) -> None:
        """What the step itself does: now, for what is rare."""
        self._channel.publish(*of_agent(self._step, list(events)))

    async def put(self, events: Sequence[Event]) -> None:
        """What the step itself does, as fast as it is read."""
        await self._channel.put(of_source(FLOW, of_agent(self._step, list(events))))

    async def relay(self, events: list[Event]) -> None:
        """What its provider does, as fast as it is read."""
        await self._channel.put([placed for event in events for placed in self._placed(event)])

    @property
    def is_behind(self) -> bool:
        """Whether the reader has to catch up."""
        return self._channel.full

    def _path(self, agent: str) -> str:
        return f"{self._step}/{agent}" if agent else self._step

    def _placed(self, event: Event) -> list[Event]:
        changes: dict[str, object] = {}
        if event.seq:  # of a session of its own: here it gets another
            changes |= {"seq": 0, "time": 0.0}
        if isinstance(event, (Text, Reasoning)):
            changes["block"] = block = event.block + self._blocks_before
            self._blocks = max(self._blocks, block + 1)
        elif isinstance(event, (ev.Error, ev.Notice)):
            changes["text"] = f"{self._step}: {event.text}"
        elif isinstance(event, _WITH_ID):
            changes["id"] = self.id(event.id)
        elif isinstance(event, (ev.AgentStarted, ev.AgentEnded)):
            changes["path"] = self._path(event.path)
            if isinstance(event, ev.AgentStarted) and event.call:
                changes["call"] = self.id(event.call)
        return of_agent(self._path(event.agent), [msgspec.structs.replace(event, **changes)])
