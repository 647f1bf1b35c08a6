"""Another program as an agent: what it does is under its path, once; it is answered, messaged, stopped and revived."""

import asyncio
import stat
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from sightline.delegation._record import AgentShelf
from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    Error,
    Notice,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    User,
    state_fact,
)
from sightline.host import Abort, AnswerRequest, CancelCall, Prompt, SetApproval
from sightline.host.provider._driver import _END_OF_WORDS, _LastWords
from tests.agent.support import Lab, kept, lab
from tests.delegation.support import write
from tests.delegation.teamwork import call, handed_back, of_agent, result_of, started, states, text
from tests.host.support import alive, until
from tests.host.test_provider_worker import ASKING, DONE, asked_of, command, printed, said
from tests.providers import fake_claude
from tests.providers.fake_app_server import install, path_with
from tests.providers.support import lines
from tests.providers.test_codex_app_server import SPAWN, SPAWNED, item, of_thread

# It never answers, and what it starts would outlive it.
_SILENT = """#!/bin/sh
here=$(dirname "$0")
sleep 600 &
echo $! > "$here/child"
echo $$ > "$here/pid"
wait
"""
USED = {
    "method": "thread/tokenUsage/updated",
    "params": {
        "threadId": "T1",
        "tokenUsage": {
            "last": {"inputTokens": 30, "outputTokens": 12, "cachedInputTokens": 0, "totalTokens": 42},
            "modelContextWindow": 1000,
        },
    },
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the programs are that stand for those of others."""
    monkeypatch.setenv("PATH", path_with(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def one(agent: str = "other", id: str = "Other", **more: Any) -> dict[str, Any]:
    return call("task", agent=agent, id=id, description="its part", assignment="Do your part.", **more)


@asynccontextmanager
async def at_work(
    folder: Path, turns: list[Any], provider: str = "codex", fields: dict[str, str] | None = None, **more: Any
) -> AsyncIterator[Lab]:
    """A session with a definition `other` in the user's folder."""
    config = folder / "config"
    write(config / "sightline/agents/other.md", provider=provider, **(fields or {}))
    environ = {"XDG_CONFIG_HOME": str(config), "HOME": str(folder / "nobody")}
    async with lab(folder, turns, **{"attended": True, "environ": environ, **more}) as here:
        yield here


def words(here: Lab, path: str) -> str:
    return "".join(event.text for event in of_agent(here, path, Text))


def prompts(program: Path) -> list[str]:
    """What was sent to codex, each prompt."""
    started = [asked["params"] for asked in asked_of(program) if asked.get("method") == "turn/start"]
    return [params["input"][0]["text"] for params in started]


async def test_what_it_does_is_under_its_path_once_and_its_last_words_are_the_result(
    tmp_path: Path, program: Path
) -> None:
    """Like an agent of ours; what it wrote on the way is shown, and not handed back."""
    install(
        program,
        lines(
            said("I look first.", "m1"),
            command("started"),
            printed("out\n"),
            command("completed", exitCode=0, aggregatedOutput="out\n"),
            said("All is ", "m2"),
            said("well.", "m2"),
            DONE,
        ),
    )
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        outcome = await here.run()
        assert outcome.text == "So."
        result = result_of(here)
        assert "Agent `Other` (other) is done" in result.content
        assert "All is well." in result.content
        assert "I look first." not in result.content
        (began,) = here.of(AgentStarted)
        assert (began.path, began.task, began.call) == ("Other", "its part", result.id)
        assert [event.text for event in of_agent(here, "Other", User)] == ["Do your part."]
        assert words(here, "Other") == "I look first.All is well."
        assert words(here, "") == "So."
        (use,) = of_agent(here, "Other", ToolUse)
        assert [event.id for event in of_agent(here, "Other", ToolResult)] == [use.id]
        assert "".join(event.content for event in of_agent(here, "Other", ToolOutput)) == "out\n"
        assert len(of_agent(here, "Other", RunStarted)) == len(of_agent(here, "Other", RunEnded)) == 1
        assert states(here, "Other") == ["running", "idle"]
        assert {event.source for event in of_agent(here, "Other", Text)} == {"codex"}
        session = here.session.id
    stored = [event for event in kept(tmp_path, session) if event.agent == "Other" and isinstance(event, Text)]
    assert "".join(event.text for event in stored) == "I look first.All is well."


async def test_what_it_did_can_be_read_by_others(tmp_path: Path, program: Path) -> None:
    """history://ID: its program stores the conversation, we what was seen of it. agent://ID is its result."""
    ran = command("completed", exitCode=0, aggregatedOutput="out\n")
    install(
        program, lines(said("I look.", "m1"), command("started"), ran, said("All ", "m2"), said("is well.", "m2"), DONE)
    )
    turns = [[one()], [call("read", path="history://Other")], [call("read", path="agent://Other")], [text("So.")]]
    async with at_work(tmp_path, turns) as here:
        await here.run()
        told = result_of(here, 1).content
        for line in (":Do your part.", ":I look.", ":→ Bash make", ":## result of Bash", ":out", ":All is well."):
            assert told.count(line) == 1, line
        assert "All is well." in result_of(here, 2).content


async def test_it_reads_its_instructions_and_the_context_before_its_first_prompt(tmp_path: Path, program: Path) -> None:
    """Once: its own conversation has them after that."""
    install(program, lines(said("One."), DONE), lines(said("Two.", "n"), DONE))
    tasks = [{"id": "Other", "assignment": "Do your part."}]
    batch = call("task", agent="other", context="The goal is blue.", tasks=tasks)
    async with at_work(tmp_path, [[batch], [text("So.")]]) as here:
        await here.run()
        assert (await here.session.submit(Prompt("And that.", agent="Other"))).ok
        await here.until(lambda: "Two." in words(here, "Other") and states(here, "Other")[-1] == "idle")
        assert [event.text for event in of_agent(here, "Other", User)] == ["Do your part.", "And that."]
    first, second = prompts(program)
    assert first.startswith("Do it.\n")  # the text of the definition
    assert "The goal is blue." in first
    assert first.endswith("\n\nDo your part.")
    assert second == "And that."


async def test_nothing_of_it_is_a_state_of_the_session(tmp_path: Path, program: Path) -> None:
    """Not its model, its level, its plan, nor what it has read; nor does it end the run of the session's agent."""
    plan = {
        "method": "turn/plan/updated",
        "params": {"threadId": "T1", "turnId": "U1", "plan": [{"step": "Look", "status": "inProgress"}]},
    }
    install(program, lines(plan, USED, said("One."), DONE))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        before = dict(here.session.snapshot().state)
        await here.run()
        after = here.session.snapshot()
        changed = {key for key in after.state if after.state[key] != before.get(key)}
        assert not changed & {"model", "approval", "provider", "steering", "stops_agents", "todo"}
        assert after.state.get("context") != {"tokens": 42}
        assert after.agents["Other"].fact is not None
        kinds = {event.key for event in of_agent(here, "Other", State)}
        assert kinds <= {"agent", "todo", "context", "queue", "model"}
        assert "todo" in kinds


async def test_what_it_used_is_counted(tmp_path: Path, program: Path) -> None:
    """In the result, and in the totals of the session under its path."""
    install(program, lines(USED, said("One."), DONE))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.run()
        assert "1 requests, 42 tokens" in result_of(here).content
        total = here.session.snapshot().totals["Other"]
        assert (total.input_tokens, total.output_tokens) == (30, 12)


async def test_what_only_a_run_reports_is_counted_once(tmp_path: Path, program: Path) -> None:
    """Money of the run, tokens of its turns: neither twice."""
    usage = {"input_tokens": 7, "output_tokens": 3}
    told = {"type": "assistant", "message": {"id": "a", "content": [{"type": "text", "text": "Hi."}], "usage": usage}}
    ended = {"type": "result", "subtype": "success", "usage": usage, "total_cost_usd": 0.5}
    fake_claude.install(program, lines({"type": "system", "subtype": "init", "session_id": "S1"}, told, ended))
    async with at_work(tmp_path, [[one()], [text("So.")]], provider="claude") as here:
        await here.run()
        member = here.running.worker.team.directory.get("Other")
        assert (member.requests, member.tokens, member.cost) == (1, 10, 0.5)


async def test_a_request_of_it_is_answered_under_its_path(tmp_path: Path, program: Path) -> None:
    """Through the session, once; the call it is about is its own."""
    install(program, lines(command("started"), ASKING))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert request.agent == "Other"
        assert request.details["call"] == of_agent(here, "Other", ToolUse)[0].id
        assert (await here.session.submit(AnswerRequest(request.id, {"choice": "once"}))).ok
        assert not (await here.session.submit(AnswerRequest(request.id, "no"))).ok
        await here.ended()
        assert [(event.id, event.agent) for event in here.of(RequestResolved)] == [(request.id, "Other")]
    assert [asked["result"] for asked in asked_of(program) if "result" in asked] == [{"decision": "accept"}]


async def test_a_request_of_it_without_a_user_is_refused(tmp_path: Path, program: Path) -> None:
    """At once, and the result names that; nobody waits."""
    install(program, lines(command("started"), ASKING))
    async with at_work(tmp_path, [[one()], [text("So.")]], attended=False) as here:
        await here.run()
        assert "something it needed was refused" in result_of(here).content
        (notice,) = of_agent(here, "Other", Notice)
        assert notice.text.startswith("refused: ")
    assert [asked["result"] for asked in asked_of(program) if "result" in asked] == [{"decision": "decline"}]


async def test_a_request_is_refused_when_the_last_user_leaves(tmp_path: Path, program: Path) -> None:
    install(program, lines(command("started"), ASKING))
    async with at_work(tmp_path, [[one()], [text("So.")]], attended=False) as here:
        watching = here.session.subscribe(attends=True)
        await here.agent.prompt("go")
        await here.first(Request)
        watching.close()
        await here.ended()
        assert "something it needed was refused" in result_of(here).content


async def test_a_message_is_its_next_prompt_and_its_words_are_the_answer(tmp_path: Path, program: Path) -> None:
    """Woken by it: the sender waits, and reads what it wrote. The message is read once."""
    install(program, lines(said("One."), DONE), lines(said("It is blue.", "n"), DONE))
    asks = call("irc", op="send", to="Other", message="Which colour?", **{"await": True, "timeoutMs": 60_000})
    async with at_work(tmp_path, [[one()], [asks], [text("So.")]]) as here:
        await here.run()
        answered = result_of(here, 1).content
        assert "Other: woken" in answered
        assert "Other (reply to m1): It is blue." in answered
        (told,) = [event for event in of_agent(here, "Other", User) if event.source == "irc"]
        assert told.text.startswith("[message m1 from Main]\nWhich colour?")
        assert states(here, "Other") == ["running", "idle"] * 2
        directory = here.running.worker.team.directory
        assert not len(directory.get("Other").mailbox) + len(directory.root_mail)
    assert len(prompts(program)) == 2


async def test_a_message_during_its_task_waits_for_the_end_and_is_not_its_result(tmp_path: Path, program: Path) -> None:
    """The result of the task is what it wrote about the task."""
    install(program, lines(said("My result."), command("started"), ASKING), lines(said("It is blue.", "n"), DONE))
    async with at_work(tmp_path, [[one()], [text("So.")], [text("Heard.")]]) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        directory = here.running.worker.team.directory
        assert directory.send(None, "Other", "Which colour?").outcome == "delivered"
        assert len(directory.get("Other").mailbox) == 1
        await here.session.submit(AnswerRequest(request.id, "once"))
        await here.ended()
        assert "My result." in result_of(here).content
        assert "It is blue." not in result_of(here).content
        await here.until(lambda: any(e.source == "irc" and "It is blue." in e.text for e in of_agent(here, "", User)))
        assert not len(directory.get("Other").mailbox)
    assert len(prompts(program)) == 2


async def test_the_user_steers_it(tmp_path: Path, program: Path) -> None:
    """A program that takes words during its work has them at once, and they are shown under its path."""
    install(program, lines(command("started"), ASKING))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert (await here.session.submit(Prompt("Not that one.", agent="Other", how="steer"))).ok
        await here.session.submit(AnswerRequest(request.id, "no"))
        await here.ended()
        told = of_agent(here, "Other", User)
        assert [(event.text, event.how) for event in told] == [("Do your part.", "prompt"), ("Not that one.", "steer")]
        assert [event.text for event in of_agent(here, "", User)] == ["go"]
    (steer,) = [asked["params"] for asked in asked_of(program) if asked.get("method") == "turn/steer"]
    assert "Not that one." in str(steer)


async def test_what_the_user_adds_for_later_is_the_next_prompt_and_its_result(tmp_path: Path, program: Path) -> None:
    """Shown as waiting meanwhile."""
    install(program, lines(said("One."), command("started"), ASKING), lines(said("Two.", "n"), DONE))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert (await here.session.submit(Prompt("And that.", agent="Other", how="follow_up"))).ok
        await here.session.submit(AnswerRequest(request.id, "once"))
        await here.ended()
        assert "Two." in result_of(here).content
        queues = [event.value for event in of_agent(here, "Other", State) if event.key == "queue"]
        assert [len(value) for value in queues] == [1, 0]


@pytest.mark.parametrize("how", ["its call", "itself", "everything"])
async def test_stopping_ends_its_processes_and_aborts_it(tmp_path: Path, program: Path, how: str) -> None:
    """Whatever it started is gone with it, also while it is still being started."""
    file = program / "codex"
    file.write_text(_SILENT)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        await until(lambda: (program / "pid").exists() and (program / "pid").read_text().endswith("\n"), "its process")
        (task,) = [event for event in here.of(ToolUse) if not event.agent]
        commands = {"its call": CancelCall(task.id), "itself": Abort(agent="Other"), "everything": Abort()}
        assert (await here.session.submit(commands[how])).ok
        await here.ended()
        # Stopped by the user it takes more prompts, and nothing of the program is left until then.
        last = ["idle", "parked"] if how == "itself" else ["aborted"]
        await here.until(lambda: states(here, "Other") == ["running", *last])
        assert [event.stop_reason for event in of_agent(here, "Other", RunEnded)] == ["cancelled"]
        assert [event.path for event in here.of(AgentEnded)] == ([] if how == "itself" else ["Other"])
        for name in ("pid", "child"):
            assert not alive(int((program / name).read_text()))
        if how == "itself":
            assert "was stopped (cancelled)" in result_of(here).content


async def test_one_that_works_is_stopped(tmp_path: Path, program: Path) -> None:
    """Its open request and call have an end, and its program is gone."""
    install(program, lines(said("Half"), command("started"), ASKING))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert (await here.session.submit(Abort(agent="Other"))).ok
        outcome = await here.ended()
        assert outcome.text == "So."
        assert [event.id for event in here.of(RequestResolved)] == [request.id]
        assert len(of_agent(here, "Other", ToolUse)) == len(of_agent(here, "Other", ToolResult)) == 1
        assert "was stopped (cancelled)" in result_of(here).content
        assert "Half" in result_of(here).content
        assert (await here.session.submit(Prompt("More.", agent="Other"))).ok  # it takes more prompts


async def test_one_that_ignores_being_stopped_is_ended(tmp_path: Path, program: Path) -> None:
    """It has a moment to end its work by itself, and no more."""
    install(program, lines(said("Half"), command("started"), ASKING))
    (program / "deaf").touch()
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        await here.first(Request)
        (process,) = [each for each in psutil.Process().children(recursive=True) if str(program) in str(each.cmdline())]
        assert (await here.session.submit(Abort(agent="Other"))).ok
        await here.ended()
        assert not alive(process.pid)
        assert "was stopped (cancelled)" in result_of(here).content


@pytest.mark.parametrize("end", ["abort", "close"])
async def test_one_that_is_stopped_just_before_it_begins_never_begins(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """It is there already, and has no run yet that could be stopped."""
    install(program, lines(command("started"), ASKING))
    save, loop, saved = AgentShelf.save, asyncio.get_running_loop(), []

    def stopped_meanwhile(shelf: AgentShelf, record: Any) -> None:
        save(shelf, record)
        saved.append(record)
        if len(saved) == 2:  # the first time it is not shown yet
            asyncio.run_coroutine_threadsafe(stop(), loop)
            time.sleep(0.1)

    async def stop() -> None:
        directory = here.running.worker.team.directory
        if end == "abort":
            directory.abort(directory.get("Other"), "cancelled")
        else:
            await directory.close()

    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        monkeypatch.setattr(AgentShelf, "save", stopped_meanwhile)
        await here.run()
        assert "was stopped (cancelled)" in result_of(here).content
        assert not of_agent(here, "Other", RunStarted)
        assert states(here, "Other")[-1] == ("aborted" if end == "abort" else "parked")


async def test_a_session_that_ends_ends_it(tmp_path: Path, program: Path) -> None:
    """While it works, and while it is being started."""
    file = program / "codex"
    file.write_text(_SILENT)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    async with asyncio.timeout(60):
        async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
            await here.agent.prompt("go")
            await until(lambda: (program / "pid").exists() and (program / "pid").read_text().endswith("\n"), "it")
    for name in ("pid", "child"):
        assert not alive(int((program / name).read_text()))


async def test_one_that_cannot_be_started_fails_its_task_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason and what to do are in the result; the others of the same turn do their work."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'empty'}")
    ours = {
        "tool": "task",
        "args": {"agent": "task", "id": "Ours", "assignment": "Do it."},
        "agents": {"Ours": [[call("yield", result="Ours is done.")]]},
    }
    async with at_work(tmp_path, [[one(), ours], [text("So.")]]) as here:
        outcome = await here.run()
        assert outcome.text == "So."
        failed, went_well = sorted(
            [event for event in here.of(ToolResult) if not event.agent], key=lambda event: not event.is_error
        )
        assert failed.is_error
        assert "Error: Codex is not installed: no `codex` on the PATH" in failed.content
        assert "npm install -g @openai/codex" in failed.content
        assert "Ours is done." in went_well.content
        (error,) = of_agent(here, "Other", Error)
        assert error.text.startswith("Codex is not installed")
        assert not of_agent(here, "", Error)
        assert of_agent(here, "Other", RunEnded)[-1].is_error


async def test_whatever_goes_wrong_with_one_the_others_do_their_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what nobody thought of: here its folder cannot be made."""
    create = AgentShelf.create

    def full(shelf: AgentShelf, id: str) -> Path:
        if id == "Bad":
            raise OSError("no space left")
        return create(shelf, id)

    monkeypatch.setattr(AgentShelf, "create", full)
    batch = started({"Bad": [], "Good": [[call("bash", command="sleep 0.3")], handed_back("It is done.")]})
    async with at_work(tmp_path, [[batch], [text("So.")]]) as here:
        assert (await here.run()).text == "So."
        result = result_of(here)
        assert "Agent `Bad` (task) failed" in result.content
        assert "no space left" in result.content
        assert "It is done." in result.content
        assert here.running.worker.team.directory.get("Bad").state == "aborted"


async def test_a_crash_fails_its_task(tmp_path: Path, program: Path) -> None:
    """Nothing stays open, and it takes another prompt in a new process."""
    install(program, lines(command("started")) + b"CRASH\n")
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.run()
        assert result_of(here).is_error
        assert len(of_agent(here, "Other", ToolUse)) == len(of_agent(here, "Other", ToolResult)) == 1
        assert len(of_agent(here, "Other", RunEnded)) == 1
        install(program, lines(said("Back."), DONE))
        assert (await here.session.submit(Prompt("Again.", agent="Other"))).ok
        await here.until(lambda: words(here, "Other") == "Back." and states(here, "Other")[-1] == "idle")


async def test_its_own_agents_are_below_its_path(tmp_path: Path, program: Path) -> None:
    """They are its own: not addressed by us, and what they write is not its result."""
    waits = {"type": "collabAgentToolCall", "id": "w", "tool": "wait"}
    ended = {"T2": {"status": "completed", "message": "Found it."}}
    install(
        program,
        lines(
            item("started", **SPAWN),
            item("completed", **SPAWNED),
            of_thread("T2", said("Found it.", "f")),
            item("started", **waits),
            item("completed", **{**waits, "agentsStates": ended}),
            said("Mine."),
            DONE,
        ),
    )
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.run()
        own, below = here.of(AgentStarted)
        assert (own.path, below.path, below.agent) == ("Other", "Other/agent-1", "Other")
        assert words(here, "Other/agent-1") == "Found it."
        assert words(here, "Other") == "Mine."
        assert [event.path for event in here.of(AgentEnded)] == ["Other/agent-1"]
        assert "Found it." not in result_of(here).content
        assert not (await here.session.submit(Prompt("You.", agent="Other/agent-1"))).ok
        assert {event.agent for event in here.seen} == {"", "Other", "Other/agent-1"}


LEVELS = [
    ("plan", "full", "plan"),
    ("plan", "", "plan"),
    ("edit", "full", "edit"),
    ("auto", "full", "auto"),
    ("full", "full", "full"),
    ("full", "", "auto"),
    ("full", "plan", "plan"),
]


@pytest.mark.parametrize(("parent", "named", "has"), LEVELS)
async def test_its_level_is_never_wider_than_its_parents(
    tmp_path: Path, program: Path, parent: str, named: str, has: str
) -> None:
    """`full` needs both: the definition names it, and the agent it works for has it."""
    fake_claude.install(program, lines({"type": "result", "subtype": "success"}))
    fields = {"approval": named} if named else {}
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude", fields, approval=parent) as here:
        await here.run()
        assert not result_of(here).is_error
    (arguments,) = fake_claude.starts(program / "claude")
    flags = {"plan": "--permission-mode plan", "edit": "--permission-mode acceptEdits"}
    flags["full"] = "--dangerously-skip-permissions"
    assert [level for level, flag in flags.items() if flag in arguments] == ([has] if has != "auto" else [])


async def test_a_lower_level_of_the_session_applies_to_its_next_prompt(tmp_path: Path, program: Path) -> None:
    """What was opened under the higher one is ended first."""
    fake_claude.install(program, lines({"type": "result", "subtype": "success"}))
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude", {"approval": "full"}, approval="full") as here:
        await here.run()
        assert (await here.session.submit(SetApproval(level="plan"))).ok
        assert (await here.session.submit(Prompt("Again.", agent="Other"))).ok
        await here.until(lambda: states(here, "Other") == ["running", "idle"] * 2)
        assert here.session.snapshot().state["approval"]["level"] == "plan"
    first, second = fake_claude.starts(program / "claude")
    assert "--dangerously-skip-permissions" in first
    assert "--permission-mode plan" in second


async def test_one_that_was_parked_continues_its_own_conversation(tmp_path: Path, program: Path) -> None:
    """Also in a session that is resumed: its id of it is stored as soon as it is known."""
    install(program, lines(said("One."), command("started"), ASKING))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        record = here.session.folder / "agents/Other/record.json"
        await until(lambda: msgspec.json.decode(record.read_bytes())["provider_session"] == "T1")
        await here.session.submit(AnswerRequest(request.id, "once"))
        await here.ended()
        directory = here.running.worker.team.directory
        await directory.park(directory.get("Other"))
        install(program, lines(said("Two.", "n"), DONE))
        assert directory.send(None, "Other", "Still there?").outcome == "revived"
        await here.until(lambda: "Two." in words(here, "Other") and states(here, "Other")[-1] == "idle")
        session = here.session.id
    install(program, lines(said("Three.", "o"), DONE))
    async with at_work(tmp_path, [[text("Unused.")]], resume=session) as here:
        assert (await here.session.submit(Prompt("And now?", agent="Other"))).ok
        await here.until(lambda: words(here, "Other") == "Three." and states(here, "Other")[-1] == "idle")
        assert not here.of(AgentStarted)
    resumed = [asked["params"]["threadId"] for asked in asked_of(program) if asked.get("method") == "thread/resume"]
    assert resumed == ["T1", "T1"]
    assert [prompt.partition("\n")[0] for prompt in prompts(program)[1:]] == ["[message m1 from Main]", "And now?"]


async def test_its_state_names_program_and_model(tmp_path: Path, program: Path) -> None:
    install(program, lines(said("One."), DONE))
    async with at_work(tmp_path, [[one()], [text("So.")]]) as here:
        await here.run()
        facts = [state_fact(event) for event in of_agent(here, "Other", State) if event.key == "agent"]
        last = facts[-1]
        assert isinstance(last, AgentState)
        assert (last.state, last.provider, last.model, last.definition) == ("idle", "codex", "m-1", "other")


INIT = {"type": "system", "subtype": "init", "session_id": "S1"}
RESULT = {"type": "result", "subtype": "success"}
IDLE = {"type": "system", "subtype": "session_state_changed", "state": "idle"}
BUILT = {"type": "system", "subtype": "task_notification", "summary": "The build has ended", "tool_use_id": "t1"}
STREAMED = {"type": "stream_event", "event": {"type": "message_start"}}


def claude_says(words: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": words}]}}


async def test_what_it_does_by_itself_is_shown(tmp_path: Path, program: Path) -> None:
    """After its task, without a prompt: a run of its own under its path, which the agent works on meanwhile."""
    own = lines(INIT, claude_says("One."), RESULT, IDLE) + b"LATER\n"
    own += lines(BUILT, INIT, STREAMED, claude_says("Two."), RESULT)
    fake_claude.install(program, own, lines(INIT, claude_says("Three."), RESULT))
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude") as here:
        await here.run()
        assert "One." in result_of(here).content
        (program / "now").touch()
        await here.until(lambda: states(here, "Other") == ["running", "idle"] * 2)
        assert words(here, "Other") == "One.Two."
        assert (await here.session.submit(Prompt("Next.", agent="Other"))).ok
        await here.until(lambda: states(here, "Other") == ["running", "idle"] * 3)
        assert words(here, "Other") == "One.Two.Three."
        assert [event.text for event in of_agent(here, "Other", User)] == ["Do your part.", "Next."]
        assert len(of_agent(here, "Other", RunStarted)) == len(of_agent(here, "Other", RunEnded)) == 3
    assert len(fake_claude.starts(program / "claude")) == 1


async def test_nothing_continues_under_a_level_that_was_taken_back(tmp_path: Path, program: Path) -> None:
    """A program that rests, and was opened to do everything, is ended when the session's level is lowered."""
    own = lines(INIT, claude_says("One."), RESULT, IDLE) + b"LATER\n"
    own += lines(BUILT, INIT, STREAMED, claude_says("Two."), RESULT)
    fake_claude.install(program, own)
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude", {"approval": "full"}, approval="full") as here:
        await here.run()
        (process,) = [each for each in psutil.Process().children(recursive=True) if str(program) in str(each.cmdline())]
        assert (await here.session.submit(SetApproval(level="edit"))).ok
        await until(lambda: not alive(process.pid), "its end")
        assert words(here, "Other") == "One."
        assert states(here, "Other") == ["running", "idle"]


@pytest.mark.parametrize("pieces", [1, 7, 300])
def test_of_long_last_words_both_ends_are_held(pieces: int) -> None:
    """However they come; what is between is left out, and its length named."""
    whole = "".join(f"{number:09} " for number in range(100_000))  # a million characters
    words, size = _LastWords(), len(whole) // pieces + 1
    for start in range(0, len(whole), size):
        words.see(Text(whole[start : start + size], 1))
        assert words._size <= 4 * _END_OF_WORDS
    head, mark, tail = words.text.split("\n")
    assert (head, tail) == (whole[:_END_OF_WORDS], whole[-_END_OF_WORDS:])
    assert mark == "[… 500,000 characters are left out …]"
    assert words.text.split("\n")[1] == mark


def test_last_words_are_those_after_the_last_call_in_lines() -> None:
    """Where nothing follows it, those before."""
    words = _LastWords()
    for event in (Text("a", 1), Text("b", 1), Text("c", 2), Text("d\n", 2), Text("e", 3), ToolUse("1", "Bash")):
        words.see(event)
    assert words.text == "ab\ncd\ne"
    words.see(Text("end", 4))
    assert words.text == "end"
