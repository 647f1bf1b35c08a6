"""Repair of a session whose host was killed: from the events that are stored to the events that are missing.

Rules:

- Everything that began gets one end: requests, calls, turns, subagents, runs. After these events nothing is missing.
- The end of a run ends its turn, and the end of a subagent its turn and its run.
- A subagent that publishes its state (`AgentState`) has no end: it was running or idle, and is parked now, so that it
  can be revived. Its state may have been published long before the events that are looked at.
- What is stored besides the events may add to a call: how much it printed, or how it ended.
- A wait, a queue or a compaction that an agent reported is over, for that agent. That a host was killed is reported
  once.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    CallEnding,
    CommandFact,
    CompactionState,
    Error,
    Event,
    QueueState,
    Request,
    RequestResolved,
    RetryState,
    RunEnded,
    RunStarted,
    StartingState,
    State,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    TurnEnded,
    TurnStarted,
    WorktreeState,
    call_ending,
    handlers_of,
)

HOST = "host"  # why it ended, and the source of its end
RECOVERY = "recovery"  # source of the one error that reports that a host was killed
LOST = "lost: the session ended while this was running"
_PARKED = "the session ended while it was running"
_PASSING = (RetryState.KEY, CompactionState.KEY, QueueState.KEY, StartingState.KEY, WorktreeState.KEY)


class StoredCall(NamedTuple):
    """What is stored of a call besides its events."""

    artifact: str  # its URL
    size: int  # bytes of its output that are stored
    printed: int = 0  # bytes it is known to have printed, stored or not
    end: ToolResult | None = None  # how it ended, where another place than the journal has that


def parked(fact: AgentState) -> AgentState | None:
    """What an agent is once its host is gone; None: what it was."""
    if fact.state not in ("running", "idle"):
        return None
    return replace(fact, state="parked", reason=_PARKED if fact.state == "running" else "")


class _OpenCall:
    def __init__(self, event: ToolUse | ToolArgs | ToolOutput | ToolUpdate) -> None:
        self.agent = event.agent
        self.native_id = ""
        self.began = 0.0
        self.received = 0  # bytes


class LeftOpen:
    """What events began and did not end. `apply` each event once, in order."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._calls: dict[str, _OpenCall] = {}
        self._ended: set[str] = set()  # calls: what still comes of one does not open it again
        self._requests: dict[str, str] = {}  # by id, the path of the agent
        self._turns: dict[str, None] = {}  # by path, as runs
        self._runs: dict[str, None] = {}
        self._agents: dict[str, str] = {}  # by path, that of the parent; without those that publish their state
        self._facts: dict[str, AgentState] = {}  # by path, what those published last
        self._states: dict[tuple[str, str], None] = {}  # by path and key
        self._reported = False
        self.last = 0.0  # time of the last event
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> None:
        self.last = event.time or self.last
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def ends(self, stored: Callable[[str], StoredCall | None] = lambda call: None) -> list[Event]:
        """The events that are missing, in order. `stored`: what is known of a call, by its id."""
        ends: list[Event] = [RequestResolved(id, agent=agent) for id, agent in self._requests.items()]
        is_lost = bool(self._runs) or any(fact.state == "running" for fact in self._facts.values())
        for id, call in self._calls.items():
            known = stored(id)
            ends += self._call_ends(id, call, known)
            is_lost = is_lost or known is None or known.end is None
        ends += [TurnEnded(stop_reason=HOST, agent=agent) for agent in self._turns]
        ends += [RunEnded(stop_reason=HOST, is_error=True, agent=agent) for agent in self._runs if agent]
        ends += [AgentEnded(path, True, agent=self._agents[path]) for path in reversed(self._agents)]
        ends += [State(key, None, agent=agent) for agent, key in self._states]
        now = [(path, parked(fact)) for path, fact in self._facts.items()]
        ends += [State(fact.KEY, fact.value, agent=path) for path, fact in now if fact is not None]
        if is_lost and not self._reported:
            ends.append(Error("the session ended unexpectedly; what was running ended with it", source=RECOVERY))
        if "" in self._runs:
            ends.append(RunEnded(stop_reason=HOST, is_error=True))
        return [event if event.source else replace(event, source=HOST) for event in ends]

    def _call_ends(self, id: str, call: _OpenCall, stored: StoredCall | None) -> list[Event]:
        lived = round(max(self.last - call.began, 0.0), 4) if call.began else None
        lost = CallEnding(ended=HOST).as_details()
        result = ToolResult(id, f"{LOST}; what it had done by then is unknown", lost, True, duration=lived)
        output: list[Event] = []
        if stored is not None:
            size = max(stored.size, stored.printed, call.received)
            if size > call.received:
                gap = size - call.received
                output.append(ToolOutput(id, "", offset=size, dropped=gap, agent=call.agent))
            result = stored.end or replace(result, content=f"{LOST}; {stored.size} bytes of output are stored")
            ended = call_ending(result.details).ended
            fact = CommandFact(ended=ended, artifact=stored.artifact, bytes=size, stored=stored.size, binary=False)
            result = replace(result, details=fact.as_details())
        return [*output, replace(result, agent=call.agent, native_id=call.native_id)]

    def _on_tool_use(self, event: ToolUse | ToolArgs | ToolOutput | ToolUpdate) -> None:
        if event.id in self._ended:
            return
        call = self._calls.get(event.id)
        if call is None:
            call = self._calls[event.id] = _OpenCall(event)
        if isinstance(event, ToolUse):
            call.began, call.native_id = event.time, event.native_id
        elif isinstance(event, ToolOutput):
            call.received = max(call.received, event.offset + event.size)

    _on_tool_args = _on_tool_output = _on_tool_update = _on_tool_use

    def _on_tool_result(self, event: ToolResult) -> None:
        self._calls.pop(event.id, None)
        self._ended.add(event.id)

    def _on_request(self, event: Request) -> None:
        self._requests[event.id] = event.agent

    def _on_request_resolved(self, event: RequestResolved) -> None:
        self._requests.pop(event.id, None)

    def _on_turn_started(self, event: TurnStarted) -> None:
        self._turns[event.agent] = None

    def _on_turn_ended(self, event: TurnEnded) -> None:
        self._turns.pop(event.agent, None)

    def _on_run_started(self, event: RunStarted) -> None:
        self._runs[event.agent] = None
        self._reported = False

    def _on_run_ended(self, event: RunEnded) -> None:
        self._end_run(event.agent)

    def _end_run(self, path: str) -> None:
        self._runs.pop(path, None)
        self._turns.pop(path, None)

    def _on_agent_started(self, event: AgentStarted) -> None:
        if event.path not in self._facts:
            self._agents[event.path] = event.agent

    def _on_agent_ended(self, event: AgentEnded) -> None:
        self._agents.pop(event.path, None)
        self._facts.pop(event.path, None)
        self._end_run(event.path)

    def _on_state(self, event: State) -> None:
        if event.key in _PASSING:
            self._states.pop((event.agent, event.key), None)
            if event.value:
                self._states[event.agent, event.key] = None
        elif event.key == AgentState.KEY and event.agent:
            fact = AgentState.of(event.value)
            if fact is not None:
                self._on_fact(event.agent, fact)

    def _on_fact(self, path: str, fact: AgentState) -> None:
        self._agents.pop(path, None)
        self._facts[path] = fact
        if fact.state != "running":
            self._end_run(path)

    def _on_error(self, event: Error) -> None:
        self._reported = self._reported or event.source == RECOVERY


_HANDLERS = handlers_of(LeftOpen, "_on_")
