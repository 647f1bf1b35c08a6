"""A session as one of its subagents sees it: as if it were a session of its own."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import (
    AgentStarted,
    AgentState,
    Event,
    ModelState,
    Request,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnEnded,
    Usage,
    User,
)
from sightline.events.stamping import stamp
from sightline.transcript import Snapshot, Transcript, fold, seen_from


def of(path: str, fact) -> State:
    return State(fact.KEY, fact.value, agent=path)


EVENTS: list[Event] = [
    RunStarted(),
    User("go"),
    AgentStarted("A", "A", "look"),
    of("A", AgentState("running", "m")),
    RunStarted(agent="A"),
    User("look", agent="A"),
    Text("I look", 1, agent="A"),
    Text("root words", 2),
    AgentStarted("A/B", "B", "dig", agent="A"),
    of("A/B", ModelState("small")),
    Text("I dig", 3, agent="A/B"),
    ToolUse("c1", "Bash", agent="A/B"),
    ToolOutput("c1", "out", size=3, agent="A/B"),
    TurnEnded(Usage(5, 2), agent="A/B"),
    Text("another's", 4, agent="AB"),
    Request("r1", "approval", agent="A/B"),
    Request("r2", "approval"),
    ToolResult("c1", "out", agent="A/B"),
    RunEnded(agent="A"),
    of("A", AgentState("idle", "m")),
]


def stamped(events: list[Event]) -> list[Event]:
    return [stamp(event, seq, float(seq)) for seq, event in enumerate(events, 1)]


def test_it_has_what_is_the_agents_and_of_those_below_it() -> None:
    """Under paths that begin with it; the agent itself is the root."""
    state = seen_from(fold(stamped(EVENTS)), "A")
    assert [(entry.agent, getattr(entry, "text", "")) for entry in state.entries] == [
        ("", "look"),
        ("", "I look"),
        ("B", "I dig"),
        ("B", ""),
    ]
    assert (state.running, state.model, state.began, state.seq) == (False, "m", 5.0, len(EVENTS))
    (below,) = state.agents.values()
    assert (below.path, below.parent, below.model) == ("B", "", "small")
    assert state.totals["B"].input_tokens == 5
    assert set(state.requests) == {"r1"}
    assert AgentState.among(state.state) == AgentState("idle", "m")


def test_the_root_sees_all_of_it() -> None:
    """And of an agent that was never announced there are the entries."""
    whole = fold(stamped(EVENTS))
    assert seen_from(whole, "").entries == whole.entries
    unknown = seen_from(whole, "AB")
    assert ([entry.agent for entry in unknown.entries], unknown.running, unknown.agents) == ([""], False, {})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, len(EVENTS)), min_size=2, max_size=4).map(sorted))
def test_a_view_of_it_catches_up(ends: list[int]) -> None:
    """A later state of the same agent is one of the same conversation, whatever happened elsewhere."""
    events = stamped(EVENTS)
    view = Transcript(seen_from(fold(events[: ends[0]]), "A"))
    for end in ends[1:]:
        known = list(view.now.entries)
        later = seen_from(fold(events[:end]), "A")
        assert view.catch_up(later) is not None
        assert view.now.entries[: len(known)] == known
        assert view.snapshot() == later


def test_later_events_do_not_change_it() -> None:
    """It is a copy."""
    transcript = Transcript()
    events = stamped(EVENTS)
    for event in events[:12]:
        transcript.apply(event)
    seen = seen_from(transcript.now, "A")
    before = msgspec.json.encode(seen)
    for event in events[12:]:
        transcript.apply(event)
    assert msgspec.json.encode(seen) == before
    assert isinstance(seen, Snapshot)
