"""The facts a tab gets of the session as a whole."""

import msgspec

from sightline.events import AgentEnded, AgentStarted, AgentState, RunEnded, RunStarted, State, TodoState, TodoTask
from sightline.events.stamping import stamp
from sightline.transcript import fold
from sightline.views.web.page._facts import facts_of


def test_a_subagent_has_its_state_and_model():
    """From what it publishes about itself, else from its start and end. The rest of its state stays where it is: facts
    are sent again with every change."""
    idle, todo = AgentState("idle", "m", unread=2), TodoState([TodoTask("look", "pending")])
    events = [
        AgentStarted("Explore", "Explore", "look"),
        State("agent", AgentState("running", "m").value, agent="Explore"),
        State("todo", todo.value, agent="Explore"),
        RunStarted(agent="Explore"),
        RunEnded(agent="Explore"),
        RunStarted(agent="Explore"),
        RunEnded(agent="Explore"),
        State("agent", idle.value, agent="Explore"),
        AgentStarted("other-1", "other", model="small"),
        AgentEnded("other-1", True),
    ]
    state = fold([stamp(event, seq, 100.0 + seq) for seq, event in enumerate(events, 1)])
    facts = facts_of(state, live=True)
    ours, other = facts["agents"]
    assert (ours["state"], ours["model"], ours["unread"], ours["running"]) == ("idle", "m", 2, False)
    assert (ours["started"], ours["ended"]) == (106.0, 107.0), "of its last run"
    assert (other["state"], other["model"], other["started"], other["ended"]) == ("failed", "small", 109.0, 110.0)
    assert (ours["talks"], other["talks"]) == (True, False), "another program's agent takes no messages"
    assert facts["todo"] is None, "the list of a subagent is not the root's"
    assert b"look" not in msgspec.json.encode({**facts, "agents": [{**ours, "task": ""}]})


def test_an_agent_that_the_user_stopped_says_so():
    state = AgentState("idle", stopped=True).value
    events = [AgentStarted("One", "One"), State("agent", state, agent="One")]
    (agent,) = facts_of(fold([stamp(event, seq, 1.0) for seq, event in enumerate(events, 1)]), live=True)["agents"]
    assert (agent["state"], agent["stopped"], agent["is_error"], agent["talks"]) == ("idle", True, False, True)


def test_an_isolated_agent_that_is_done_takes_no_messages():
    """Its working copy is gone; what it changed there is still shown."""
    parked = AgentState("parked", workplace="overlay", changed_files=2, added=3, removed=1)
    events = [AgentStarted("One", "One"), State("agent", parked.value, agent="One")]
    (agent,) = facts_of(fold([stamp(event, seq, 1.0) for seq, event in enumerate(events, 1)]), live=True)["agents"]
    assert (agent["talks"], agent["copy"]) == (False, "overlay: 2 files +3 −1")
