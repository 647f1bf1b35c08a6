"""tui-runtime-internals.md, from streaming on: what events and keys do to the screen and to the session."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from sightline.events import (
    AgentStarted,
    Notice,
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
    User,
)
from sightline.host import Abort, AnswerRequest, CancelCall, Cell, CommandReply, Prompt, Shell, Stop, Unqueue
from sightline.settings import Settings
from sightline.tty.components._loader import TICK
from sightline.views.console import _keys
from sightline.views.console.selectors._agent_viewer import AgentViewer
from sightline.views.console.selectors._agents import AgentsPanel
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


def begun(sat: Sitting) -> None:
    sat.hears(RunStarted("s"), User("go", source="person"))


APPROVAL = {
    "ui": {"kind": "approval"},
    "tool": "bash",
    "call": "s-1",
    "access": "exec",
    "what": "make",
    "why": "",
    "rule": "exec(make)",
    "args": {},
}


# ---- streaming


async def test_the_loader_runs_from_the_start_of_a_run_to_its_end(sat: Sitting) -> None:
    """Streaming and incremental UI updates: the agent's start starts the loader, its end stops it."""
    assert sat.console.working.since is None
    begun(sat)
    assert "escape stop" in sat.rows
    sat.hears(RunEnded())
    assert sat.console.working.since is None
    assert "escape stop" not in sat.rows


async def test_an_answer_grows_in_one_block(sat: Sitting) -> None:
    """Streaming and incremental UI updates: a message's start mounts a component, its updates change that one."""
    begun(sat)
    sat.hears(Text("The ans", 5))
    blocks = len(sat.console.transcript.blocks)
    sat.hears(Text("wer.", 5))
    assert len(sat.console.transcript.blocks) == blocks
    assert "The answer." in sat.rows


async def test_a_call_is_there_from_its_first_argument_on(sat: Sitting) -> None:
    """Streaming and incremental UI updates: calls appear as the model writes them, and their results join them."""
    begun(sat)
    sat.hears(ToolArgs("s-1", "bash", '{"command": "make '))
    blocks = len(sat.console.transcript.blocks)
    assert "make" in sat.rows
    sat.hears(ToolArgs("s-1", "bash", 'test"}'), ToolUse("s-1", "Bash", "bash", "make test", {"command": "make test"}))
    sat.hears(ToolOutput("s-1", "all well\n", size=9))
    sat.hears(ToolResult("s-1", "", {"ui": {"kind": "command"}}, exit_code=0))
    assert len(sat.console.transcript.blocks) == blocks
    assert "make test" in sat.rows
    assert "all well" in sat.rows


async def test_the_end_of_an_answer_closes_it(sat: Sitting) -> None:
    """Streaming and incremental UI updates: the end of a message makes it final."""
    begun(sat)
    sat.hears(Text("Done.", 5))
    assert not sat.console.transcript.blocks[-1].done
    sat.hears(RunEnded(stop_reason="stop"))
    assert sat.console.transcript.blocks[-1].done


async def test_the_end_of_a_long_run_is_told_to_who_looks_elsewhere(sat: Sitting) -> None:
    """Streaming and incremental UI updates: a completion notification for whoever is elsewhere."""
    told: list[str] = []
    clock = [1000.0]
    sat.console.attention._notify = told.append
    sat.console.attention._clock = lambda: clock[0]
    begun(sat)
    sat.hears(RunEnded())
    assert not told, "a short one is not worth it"
    begun(sat)
    clock[0] += 60
    sat.hears(RunEnded())
    assert told == ["the agent is done"]


async def test_a_question_of_a_subagent_names_it(sat: Sitting) -> None:
    """In the notification and on the screen, where the root needs no name."""
    told: list[str] = []
    sat.console.attention._notify = told.append
    begun(sat)
    sat.hears(Request("r1", "question", "which one?", agent="Explore"))
    await sat.until(lambda: "Explore asks" in sat.rows)
    sat.hears(RequestResolved("r1", agent="Explore"), Request("r2", "question", "which?"))
    await sat.until(lambda: "The agent asks" in sat.rows)
    assert told == ["Explore waits for your answer: which one?", "waiting for your answer: which?"]


async def test_what_a_subagent_does_is_over_the_window_while_it_happens(sat: Sitting) -> None:
    """From the list, and back to it; the agents below it have their colours there, too."""
    begun(sat)
    sat.hears(AgentStarted("A"), State("agent", {"state": "running"}, agent="A"), RunStarted(agent="A"))
    sat.hears(Text("I look", 3, agent="A"), AgentStarted("A/B", agent="A"), Text("deep", 4, agent="A/B"))
    sat.press("alt+a")
    await sat.until(lambda: isinstance(sat.console.screen.asking, AgentsPanel))
    sat.press("down", "enter")
    viewer = await sat.until(lambda: isinstance(now := sat.console.screen.asking, AgentViewer) and now)

    def rows() -> str:
        return "\n".join(viewer.render(80))

    await sat.until(lambda: "I look" in rows() and "◌ B" in rows())
    assert viewer._drawing.agent == "A"
    sat.hears(Text("and see", 9, agent="A"), Text("the root", 10))
    await sat.until(lambda: "and see" in rows())
    assert "the root" not in rows()
    sat.press("q")
    await sat.until(lambda: isinstance(sat.console.screen.asking, AgentsPanel))


async def test_the_run_of_a_subagent_is_not_the_runs_end(sat: Sitting) -> None:
    """Whoever waits for the end of the run waits for the root's."""
    ends: list[int] = []
    sat.console.when_run_ended(lambda: ends.append(1))
    begun(sat)
    sat.hears(AgentStarted("Explore"), RunStarted(agent="Explore"), RunEnded(agent="Explore"))
    assert ends == []
    assert sat.console.state.running
    sat.hears(RunEnded())
    assert ends == [1]


# ---- status and loader


async def test_what_waits_and_what_is_retried_is_said(sat: Sitting) -> None:
    """Status and loader orchestration: retries and compaction have loaders of their own in one lane."""
    begun(sat)
    sat.hears(State("retry", {"reason": "overloaded", "attempt": 1}))
    assert "retrying: overloaded" in sat.rows
    sat.hears(State("retry", None), RunEnded(), State("compaction", {"running": True, "why": "asked"}))
    assert "summarising the conversation" in sat.rows
    sat.hears(State("compaction", {"running": False}))
    assert sat.console.working.since is None


async def test_the_loader_turns_at_a_fixed_pace_and_asks_for_itself_only(sat: Sitting) -> None:
    """Status and loader orchestration: every 80 ms a render of the loader alone."""
    assert TICK == 0.08
    begun(sat)
    await asyncio.sleep(0)
    asked: list[object] = []
    sat.console.application.display.request_render = lambda component=None, **more: asked.append(component)  # type: ignore[method-assign]
    await sat.until(lambda: len(asked) >= 2, "two turns")
    assert all(component is sat.console.working for component in asked)


async def test_the_status_line_says_model_context_queue_and_cost(sat: Sitting) -> None:
    """Status and loader orchestration: the status line is there all the time."""
    sat.console.current.note = ""
    sat.hears(
        State("model", "anthropic/some-model"),
        State("thinking", "high"),
        State("context", {"used": 50_000, "of": 200_000}),
        State("queue", [{"text": "later", "how": "follow_up"}]),
    )
    row = sat.console.status.render(120)[0]
    for part in ("anthropic/some-model (high)", "25% of 200k", "1 waiting"):
        assert part in row


# ---- what was cut


async def test_ctrl_o_opens_the_last_call_and_not_the_todo_list(sat: Sitting) -> None:
    """That has a panel of its own, whatever the model was told of it."""
    begun(sat)
    long = "".join(f"line {number}\n" for number in range(100))
    todo = {"ui": {"kind": "todo"}, "phases": [{"name": "Build", "tasks": [{"content": "a", "status": "pending"}]}]}
    sat.hears(
        ToolUse("s-1", "bash", {"command": "make"}),
        ToolResult("s-1", long),
        ToolUse("s-2", "todo", {}),
        ToolResult("s-2", "\n".join(f"[pending] {number}" for number in range(20)), details=todo),
    )
    assert "81 more lines (ctrl+o)" in sat.rows
    sat.press("ctrl+o")
    await sat.until(lambda: sat.console.screen.asking is not None)
    viewer = sat.console.screen.asking
    assert viewer is not None
    await sat.until(lambda: "line 0" in viewer.render(80))
    assert "1/2" in viewer.render(80)[0]


# ---- modes


async def test_shell_and_python_go_to_the_host(sat: Sitting) -> None:
    """Bash/Python input modes: the prefix says what is run."""
    sat.writes("!make test")
    sat.press("enter")
    assert (await sat.sent(Shell)).text == "make test"
    sat.writes("$1 + 1")
    sat.press("enter")
    assert (await sat.sent(Cell)).code == "1 + 1"


@pytest.mark.parametrize(
    ("written", "line"),
    [("$HOME is wrong, please fix it", "HOME is wrong"), ("$$x = 1\nif x print(x)", "line 2: if x print(x)")],
)
async def test_what_is_no_python_is_given_back(sat: Sitting, written: str, line: str) -> None:
    """A dollar before words is not lost as a mistake in a cell: it says what is wrong, and how to say it instead."""
    sat.writes(written)
    sat.press("enter")
    await sat.until(lambda: "not Python" in sat.rows)
    assert line in sat.rows
    assert "begin with a space to send it to the agent" in sat.rows
    assert sat.console.draft == written
    assert not any(isinstance(command, Cell) for command in sat.commands)


@pytest.mark.parametrize("code", ["await f()", "'\\d' is 'x'", "for i in x: print(i)", "return 1", "# nothing"])
async def test_whatever_may_be_python_goes_to_the_cell(
    sat: Sitting, capfd: pytest.CaptureFixture[str], code: str
) -> None:
    """The cell says what it thinks of it, and nothing is written over the screen."""
    sat.writes(f"${code}")
    sat.press("enter")
    assert (await sat.sent(Cell)).code == code
    assert capfd.readouterr() == ("", "")


async def test_escape_in_an_inactive_mode_clears_it(sat: Sitting) -> None:
    """Bash/Python input modes: Escape leaves an inactive mode by clearing the text."""
    sat.writes("!make test")
    sat.press("escape")
    assert sat.console.prompt.text == ""
    assert not sat.commands


async def test_escape_while_a_shell_line_runs_stops_that_alone(sat: Sitting) -> None:
    """Cancellation paths: Escape during an execution aborts it, not the agent."""
    begun(sat)
    sat.writes("!sleep 9")
    sat.press("enter")
    await sat.sent(Shell)
    await sat.until(lambda: sat.console.current.running)
    sat.press("escape")
    assert (await sat.sent(CancelCall)).id == "s-1"
    assert not any(isinstance(command, Abort) for command in sat.commands)
    sat.hears(ToolUse("s-1", "Bash", arg="sleep 9"), ToolResult("s-1", "cancelled"))
    sat.press("escape")
    await sat.sent(Abort)


# ---- suspend


async def test_suspending_is_a_key_of_its_own(sat: Sitting) -> None:
    """Suspend/resume: Ctrl+Z means it, wherever the keys go."""
    assert sat.console.bindings.keys("suspend") == ("ctrl+z",)


# ---- cancellation


async def test_escape_stops_the_agent_and_gives_back_what_was_queued(sat: Sitting) -> None:
    """Cancellation paths: Escape during a stream restores queued messages and aborts."""
    begun(sat)
    sat.replies["Abort"] = CommandReply(True, data={"queued": ["first", "second"]})
    sat.writes("a draft")
    sat.press("escape")
    await sat.sent(Abort)
    await sat.until(lambda: sat.console.prompt.text == "first\n\nsecond\n\na draft")


async def test_escape_during_compaction_stops_it(sat: Sitting) -> None:
    """Cancellation paths: Escape during compaction or a retry aborts that.

    (tui-runtime-internals.md/Status and loader orchestration)
    """
    sat.hears(State("compaction", {"running": True, "why": "asked"}))
    sat.press("escape")
    await sat.sent(Abort)


async def test_one_ctrl_c_clears_and_two_leave(sat: Sitting) -> None:
    """Cancellation paths: a single Ctrl+C clears the editor, a double within 500 ms leaves."""
    assert _keys.TWICE == 0.5
    sat.writes("a draft")
    sat.press("ctrl+c")
    assert sat.console.prompt.text == ""
    assert not sat.ended
    sat.press("ctrl+c")
    await sat.sent(Stop)
    await sat.until(lambda: sat.ended)


async def test_ctrl_c_twice_slowly_does_not_leave(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancellation paths: only a double press within the time leaves."""
    monkeypatch.setattr(_keys, "LEAVES_WITHIN", -1.0)
    sat.press("ctrl+c")
    sat.press("ctrl+c")
    await asyncio.sleep(0)
    assert not sat.ended
    assert not sat.commands


async def test_a_second_ctrl_c_leaves_for_two_seconds(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it is offered. What was written meanwhile is cleared instead, and then it takes two at once."""
    now = [1000.0]
    monkeypatch.setattr(sat.console.keys, "_clock", lambda: now[0])
    sat.press("ctrl+c")
    now[0] += 1.0
    sat.press("x", "ctrl+c")
    assert sat.console.prompt.text == ""
    now[0] += 0.9
    sat.press("ctrl+c")
    assert not sat.console.sessions.drops_keys
    now[0] += 1.9
    sat.press("ctrl+c")
    assert sat.console.sessions.drops_keys
    monkeypatch.undo()
    await sat.until(lambda: sat.ended)


async def test_ctrl_d_leaves_only_with_nothing_written(sat: Sitting) -> None:
    """Cancellation paths: the same key means different things; with text it deletes."""
    sat.writes("text")
    sat.press("ctrl+a", "ctrl+d")
    assert sat.console.prompt.text == "ext"
    sat.press("ctrl+c")
    sat.press("x", "backspace", "ctrl+d")
    await sat.sent(Stop)


async def test_escape_twice_on_an_empty_editor_opens_the_tree(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """tree.md/How to open it: double-escape on an empty editor."""
    opened: list[str] = []

    async def run_command(name: str, args: str = "") -> None:
        opened.append(name)

    monkeypatch.setattr(sat.console.keys, "_run_command", run_command)
    sat.press("escape")
    await asyncio.sleep(0)
    assert not opened
    sat.press("escape")
    await sat.until(lambda: opened)
    assert opened == ["tree"]


async def test_what_escape_twice_opens_can_be_set(tmp_path: Path, own_home: None) -> None:
    """tree.md/How to open it: doubleEscapeAction."""
    console = msgspec.structs.replace(Settings().console, double_escape="none")
    sat = Sitting(tmp_path, msgspec.structs.replace(Settings(), console=console))
    sat.press("escape", "escape")
    await asyncio.sleep(0.01)
    assert sat.console.screen.asking is None
    assert not sat.commands
    await sat.close()


# ---- prompts


async def test_a_prompt_is_sent_and_while_it_works_it_steers(sat: Sitting) -> None:
    """What is entered while the agent works joins in; alt+enter waits for its end."""
    sat.writes("one")
    sat.press("enter")
    assert (await sat.sent(Prompt)).how == "prompt"
    sat.commands.clear()
    begun(sat)
    sat.writes("two")
    sat.press("enter")
    assert (await sat.sent(Prompt)).how == "steer"
    sat.commands.clear()
    sat.writes("three")
    sat.press("alt+enter")
    assert (await sat.sent(Prompt)).how == "follow_up"


async def test_what_was_not_taken_is_in_the_editor_again(sat: Sitting) -> None:
    """A refusal costs nobody their words."""
    sat.replies["Prompt"] = CommandReply(False, error="no room", hint="make some")
    sat.writes("precious words")
    sat.press("enter")
    await sat.until(lambda: sat.console.prompt.text == "precious words")
    assert "no room" in sat.rows
    assert "make some" in sat.rows


async def test_what_waits_can_be_taken_back(sat: Sitting) -> None:
    """Alt+up empties the queue into the editor; the agent works on."""
    begun(sat)
    sat.hears(State("queue", [{"text": "later", "how": "follow_up"}]))
    sat.replies["Unqueue"] = CommandReply(True, data={"queued": ["later"]})
    sat.press("alt+up")
    await sat.sent(Unqueue)
    await sat.until(lambda: sat.console.prompt.text == "later")
    assert not any(isinstance(command, Abort) for command in sat.commands)


async def test_a_command_nobody_knows_is_not_sent(sat: Sitting) -> None:
    """It is told, with the nearest, and stays in the editor; a path, or a blank before it, makes it words."""
    sat.writes("/modle")
    sat.press("enter")
    await sat.until(lambda: "did you mean /model?" in sat.rows)
    assert sat.console.prompt.text == "/modle"
    assert not sat.commands
    sat.press("ctrl+c")
    sat.writes("/usr/bin is a folder")
    sat.press("enter")
    assert (await sat.sent(Prompt)).text == "/usr/bin is a folder"


@pytest.mark.parametrize("offered", [False, True], ids=["at once", "with the list in sight"])
async def test_a_slash_alone_is_help(sat: Sitting, offered: bool) -> None:
    """It is never said to the agent, and enter on the list runs nothing that leaves the conversation."""
    sat.press("/")
    if offered:
        await sat.until(lambda: "/help" in sat.rows and "/model" in sat.rows)
    sat.press("enter")
    await sat.until(lambda: "Commands" in sat.rows or "commands" in sat.rows)
    assert not sat.commands
    assert not sat.console.prompt.text


async def test_a_command_of_an_extension_goes_to_the_host(sat: Sitting) -> None:
    """The host has it."""
    sat.hears(State("commands", [{"name": "greet", "about": "says hello"}]))
    sat.writes("/greet you")
    sat.press("enter")
    assert (await sat.sent(Prompt)).text == "/greet you"


# ---- requests


async def test_a_request_answered_elsewhere_closes_here(sat: Sitting) -> None:
    """Two consoles show the same; what one answers, the other lets go."""
    begun(sat)
    sat.hears(Request("r", "approval", "bash wants to run `make`", ["once", "no"], APPROVAL))
    await sat.until(lambda: "Allow this?" in sat.rows)
    sat.hears(RequestResolved("r", "once"))
    await sat.until(lambda: "Allow this?" not in sat.rows)
    await sat.until(lambda: sat.console.screen.asking is None)
    assert not any(isinstance(command, AnswerRequest) for command in sat.commands)


async def test_a_dialog_comes_only_when_the_person_stopped_typing(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A letter that was meant for the draft never answers anything."""
    begun(sat)
    sat.press("y")
    sat.hears(Request("r", "approval", "bash wants to run `make`", ["once", "no"], APPROVAL))
    sat.press("y", "enter")
    assert "Allow this?" not in sat.rows
    assert (await sat.sent(Prompt)).text == "yy"
    await sat.until(lambda: "Allow this?" in sat.rows)
    sat.press("y")
    assert (await sat.sent(AnswerRequest)).id == "r"


async def test_requests_are_asked_one_after_the_other(sat: Sitting) -> None:
    """The oldest first; a list the person has open is not pushed aside."""
    begun(sat)
    sat.hears(
        Request("r1", "question", "First?", ["a"], {"ui": {"kind": "question"}, "choices": [{"label": "a"}]}),
        Request("r2", "question", "Second?", ["b"], {"ui": {"kind": "question"}, "choices": [{"label": "b"}]}),
    )
    await sat.until(lambda: "First?" in sat.rows)
    assert "Second?" not in sat.rows
    sat.press("enter")
    assert (await sat.sent(AnswerRequest)).id == "r1"
    sat.hears(RequestResolved("r1"))
    await sat.until(lambda: "Second?" in sat.rows)


# ---- showing


async def test_notices_are_shown_with_their_hint(sat: Sitting) -> None:
    """Event-driven updates: what the session says is on the screen with the next frame."""
    sat.hears(Notice("something to know", "warning", "what to do"))
    assert "something to know" in sat.rows
    assert "what to do" in sat.rows


async def test_many_events_are_one_frame(sat: Sitting) -> None:
    """Event-driven vs throttled behavior: requests to draw are gathered."""
    drawn: list[int] = []
    original = sat.display.render_now
    sat.display.render_now = lambda: (drawn.append(1), original())[1]  # type: ignore[method-assign]
    begun(sat)
    await sat.until(lambda: drawn)
    drawn.clear()
    for number in range(50):
        sat.hears(Text(f"w{number} ", 7))
    await asyncio.sleep(0.02)
    assert len(drawn) <= 2


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_the_todo_panel_is_there_while_something_is_left(sat: Sitting, count: int) -> None:
    """todo.md/Side Effects: the visible panel follows the list."""
    tasks = [{"text": f"task {n}", "status": "pending", "phase": "One"} for n in range(count)]
    sat.hears(State("todo", [*tasks, {"text": "over", "status": "completed", "phase": "One"}]))
    assert ("todo 1/" in sat.rows) == bool(count)
