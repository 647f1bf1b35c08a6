"""The row that says what goes on, the hints below the editor, and what they promise: each key does what they say."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sightline.events import (
    AgentStarted,
    AgentState,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolResult,
    ToolUse,
    User,
)
from sightline.events.stamping import stamp
from sightline.host import Abort, AnswerRequest, CancelCall, CommandReply, Stop
from sightline.settings import StartOptions
from sightline.tty import Capabilities
from sightline.views.console import _keys
from sightline.views.console.session import _sessions
from tests.views.console.sitting import Sitting
from tests.views.console.test_runtime import APPROVAL, begun


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


def row(sat: Sitting) -> str:
    return "\n".join(sat.console.working.render(100))


def hints(sat: Sitting) -> str:
    return "\n".join(sat.console.screen.hints.render(100))


def approval(id: str) -> Request:
    return Request(id, "approval", "bash wants to run `make`", ["once", "no"], APPROVAL)


def typed(sat: Sitting, id: str = "s-1", line: str = "sleep 15") -> None:
    sat.console.current.running.append(id)
    sat.hears(ToolUse(id, "Bash", arg=line, args={"command": line}, source="person"))


# ---- what goes on


async def test_a_provider_that_starts_is_said_to(sat: Sitting) -> None:
    """From the prompt on, with the time and the way to stop it; and leaving asks, as ever when something goes on."""
    sat.console.drawing.clock = lambda: 1001.0
    sat.hears(User("go", source="person"), RunStarted(source="gemini"), State("starting", "Gemini CLI"))
    assert "starting Gemini CLI · 1 s · escape stop" in row(sat)
    sat.press("ctrl+d")
    await sat.until(lambda: "Leave?" in sat.rows)
    assert not any(isinstance(command, Stop) for command in sat.commands)
    sat.press("escape")
    await sat.until(lambda: sat.console.screen.asking is None)
    sat.press("escape")
    await sat.sent(Abort)
    sat.hears(State("starting", None))
    assert "starting" not in row(sat)


async def test_that_it_is_being_stopped_is_said_at_once(sat: Sitting) -> None:
    """Until it has stopped, whatever still comes; the next run is not."""
    begun(sat)
    sat.press("escape")
    await sat.sent(Abort)
    sat.hears(Text("more", 5))
    assert "stopping…" in row(sat)
    assert "escape" not in row(sat)
    sat.hears(RunEnded(stop_reason="cancelled"))
    assert not row(sat)
    begun(sat)
    assert "stopping" not in row(sat)
    sat.press("escape")
    await sat.until(lambda: "stopping…" in row(sat))
    sat.console.frame([stamp(RunEnded(stop_reason="cancelled"), 90, 1000.0), stamp(RunStarted("s"), 91, 1009.0)])
    assert "stopping" not in row(sat), "the next one began with the end of that"


async def test_who_is_not_stopped_is_not_said_to_be(sat: Sitting) -> None:
    """A refusal is told, and the row is what it was."""
    sat.replies["Abort"] = CommandReply(False, error="it will not")
    begun(sat)
    sat.press("escape")
    await sat.until(lambda: "it will not" in sat.rows)
    assert "escape stop" in row(sat)


async def test_a_line_of_the_persons_is_not_what_the_agent_does(sat: Sitting) -> None:
    """Nor is what it said before it was asked; and Escape stops what it says it stops."""
    sat.hears(Text("Before.", 5))
    begun(sat)
    typed(sat)
    assert "working" in row(sat)
    assert "Bash" not in row(sat)
    assert "escape stop !sleep 15" in row(sat)
    sat.press("escape")
    assert (await sat.sent(CancelCall)).id == "s-1"
    assert "stopping !sleep 15" in row(sat)
    sat.hears(ToolResult("s-1", "cancelled"))
    assert "escape stop" in row(sat)
    sat.hears(ToolUse("s-2", "Grep", arg="x"))
    assert "running Grep" in row(sat)


def agent_begins(sat: Sitting, name: str, call: str) -> None:
    fact = AgentState("running")
    sat.hears(AgentStarted(name, name, "look", call=call), State(fact.KEY, fact.value, agent=name))
    sat.hears(RunStarted(agent=name))


async def test_that_agents_are_waited_for_is_said(sat: Sitting) -> None:
    """With what a single one does; a command of one of several is not one of the agent that waits for them."""
    begun(sat)
    sat.hears(ToolUse("t", "Task", args={"agent": "task"}))
    assert "running Task" in row(sat)
    agent_begins(sat, "Reader", "t")
    sat.hears(ToolUse("a", "Bash", arg="make", agent="Reader"))
    assert "waiting for Reader: running Bash" in row(sat)
    agent_begins(sat, "Writer", "t")
    sat.hears(ToolUse("b", "Grep", arg="x", agent="Writer"), *[Text("more", n, agent="Writer") for n in range(200)])
    assert "waiting for 2 agents" in row(sat)
    sat.hears(RunEnded(agent="Reader"), RunEnded(agent="Writer"), ToolResult("t", "all"))
    assert "waiting" not in row(sat)


async def test_what_agents_in_the_background_do_is_not_what_the_agent_does(sat: Sitting) -> None:
    """It answers, or runs a command, whatever those run."""
    begun(sat)
    sat.hears(ToolUse("t", "Task", args={"agent": "task"}), ToolResult("t", "started"))
    agent_begins(sat, "Reader", "t")
    sat.hears(Text("Meanwhile", 1), ToolUse("a", "Bash", arg="make", agent="Reader"))
    assert "answering" in row(sat)
    sat.hears(ToolUse("g", "Grep", arg="x"), Text("I look.", 2, agent="Reader"))
    assert "running Grep" in row(sat)


async def test_a_line_of_the_persons_alone_has_a_row(sat: Sitting) -> None:
    """With its time, and the key that stops it if it was entered here."""
    sat.console.drawing.clock = lambda: 1004.0
    typed(sat)
    assert "running !sleep 15 · 4 s · escape stop" in row(sat)
    sat.press("escape")
    await sat.sent(CancelCall)
    assert "stopping !sleep 15" in row(sat)
    sat.hears(ToolResult("s-1", "cancelled"))
    assert not row(sat)
    sat.hears(ToolUse("s-2", "Bash", arg="make", source="person"))  # in another console
    assert row(sat).strip().endswith("running !make · 4 s")


async def test_when_it_is_asked_again_is_said(sat: Sitting) -> None:
    """In how many seconds, and how often it was; it counts down."""
    clock = [1000.0]
    sat.console.drawing.clock = lambda: clock[0]
    begun(sat)
    sat.hears(State("retry", {"reason": "busy", "attempt": 2, "attempts": 5, "seconds": 20.0}))
    clock[0] += 2
    assert "retrying in 18 s (2 of 5): busy" in row(sat)
    clock[0] += 30
    assert "retrying in 0 s (2 of 5): busy" in row(sat)
    sat.hears(State("retry", None))
    assert "asking" not in row(sat)


async def test_the_age_of_a_question_is_not_that_of_the_run(sat: Sitting) -> None:
    """Who waits for an answer waits since it was asked."""
    sat.console.drawing.clock = lambda: 1100.0
    begun(sat)
    assert "1 min 40 s" in row(sat)
    asked = approval("r1")
    stamp(asked, 3, 1096.0)
    sat.console.frame([asked])
    assert "waiting for your answer · 4 s" in row(sat)


# ---- hints


async def test_the_keys_are_those_that_hold_now(sat: Sitting) -> None:
    """While it works enter steers, and another key waits for its end."""
    assert hints(sat).startswith("enter send")
    begun(sat)
    assert hints(sat).startswith("enter steer · alt+enter queue")
    sat.hears(RunEnded())
    assert hints(sat).startswith("enter send")


async def test_again_to_leave_is_said_as_long_as_it_is_true(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is gone when a second press would be a first one."""
    asked: list[float] = []
    later = sat.console.loop.call_later

    def call_later(seconds: float, *what: Any) -> asyncio.TimerHandle:
        asked.append(seconds)
        return later(0, *what)

    monkeypatch.setattr(sat.console.loop, "call_later", call_later)
    sat.press("ctrl+c")
    assert "ctrl+c again to leave" in hints(sat)
    assert _keys.LEAVES_WITHIN in asked
    await sat.until(lambda: hints(sat).startswith("enter send"))


async def test_a_hint_is_not_cut_short_by_the_one_before(sat: Sitting) -> None:
    """Each has its time."""
    sat.console.hint("first", 0.01)
    sat.console.hint("second", 60)
    await asyncio.sleep(0.03)
    assert "second" in hints(sat)


@pytest.mark.parametrize("multiplexer", [False, True])
async def test_what_is_shown_from_now_on_is_said(sat: Sitting, multiplexer: bool) -> None:
    """On and off are told apart, and only what the key shows is promised."""
    sat.display.capabilities = Capabilities(multiplexer="tmux" if multiplexer else "")
    sat.press("alt+t")
    assert "thinking is shown" in hints(sat)
    sat.press("alt+t")
    assert "thinking is not shown" in hints(sat)
    assert "ctrl+o" not in hints(sat)
    sat.press("alt+o")
    assert "more of every block is shown" in hints(sat)
    assert ("ctrl+o shows it whole" in hints(sat)) == multiplexer
    sat.press("alt+o")
    assert "blocks are folded" in hints(sat)


# ---- escape in what is asked


async def test_escape_twice_in_an_approval_stops_the_agent(sat: Sitting) -> None:
    """Also when the next one is there already; the row says so."""
    begun(sat)
    sat.hears(approval("r1"), approval("r2"))
    await sat.until(lambda: "Allow this?" in sat.rows)
    assert "press escape twice to stop the agent" in row(sat)
    sat.press("escape")
    assert (await sat.sent(AnswerRequest)).id == "r1"
    sat.hears(RequestResolved("r1"))
    await sat.until(lambda: sat.console.screen.is_answered, "the next one")
    sat.press("escape")
    await sat.sent(Abort)
    assert [command.id for command in sat.commands if isinstance(command, AnswerRequest)] == ["r1"]
    sat.hears(RequestResolved("r2"), RunEnded(stop_reason="cancelled"))
    await sat.until(lambda: sat.console.screen.asking is None)


async def test_escape_twice_in_one_go_stops_the_agent(sat: Sitting) -> None:
    """Before anything was drawn in between; the agent, and not a line of the person's that runs beside it."""
    begun(sat)
    typed(sat)
    sat.hears(approval("r1"))
    await sat.until(lambda: "Allow this?" in sat.rows)
    sat.press("escape", "escape")
    await sat.sent(Abort)
    assert not any(isinstance(command, CancelCall) for command in sat.commands)


async def test_two_noes_with_time_between_are_two_noes(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a step back and a no in one."""
    monkeypatch.setattr(_keys, "STOPS_WITHIN", -1.0)
    begun(sat)
    sat.hears(approval("r1"), approval("r2"))
    for id in ("r1", "r2"):
        await sat.until(lambda: sat.console.screen.is_answered, "a question")
        sat.commands.clear()
        sat.press("escape")
        assert (await sat.sent(AnswerRequest)).id == id
        sat.hears(RequestResolved(id))
    assert not any(isinstance(command, Abort) for command in sat.commands)


async def test_a_step_back_is_no_no(sat: Sitting) -> None:
    """From the reason to the choices, and then no: that is not twice no."""
    begun(sat)
    sat.hears(approval("r1"))
    await sat.until(lambda: "Allow this?" in sat.rows)
    sat.press("n")
    await sat.until(lambda: "Tell the agent why" in sat.rows)
    sat.press("escape", "escape")
    await sat.sent(AnswerRequest)
    assert not any(isinstance(command, Abort) for command in sat.commands)


# ---- another conversation


@pytest.mark.parametrize("provider", ["", "codex"])
async def test_a_new_conversation_goes_on_with_whom_the_status_line_names(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    """Model, thinking level and provider, though the console was started for another session."""
    wanted = await new_after(
        sat, monkeypatch, State("provider", provider), State("model", "m-2"), State("thinking", "high")
    )
    assert (wanted.provider, wanted.model, wanted.thinking) == (provider, "m-2", "high")
    assert not wanted.resume


async def test_before_a_session_said_who_is_in_it_a_new_one_is_as_asked_for(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made of what is not known."""
    assert await new_after(sat, monkeypatch) == StartOptions(cwd=sat.console.cwd)


async def test_the_level_a_console_was_started_with_is_named_for_no_other_session(sat: Sitting) -> None:
    """One that is gone on with keeps the lower level it was left with; a new one is asked for as this one was."""
    assert not sat.console.sessions._next_options("another").approval_named
    assert sat.console.sessions._next_options("").approval_named


async def test_rules_that_allow_are_given_for_no_other_session(sat: Sitting) -> None:
    """One that is resumed has its own; what is denied in this console is denied there too, and a new one gets both."""
    sessions = sat.console.sessions
    flags = {"permissions.allow": "exec(git)", "permissions.deny": "read(x)"}
    sessions._options = StartOptions(cwd=sat.console.cwd, allow=["exec(make)"], deny=["network"], flags=flags)
    other, new = sessions._next_options("another"), sessions._next_options("")
    assert (other.allow, other.deny) == ([], ["network"])
    assert other.flags == {"permissions.deny": "read(x)"}
    assert (new.allow, new.deny, new.flags) == (["exec(make)"], ["network"], flags)


async def new_after(sat: Sitting, monkeypatch: pytest.MonkeyPatch, *told: State) -> StartOptions:
    asked: list[StartOptions] = []

    async def launch(wanted: StartOptions) -> str:
        asked.append(wanted)
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(_sessions, "launch_agent", launch)
    if told:
        sat.hears(*told)
    await sat.console.run_command("new")
    await sat.until(lambda: asked)
    return asked[0]


async def test_while_completions_are_offered_the_keys_are_theirs(sat: Sitting) -> None:
    """Enter runs a command that is marked; it does not send."""
    sat.press("/")
    await sat.until(lambda: sat.console.prompt.completing)
    assert hints(sat) == "enter run · tab complete · escape close"
    sat.press("escape")
    assert hints(sat).startswith("enter send")


async def test_the_key_to_leave_is_shown_where_it_leaves(sat: Sitting) -> None:
    assert hints(sat).endswith("ctrl+d leave")
    sat.writes("text")
    assert hints(sat).endswith("/help all keys")
    sat.press("ctrl+c")
    assert hints(sat).endswith("ctrl+d leave")


async def test_why_ctrl_d_does_not_leave_is_said(sat: Sitting) -> None:
    """Where it has nothing to delete either."""
    sat.writes("text")
    sat.press("ctrl+d")
    assert "ctrl+d leaves when nothing is written" in hints(sat)
    assert not sat.ended
    sat.press("ctrl+c")
    assert sat.console.prompt.text == ""
    assert "ctrl+d leaves when nothing is written" not in hints(sat)
    sat.writes("text")
    sat.press("ctrl+a", "ctrl+d")
    assert sat.console.prompt.text == "ext"
    assert "ctrl+d leaves" not in hints(sat)


async def test_status_says_what_the_agent_does(sat: Sitting) -> None:
    """It waits for the user only while something is asked."""
    await sat.console.run_command("status")
    await sat.until(lambda: "agent: idle" in sat.rows)
    sat.hears(approval("r1"))
    await sat.console.run_command("status")
    await sat.until(lambda: "agent: waits for you" in sat.rows)
