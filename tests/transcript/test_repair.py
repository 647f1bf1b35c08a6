"""What a killed host left open gets one end, wherever it was killed, and only once."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    Error,
    Event,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnEnded,
    TurnStarted,
    User,
)
from sightline.events.stamping import stamp
from sightline.transcript import RECOVERY, LeftOpen, Snapshot, StoredCall, fold
from tests.transcript.test_fold import CAPTURES, recorded


def numbered(events: list[Event], after: int = 0) -> list[Event]:
    return [stamp(event, after + seq, float(after + seq)) for seq, event in enumerate(events, 1)]


def repaired(events: list[Event]) -> list[Event]:
    return [*events, *numbered(LeftOpen(events).ends(), len(events))]


def of(path: str, state: str) -> State:
    fact = AgentState(state)  # type: ignore[arg-type]
    return State(fact.KEY, fact.value, agent=path)


def assert_whole(events: list[Event]) -> None:
    """Everything that began has exactly one end after it, and no end is of nothing. An agent that publishes its state
    has none."""
    begun: Counter[Any] = Counter()
    ours = {event.agent for event in events if isinstance(event, State) and event.key == AgentState.KEY}
    for event in events:
        match event:
            case ToolUse() | ToolArgs():
                begun["call", event.id] = begun["call", event.id] or 1
            case ToolResult():
                begun["call", event.id] += 1
            case Request():
                begun["request", event.id] += 1
            case RequestResolved():
                begun["request", event.id] += 1
            case AgentStarted() | AgentEnded():
                if event.path not in ours:
                    begun["agent", event.path] += 1
                assert event.path not in ours or isinstance(event, AgentStarted)
            case RunStarted():
                begun["run", event.agent] += 1
            case RunEnded():
                assert begun["run", event.agent] % 2 == 1
                begun["run", event.agent] += 1
            case TurnStarted():
                begun["turn", event.agent] += 1
            case TurnEnded():
                assert begun["turn", event.agent] % 2 == 1
                begun["turn", event.agent] += 1
    twice = ("run", "turn")  # an agent has several, one after the other
    assert all(count == 2 or (name in twice and count % 2 == 0) for (name, _), count in begun.items())
    assert_nothing_open(fold(events))


def assert_nothing_open(state: Snapshot) -> None:
    assert not state.running
    assert not state.requests
    assert all(getattr(entry, "content", "") is not None for entry in state.entries)
    assert state.state.get("retry") is None
    for agent in state.agents.values():
        assert not agent.running
        assert agent.standing in ("parked", "aborted", "done", "failed")
        assert agent.state.get("retry") is None
        assert all(run.last is not None for run in agent.runs)


class Session:
    """A session as actors publish one: what is open is known, and ends in any order it may."""

    def __init__(self, choose: Any) -> None:
        self.choose = choose
        self.events: list[Event] = []
        self.number = 0
        self.idle: list[str] = []  # agents of ours, which take another prompt

    def run(self) -> list[Event]:
        for _ in range(self.choose(1, 3)):
            self._publish(RunStarted())
            self._publish(User("go"))
            self._work("", 2)
            self._publish(RunEnded())
            for path in self.idle[:2]:
                self._prompt(path, 0)
            if self.choose(0, 1):
                self._called("", self._began(""), 0)  # the user's own command, between two runs
        for path in self.idle:
            self._publish(of(path, "parked"))
        return numbered(self.events)

    def _prompt(self, path: str, deeper: int) -> None:
        """A run of an agent of ours."""
        self._publish(of(path, "running"))
        self._publish(RunStarted(agent=path))
        self._publish(User("go", agent=path))
        self._work(path, deeper)
        self._publish(RunEnded(agent=path))
        self._publish(of(path, "idle"))

    def _work(self, path: str, deeper: int) -> None:
        for _ in range(self.choose(0, 3)):
            self._publish(TurnStarted(agent=path))
            self._publish(Text("words", agent=path))
            calls = [self._began(path) for _ in range(self.choose(0, 3))]
            self._publish(TurnEnded(agent=path))
            for call in calls:
                self._called(path, call, deeper)

    def _began(self, path: str) -> str:
        self.number += 1
        call = f"c{self.number}"
        if self.choose(0, 1):
            self._publish(ToolArgs(call, "Bash", "{", agent=path))
        return call

    def _called(self, path: str, call: str, deeper: int) -> None:
        self._publish(ToolUse(call, "Bash", agent=path))
        if self.choose(0, 2) == 0:
            self._publish(Request(f"r{self.number}", "approval", agent=path))
            self._publish(RequestResolved(f"r{self.number}", agent=path))
            self.number += 1
        self._publish(ToolOutput(call, "out", size=3, agent=path))
        if deeper and self.choose(0, 2) == 0:
            self.number += 1
            child = f"{path}/A-{self.number}".strip("/")
            self._publish(AgentStarted(child, agent=path, call=call))
            if self.choose(0, 1):
                self._prompt(child, deeper - 1)
                self.idle.append(child)
            else:
                self._publish(RunStarted(agent=child))
                self._work(child, deeper - 1)
                self._publish(RunEnded(agent=child))
                self._publish(AgentEnded(child, agent=path))
        self._publish(State("retry", {"attempt": 1}, agent=path))
        self._publish(State("retry", None, agent=path))
        self._publish(ToolResult(call, "done", agent=path))

    def _publish(self, event: Event) -> None:
        self.events.append(event)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_session_killed_anywhere_is_whole_after_its_repair(data: st.DataObject) -> None:
    """Every call, request, turn, subagent and run has exactly one end, and a second repair adds nothing."""
    events = Session(lambda low, high: data.draw(st.integers(low, high))).run()
    assert LeftOpen(events).ends() == []
    for end in range(len(events) + 1):
        whole = repaired(events[:end])
        assert_whole(whole)
        assert LeftOpen(whole).ends() == []
        assert sum(isinstance(event, Error) for event in whole) <= 1


@pytest.mark.parametrize(("provider", "name"), CAPTURES)
def test_a_recording_cut_anywhere_is_whole_after_its_repair(provider: str, name: str) -> None:
    """What other agents publish, too: nothing of it stays open."""
    events = recorded(provider, name)
    for end in range(0, len(events) + 1, max(len(events) // 40, 1)):
        whole = repaired(events[:end])
        assert LeftOpen(whole).ends() == []
        assert_nothing_open(fold(whole))


def test_ends_name_what_they_end() -> None:
    """Requests first, then calls and subagents with their paths, the run last; the host says so."""
    tail: list[Event] = [
        RunStarted(),
        TurnStarted(),
        ToolUse("c1", "Task", native_id="n1"),
        AgentStarted("A-1", call="c1"),
        ToolUse("c2", "Read", agent="A-1"),
        Request("request-1", "approval", agent="A-1"),
        State("retry", {"attempt": 1}),
        State("queue", []),
        State("starting", "Codex"),
    ]
    ends = LeftOpen(numbered(tail)).ends()
    assert [(type(end).__name__, end.agent) for end in ends] == [
        ("RequestResolved", "A-1"),
        ("ToolResult", ""),
        ("ToolResult", "A-1"),
        ("TurnEnded", ""),
        ("AgentEnded", ""),
        ("State", ""),
        ("State", ""),
        ("Error", ""),
        ("RunEnded", ""),
    ]
    assert {end.source for end in ends} == {"host", RECOVERY}
    assert [end.native_id for end in ends if isinstance(end, ToolResult)] == ["n1", ""]
    assert [end.key for end in ends if isinstance(end, State)] == ["retry", "starting"]


def test_a_lost_call_has_the_time_until_its_host_was_last_heard_of() -> None:
    events = [stamp(ToolUse("s-1", "Bash"), 1, 101.0), stamp(Text("more", 0), 2, 109.0)]
    [result, error] = LeftOpen(events).ends()
    assert isinstance(result, ToolResult)
    assert result.duration == 8.0
    assert isinstance(error, Error)


def test_one_killed_host_is_one_error() -> None:
    """A version that ended calls and reported it, and left the run open, is not reported again; the next run is."""
    error = Error("the session ended unexpectedly", source=RECOVERY)
    events: list[Event] = [RunStarted(), ToolUse("c1", "Bash"), ToolResult("c1", "lost"), error]
    assert [type(end) for end in LeftOpen(events).ends()] == [RunEnded]
    assert [type(end) for end in LeftOpen([*events, RunEnded(), RunStarted()]).ends()] == [Error, RunEnded]


def test_what_is_stored_of_a_call_is_in_its_end() -> None:
    """How much it printed, and how it ended where another place than the journal knows it."""
    events: list[Event] = [ToolUse("c1", "Bash"), ToolOutput("c1", "abc", size=3), ToolUse("c2", "Bash")]
    end = ToolResult("c2", "", {"ended": "exit"}, exit_code=3, duration=1.0)
    known = {"c1": StoredCall("artifact://s/c1", 10), "c2": StoredCall("artifact://s/c2", 0, 7, end)}
    gap, lost, other, exited, error = LeftOpen(events).ends(known.get)
    assert isinstance(gap, ToolOutput)
    assert (gap.id, gap.offset, gap.dropped) == ("c1", 10, 7)
    assert isinstance(lost, ToolResult)
    assert (lost.details["ended"], lost.details["bytes"], lost.details["kept"]) == ("host", 10, 10)
    assert isinstance(other, ToolOutput)
    assert isinstance(exited, ToolResult)
    assert (exited.exit_code, exited.is_error, exited.details["ended"], exited.details["bytes"]) == (
        3,
        False,
        "exit",
        7,
    )
    assert isinstance(error, Error)
    assert [type(end) for end in LeftOpen(events[2:]).ends(known.get)] == [ToolOutput, ToolResult]


def test_what_follows_a_result_does_not_open_its_call_again() -> None:
    events: list[Event] = [ToolUse("c1", "Bash"), ToolResult("c1"), ToolOutput("c1", "late")]
    assert LeftOpen(events).ends() == []


def test_what_passes_is_over_for_each_agent() -> None:
    """The root's queue and a subagent's are two; one that is over by itself is not ended again."""
    events: list[Event] = [
        State("queue", [{"text": "a"}]),
        State("queue", [{"text": "b"}], agent="A-1"),
        State("retry", {"attempt": 1}, agent="A-2"),
        State("retry", None),
        State("queue", None, agent="A-1"),
    ]
    ends = LeftOpen(events).ends()
    assert [(end.key, end.agent) for end in ends if isinstance(end, State)] == [("queue", ""), ("retry", "A-2")]


def test_an_agent_that_publishes_its_state_is_parked() -> None:
    """After the ends of its calls, its turn and its run. Why is known of one that was running; one that was parked or
    aborted is left alone. It has no end of its own, with which nothing more could come of it."""
    running = AgentState("running", "m", unread=2, definition="Explore")
    events: list[Event] = [
        AgentStarted("A"),
        State("agent", running.value, agent="A"),
        RunStarted(agent="A"),
        TurnStarted(agent="A"),
        ToolUse("c1", "Bash", agent="A"),
        AgentStarted("A/B", agent="A"),
        of("A/B", "idle"),
        AgentStarted("C"),
        of("C", "aborted"),
        AgentStarted("D"),
        of("D", "parked"),
    ]
    result, turn, run, parked, idle, error = LeftOpen(numbered(events)).ends()
    assert isinstance(result, ToolResult)
    assert isinstance(turn, TurnEnded)
    assert isinstance(run, RunEnded)
    assert isinstance(parked, State)
    assert isinstance(idle, State)
    assert isinstance(error, Error)
    assert {end.agent for end in (result, turn, run, parked)} == {"A"}
    why = "the session ended while it was running"
    assert AgentState.of(parked.value) == AgentState("parked", "m", why, 2, "Explore")
    assert (idle.agent, AgentState.of(idle.value)) == ("A/B", AgentState("parked"))


def test_an_agent_is_parked_however_long_ago_it_was_announced() -> None:
    """What is looked at may begin after that."""
    (parked,) = LeftOpen([of("A", "idle")]).ends()
    assert parked.agent == "A"
    assert LeftOpen([of("A", "idle"), AgentEnded("A")]).ends() == []


def test_an_agent_that_is_announced_again_is_still_parked() -> None:
    """Killed while it was being revived: there is nothing to end."""
    events: list[Event] = [AgentStarted("A"), of("A", "parked"), AgentStarted("A")]
    assert LeftOpen(events).ends() == []
