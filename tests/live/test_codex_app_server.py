"""Codex through its app-server, the real one: output while a command runs, questions answered, stopped, steered."""

import os
import signal
from pathlib import Path

import psutil
import pytest
from consoles import asked, commands, desk, ends, running, said
from lab import Script

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Notice,
    Request,
    RequestResolved,
    State,
    ToolOutput,
    ToolResult,
    ToolUse,
)
from sightline.host import Abort, AnswerRequest, CancelCall, SetModel

pytestmark = pytest.mark.live

# Waits before it prints: Codex leaves out what a command prints before Codex listens.
GATED = "sleep 0.5; echo first; until test -e go; do sleep 0.05; done; echo second"


def asks_first() -> None:
    """Have Codex ask about what its sandbox forbids."""
    config = Path(os.environ["HOME"], ".codex/config.toml")
    text = config.read_text().replace('"never"', '"on-request"').replace('"danger-full-access"', '"read-only"')
    config.write_text(text)


def unboxed(command: str) -> dict[str, object]:
    """A call that asks to be outside the sandbox."""
    more = {"sandbox_permissions": "require_escalated", "justification": "It has to write."}
    return {"tool": "Bash", "args": {"command": command, **more}}


async def test_output_arrives_while_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is told before the command that printed it has ended; the result has all of it."""
    script: Script = [[{"tool": "Bash", "args": {"command": GATED}}], [{"text": "Done."}]]
    async with desk(tmp_path, "codex", script, monkeypatch) as it:
        await it.say("Go.")
        output = await it.until_event(ToolOutput, content="first\n")
        assert not it.of(ToolResult)
        (it.project / "go").touch()
        result = await it.until_event(ToolResult, id=output.id)
        assert (result.content, result.exit_code) == ("first\nsecond\n", 0)
        await it.done()
        assert said(it.events) == "Done."
        assert it.session.read_artifact(output.id).read(0, 100) == b"first\nsecond\n"
        assert not it.of(Notice)


async def test_a_question_is_answered_and_the_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codex asks before a command and a change; yes lets it happen, no does not, and the turn goes on."""
    script: Script = [
        [unboxed("touch yes.txt")],
        [unboxed("touch no.txt")],
        [{"tool": "Write", "args": {"file_path": "new.txt", "content": "hello\n"}}],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "codex", script, monkeypatch) as it:
        asks_first()
        await it.say("Go.")
        for number, choice in enumerate(["once", "no", "once"]):
            await it.until(lambda n=number: len(it.of(Request)) > n, "a question")
            request = it.of(Request)[number]
            assert request.what == "approval"
            assert choice in request.choices
            reply = await it.session.submit(AnswerRequest(request.id, {"choice": choice, "reason": ""}))
            assert reply.ok
            await it.until_event(RequestResolved, id=request.id)
            assert not (await it.session.submit(AnswerRequest(request.id, "once"))).ok
        await it.done()
        assert (it.project / "yes.txt").exists()
        assert not (it.project / "no.txt").exists()
        assert (it.project / "new.txt").read_text() == "hello\n"
        about = [request.details for request in it.of(Request)]
        assert about[0]["what"] == "touch yes.txt"
        assert about[0]["cwd"] == str(it.project)
        assert about[0]["call"] in {use.id for use in it.of(ToolUse)}
        assert "+hello" in about[2]["diff"]
        assert about[2]["path"].endswith("new.txt")
        assert said(it.events) == "Done."


async def test_it_is_stopped_and_goes_on_in_the_same_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping ends the command and the turn, not the server; the next prompt is in the same conversation."""
    script: Script = [
        [{"text": "Before."}],
        [{"tool": "Bash", "args": {"command": "test -e began || { touch began; sleep 300; }"}}],
        [{"text": "After."}],
    ]
    async with desk(tmp_path, "codex", script, monkeypatch) as it:
        await it.turn("One.")
        server = running("app-server")[-1].pid
        await it.say("Two.")
        await it.until((it.project / "began").exists, "the command")
        assert (await it.session.submit(Abort())).ok
        await it.done()
        assert ends(it.events)[-1].stop_reason == "cancelled"
        assert {use.id for use in it.of(ToolUse)} == {result.id for result in it.of(ToolResult)}
        await it.until(lambda: not running("sleep 300"), "the end of the command")
        await it.turn("Three.")
        assert server in {process.pid for process in running("app-server")}
        assert "One." in str(it.server.conversations[-1].body)
    assert not psutil.pid_exists(server)


async def test_words_are_taken_into_the_turn_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said while it works reaches the model with its next request, in the same run."""
    script: Script = [[{"tool": "Bash", "args": {"command": GATED}}], [{"text": "Done."}]]
    async with desk(tmp_path, "codex", script, monkeypatch) as it:
        await it.say("Go.")
        await it.until_event(ToolOutput, content="first\n")
        assert (await it.say("By the way.", how="steer")).ok
        (it.project / "go").touch()
        await it.done()
        assert asked(it.events) == ["Go.", "By the way."]
        assert len(ends(it.events)) == 1
        assert "By the way." in str(it.server.conversations[1].body)


async def test_a_server_that_dies_ends_the_run_and_the_next_prompt_starts_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash is one error and the end of the run; the conversation goes on with a new server."""
    script: Script = [
        [{"text": "Before."}],
        [{"tool": "Bash", "args": {"command": "test -e began || { touch began; sleep 300; }"}}],
        [{"text": "After."}],
    ]
    async with desk(tmp_path, "codex", script, monkeypatch) as it:
        await it.turn("One.")
        await it.say("Two.")
        await it.until((it.project / "began").exists, "the command")
        for process in running("app-server"):
            process.send_signal(signal.SIGKILL)
        await it.done()
        (error,) = it.of(Error)
        assert "app-server ended" in error.text
        assert error.hint
        await it.until(lambda: not running("sleep 300"), "the end of what it had started")
        assert ends(it.events)[-1].is_error
        await it.turn("Three.")
        assert not ends(it.events)[-1].is_error
        assert "One." in str(it.server.conversations[-1].body)


async def test_tokens_and_model_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How full the model's memory is, and which model it is, as with our own agent."""
    async with desk(tmp_path, "codex", [[{"text": "Hi."}]], monkeypatch) as it:
        await it.turn("Hello.")
        states = {state.key: state.value for state in it.of(State)}
        assert states["context"]["used"] > 0
        assert states["context"]["of"] > 0
        assert states["model"] == "gpt-5.5"
        assert commands(it.events) == []


async def test_a_subagent_is_stopped_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the call that started it, as the list of agents does."""
    inner = [[{"tool": "Bash", "args": {"command": "sleep 600"}}], [{"text": "Never."}]]
    call = {"tool": "Task", "args": {"description": "Look", "prompt": "Look deep."}, "agent": inner}
    async with desk(tmp_path, "codex", [[call], [{"text": "Done."}]], monkeypatch) as it:
        await it.session.submit(SetModel(model="gpt-5-codex"))  # newer models delegate without showing it
        await it.say("Go.")
        started = await it.until_event(AgentStarted, task="Look deep.")
        await it.until_event(ToolUse, agent=started.path)
        assert (await it.session.submit(CancelCall(started.call))).ok
        await it.until_event(AgentEnded, path=started.path)
        await it.done()
        assert said(it.events) == "Done."
