"""What a killed host left open ends when its session is opened again, however old it is."""

import pytest

from sightline.events import (
    AgentStarted,
    AgentState,
    Event,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolResult,
    ToolUse,
    User,
)
from sightline.events.stamping import stamp
from sightline.journal import Store, _scan
from sightline.journal._repair import agent_states
from sightline.transcript import LeftOpen, Snapshot, fold
from tests.journal.conversations import Talk, assistant, user


def of(path: str, state: str, **more) -> State:
    fact = AgentState(state, **more)
    return State(fact.KEY, fact.value, agent=path)


def write(talk: Talk, *events: Event) -> None:
    for event in events:
        talk.seq += 1
        talk.writer.append([stamp(event, talk.seq, float(talk.seq))])


@pytest.fixture
def talk(tmp_path) -> Talk:
    """Two runs of the root: in the first an agent was started that was idle after it."""
    talk = Talk(Store(tmp_path))
    write(talk, RunStarted(), User("go"), AgentStarted("A", "A"), of("A", "running"), RunStarted(agent="A"))
    write(talk, RunEnded(agent="A"), of("A", "idle", unread=1))
    talk.step(user("go"))
    talk.step(assistant("done"))
    write(talk, RunEnded())
    for number in range(20):
        write(talk, RunStarted(), User("again"))
        talk.step(user("again"))
        talk.step(assistant("x" * number))
        write(talk, RunEnded())
    return talk


def reopened(talk: Talk) -> Snapshot:
    """The state after the repair; a second one adds nothing."""
    talk.close()
    talk.store.reopen(talk.id)[0].close()
    events = list(talk.store.read(talk.id).events())
    assert LeftOpen(events).ends() == []
    writer, tree = talk.store.reopen(talk.id)
    writer.close()
    assert tree.last_seq == events[-1].seq
    return fold(events)


def test_an_agent_that_was_idle_since_an_earlier_run_is_parked(talk):
    """What it published is found, although the last run has nothing of it."""
    agent = reopened(talk).agents["A"]
    assert agent.fact == AgentState("parked", unread=1)
    assert agent.runs[-1].then == "idle"


def test_an_agent_that_still_ran_has_all_ends(talk):
    """Its run began before the last run of the root, and so did its call."""
    write(talk, of("A", "running"), RunStarted(agent="A"), ToolUse("c1", "Bash", agent="A"))
    write(talk, RunStarted(), User("last"))
    talk.step(user("last"))
    write(talk, RunEnded())
    state = reopened(talk)
    agent = state.agents["A"]
    assert agent.fact is not None
    assert (agent.fact.state, agent.fact.reason) == ("parked", "the session ended while it was running")
    assert agent.runs[-1].is_error
    assert all(getattr(entry, "content", "") is not None for entry in state.entries)


def test_a_session_that_ended_well_is_left_alone(talk):
    """Its agents were parked by it."""
    write(talk, of("A", "parked"))
    seq = talk.seq
    assert reopened(talk).seq == seq


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_what_agents_published_is_found_in_chunks_of_any_size(talk, monkeypatch, size):
    """The last of each; what only looks like it is not found: a text, the arguments of a call, a state of the root."""
    alike = {"kind": "state", "key": "agent", "value": {"state": "running"}}
    write(talk, of("A/B", "running"), Text('"key":"agent"'), ToolUse("c1", "Note", args=alike), ToolResult("c1"))
    write(talk, of("A/B", "aborted", reason="why"), State("agent", {"state": "running"}))
    talk.writer.close()
    monkeypatch.setattr(_scan, "_CHUNK", size)
    monkeypatch.setattr(_scan, "_BACK", size)
    found = {event.agent: AgentState.of(event.value) for event in agent_states(talk.writer.folder)}
    assert found == {"A": AgentState("idle", unread=1), "A/B": AgentState("aborted", reason="why")}
