"""The transcript for who listens: told when it happens, in words, and never taken back."""

from typing import Any

import pytest

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    Event,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    User,
)
from sightline.events.stamping import stamp
from sightline.transcript import Snapshot
from sightline.tty import PLAIN, Capabilities, LinearDisplay
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.status import Pulse
from sightline.views.console.transcript._spoken import FIRST, SpokenTranscript
from tests.tty.support import FakeClock
from tests.tty.test_linear import Paper


class Ear:
    def __init__(self) -> None:
        self.paper = Paper(200)
        self.clock = FakeClock()
        display = LinearDisplay(self.paper, Capabilities(linear=True))
        drawing = DrawingOptions(PLAIN, display.images, bindings_from({}), linear=True)
        self.view = SpokenTranscript(
            drawing, lambda: None, size=lambda: (200, 24), fill=lambda older: None, call_later=self.clock.call_later
        )
        display.add(self.view.component)
        self._display = display
        self._seq = 0

    def hears(self, *events: Event) -> str:
        """What is written for these."""
        for event in events:
            self._seq += 1
            stamp(event, self._seq, 1000.0)
        before = len(self.paper.text)
        self.view.apply(events)
        self._display.request_render()
        self._display.render_now()
        return self.paper.text[before:]

    def waits(self, seconds: float) -> str:
        before = len(self.paper.text)
        self.clock.advance(seconds)
        self._display.request_render()
        self._display.render_now()
        return self.paper.text[before:]


@pytest.fixture
def ear() -> Ear:
    return Ear()


def use(id: str, command: str, **more: Any) -> ToolUse:
    return ToolUse(id, "Bash", args={"command": command}, **more)


def test_a_call_that_ends_at_once_is_told_by_its_end(ear):
    """One line for it."""
    assert ear.hears(use("1", "true")) == ""
    assert ear.hears(ToolResult("1", "", exit_code=0)) == "ok: $ true  exit 0\n"
    assert ear.waits(1) == ""


def test_a_call_that_takes_its_time_is_told_when_it_begins(ear):
    """After a moment, once."""
    ear.hears(use("1", "sleep 9"))
    assert ear.waits(0.3) == "running: $ sleep 9\n"
    assert ear.waits(5) == ""
    assert ear.hears(ToolResult("1", "", exit_code=1, is_error=True, duration=5.0)) == (
        "failed: $ sleep 9  exit 1 · 5 s\n"
    )


def test_lines_of_output_are_told_when_they_end(ear):
    """Each once; half a line waits, a line that is written over is told as it was in the end."""
    ear.hears(use("1", "make"))
    assert ear.hears(ToolOutput("1", "one\ntw", size=6)) == "running: $ make\none\n"
    assert ear.hears(ToolOutput("1", "o\n10%\r20%\r30%", offset=6, size=13)) == "two\n"
    assert ear.hears(ToolOutput("1", "\n", offset=19, size=1)) == "30%\n"
    assert ear.hears(ToolOutput("1", "rest", offset=20, size=4)) == ""
    assert ear.hears(ToolResult("1", "one\ntwo\n30%\nrest", exit_code=0)) == "rest\nok: $ make  exit 0\n"


def test_a_flood_is_told_by_its_ends(ear):
    """The first lines, a word that there is more, and the last ones; however it came."""
    ear.hears(use("1", "make"))
    lines = "".join(f"line {number}\n" for number in range(1000))
    said = ear.hears(ToolOutput("1", lines, size=len(lines)))
    assert said.count("line ") == FIRST
    assert "… more output; /output shows what there is so far" in said
    assert ear.hears(ToolOutput("1", "last\n", offset=len(lines), size=5)) == ""
    ended = ear.hears(ToolResult("1", lines, exit_code=0)).splitlines()
    assert ended[0] == f"… {1001 - FIRST - 10} lines left out (/output)"
    assert ended[1:-1] == [*(f"line {number}" for number in range(991, 1000)), "last"]
    assert ended[-1] == "ok: $ make  exit 0"


def test_lines_of_calls_that_run_at_once_are_told_apart(ear):
    """Whose they are is said when that changes; nothing waits for the other call."""
    ear.hears(use("1", "make a"), use("2", "make b"))
    ear.waits(1)
    assert ear.hears(ToolOutput("1", "from a\n", size=7)) == "\noutput of $ make a:\nfrom a\n"
    assert ear.hears(ToolOutput("2", "from b\n", size=7)) == "\noutput of $ make b:\nfrom b\n"
    assert ear.hears(ToolOutput("2", "again\n", offset=7, size=6)) == "again\n"
    assert "ok: $ make a" in ear.hears(ToolResult("1", "from a", exit_code=0))


def test_a_subagent_is_told_while_it_works(ear):
    """Its beginning, each call at its end, what it said, its end: none of it waits for the agent to end."""
    assert ear.hears(AgentStarted("a", "scout", "look around")) == "agent scout started: look around\n"
    ear.hears(Text("I look.\n", agent="a"), use("1", "ls", agent="a"))
    assert "scout: I look." in ear.paper.text
    assert ear.hears(ToolResult("1", "", exit_code=0, agent="a")) == "scout: ok: $ ls exit 0\n"
    assert ear.hears(User("meanwhile")) == "\nyou: meanwhile\n"
    ended = ear.hears(Text("Nothing there.", agent="a", block=1), AgentEnded("a"))
    assert "scout: Nothing there." in ended
    assert "ok: scout look around  1 call" in ended


def of(path: str, state: str, **more: Any) -> State:
    fact = AgentState(state, **more)  # type: ignore[arg-type]
    return State(fact.KEY, fact.value, agent=path)


def test_an_agent_that_is_prompted_again_is_announced_again(ear):
    """Its states are worth a line when a run begins or ends, and no other time."""
    begun = [AgentStarted("a", "scout", "look around"), of("a", "running"), RunStarted(agent="a")]
    assert ear.hears(*begun) == "agent scout started: look around\n"
    ear.hears(User("look around", agent="a"), Text("Nothing there.", agent="a", block=1))
    ended = ear.hears(RunEnded(agent="a"), of("a", "idle"))
    assert "scout: Nothing there." in ended
    assert "ok: scout look around  idle" in ended
    assert ear.hears(of("a", "idle", unread=1), of("a", "parked"), AgentStarted("a", "scout")) == ""
    assert ear.hears(of("a", "running"), RunStarted(agent="a")).strip() == "agent scout continues"
    assert ear.hears(of("a", "running", unread=1), State("todo", [], agent="a")) == ""
    assert "scout: asked: again" in ear.hears(User("again", agent="a"))
    assert "stopped: scout look around  aborted" in ear.hears(RunEnded(agent="a"), of("a", "aborted"))


def test_an_agent_that_is_prompted_again_counts_from_what_it_had(ear):
    """As its blocks do for those who see."""
    ear.hears(AgentStarted("a", "scout", "look around"), of("a", "running"), RunStarted(agent="a"))
    ear.hears(ToolUse("c", "Look", agent="a"), ToolResult("c", "x", agent="a"))
    assert "1 call" in ear.hears(RunEnded(agent="a"), of("a", "idle"))
    ear.hears(of("a", "running"), RunStarted(agent="a"), User("again", agent="a"))
    ear.hears(ToolUse("d", "Look", agent="a"), ToolResult("d", "x", agent="a"))
    assert "ok: scout look around  2 calls · idle" in ear.hears(RunEnded(agent="a"), of("a", "idle"))


def test_a_review_that_is_done_is_one_block(ear):
    """Its own: what its reviewer did was written line by line."""
    use = ToolUse("r", "Review", "review", "the changes", {"target": "the changes"}, source="person", job=True)
    ear.hears(use, AgentStarted("a", "scout", "the changes", call="r"), of("a", "running", is_review=True))
    ear.hears(RunStarted(agent="a"), Text("Nothing there.", agent="a", block=1))
    assert "ok:" not in ear.hears(RunEnded(agent="a"), of("a", "idle", is_review=True))
    assert "ok: Review" in ear.hears(ToolResult("r", "fine", {"ui": {"kind": "review", "target": "the changes"}}))


def test_an_agent_below_another_is_announced_in_a_line(ear):
    """What it did is in the block of the one it works for."""
    ear.hears(AgentStarted("a", "scout"), of("a", "running"))
    ear.hears(AgentStarted("a/b", "digger", agent="a"), of("a/b", "running"))
    assert ear.hears(of("a/b", "idle")).strip() == "agent digger is idle"


def test_steps_of_a_delegation_are_told_when_they_change(ear):
    """Each status once, in a word."""

    def steps(*statuses: str) -> ToolUpdate:
        items = [
            {"id": str(at), "agent": f"agent{at}", "task": "t", "status": status} for at, status in enumerate(statuses)
        ]
        return ToolUpdate("1", {"ui": {"kind": "agent_delegation", "mode": "parallel", "items": items}})

    ear.hears(ToolUse("1", "Task", args={"x": 1}))
    said = ear.hears(steps("running", "pending"))
    assert "running: agent0 t\n" in said
    assert "agent1" not in said
    assert ear.hears(steps("ok", "running")) == "ok: agent0 t\nrunning: agent1 t\n"
    assert ear.hears(steps("ok", "running")) == ""
    assert ear.hears(steps("ok", "error")) == "failed: agent1 t\n"


def test_what_was_entered_here_is_not_told_again(ear):
    """The terminal shows it. The same words from elsewhere are told."""
    ear.view.entered("hello")
    assert ear.hears(User("hello")) == ""
    assert ear.hears(User("hello")) == "you: hello\n"


def test_work_without_a_word_is_mentioned_now_and_then():
    """After a while, then seldom; not when it is over, nor while it waits for the person."""
    clock, said, state = FakeClock(), [], Snapshot()
    pulse = Pulse(lambda: state, said.append, clock=clock.time, call_later=clock.call_later)
    pulse.look()
    clock.advance(100)
    assert said == []
    state.running = True
    pulse.look()
    clock.advance(16)
    assert said == ["still working, for 15 s; /stop to stop it"]
    clock.advance(60)
    assert said[1:] == ["still working, for 1 min 15 s; /stop to stop it"]  # as the row of a console with a screen
    state.requests["r"] = {}
    clock.advance(60)
    state.requests.clear()
    state.running = False
    pulse.look()
    clock.advance(600)
    assert len(said) == 2


def test_a_side_question_is_written_and_its_answer_when_it_is_complete(ear: Ear) -> None:
    """Nothing else waits for it."""
    question = User("why?", agent="btw-1", source="person")
    begun = AgentStarted("btw-1", "btw-1", "why?", aside=True), RunStarted("s", agent="btw-1"), question
    assert ear.hears(RunStarted("s"), *begun).split() == ["question:", "btw-1", "why?"]
    assert ear.hears(Text("Because **it**", 9, agent="btw-1")) == ""
    ear.hears(Text("My own words", 10))
    written = ear.hears(Text(" is.", 9, agent="btw-1"), RunEnded(agent="btw-1"), AgentEnded("btw-1"))
    assert written.split("\n\n")[-2:] == ["btw-1 answers:\n  Because it is.", "agent btw-1 ended\n"]
