"""OpenCode through its server, the real one: output while a command runs, questions answered, stopped, gone on with."""

import signal
from pathlib import Path

import pytest
from consoles import asked, desk, ends, running, said
from lab import Script

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Notice,
    Reasoning,
    Request,
    RequestResolved,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
)
from sightline.host import Abort, AnswerRequest

pytestmark = pytest.mark.live

GATED = "echo first; until test -e go; do sleep 0.05; done; echo second"


async def test_output_arrives_while_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is told before the command that printed it has ended, and told once."""
    script: Script = [
        [{"reasoning": "Hm."}, {"tool": "Bash", "args": {"command": GATED}}],
        [{"text": "Done, as you asked me to.", "chunk": 5}],
    ]
    async with desk(tmp_path, "opencode", script, monkeypatch) as it:
        await it.say("Go.")
        output = await it.until_event(ToolOutput, content="first\n")
        assert not it.of(ToolResult)
        (it.project / "go").touch()
        result = await it.until_event(ToolResult, id=output.id)
        assert (result.content, result.exit_code) == ("first\nsecond\n", 0)
        await it.done()
        assert said(it.events) == "Done, as you asked me to."
        assert len(it.of(Text)) > 1
        assert [event.text for event in it.of(Reasoning)] == ["Hm."]
        assert it.session.read_artifact(output.id).read(0, 100) == b"first\nsecond\n"
        assert not it.of(Notice)
        assert not it.of(Error)
        assert asked(it.events) == ["Go."]


async def test_a_question_is_answered_and_the_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenCode asks before a command; yes lets it happen, and a request is answered once."""
    script: Script = [
        [{"tool": "Bash", "args": {"command": "touch yes.txt"}}],
        [{"tool": "Write", "args": {"file_path": "new.txt", "content": "hello\n"}}],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "opencode", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        for number in range(2):
            await it.until(lambda n=number: len(it.of(Request)) > n, "a question")
            request = it.of(Request)[number]
            assert request.choices == ["once", "this session", "no"]
            assert (await it.session.submit(AnswerRequest(request.id, {"choice": "once"}))).ok
            await it.until_event(RequestResolved, id=request.id)
            assert not (await it.session.submit(AnswerRequest(request.id, "once"))).ok
        await it.done()
        assert (it.project / "yes.txt").exists()
        assert (it.project / "new.txt").read_text() == "hello\n"
        about = [request.details for request in it.of(Request)]
        assert about[0]["what"] == "touch yes.txt"
        assert about[0]["access"] == "exec"
        assert about[0]["call"] in {use.id for use in it.of(ToolUse)}
        assert about[1]["access"] == "write"
        assert said(it.events) == "Done."


async def test_no_is_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is refused is not run, and its call has an end."""
    script: Script = [[{"tool": "Bash", "args": {"command": "touch no.txt"}}], [{"text": "Well."}]]
    async with desk(tmp_path, "opencode", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        request = await it.until_event(Request, what="approval")
        answer = {"choice": "no", "reason": "Not this."}
        assert (await it.session.submit(AnswerRequest(request.id, answer))).ok
        await it.done()
        assert not (it.project / "no.txt").exists()
        (result,) = it.of(ToolResult)
        assert result.is_error
        assert "Not this." in result.content


async def test_it_is_stopped_and_goes_on_in_the_same_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping ends the command and the turn, not the server; the next prompt is in the same conversation."""
    script: Script = [
        [{"text": "Before."}],
        [{"tool": "Bash", "args": {"command": "test -e began || { touch began; sleep 300; }"}}],
        [{"text": "After."}],
    ]
    async with desk(tmp_path, "opencode", script, monkeypatch) as it:
        await it.turn("One.")
        server = {process.pid for process in running("serve --hostname")}
        await it.say("Two.")
        await it.until((it.project / "began").exists, "the command")
        assert (await it.session.submit(Abort())).ok
        await it.done()
        assert ends(it.events)[-1].stop_reason == "cancelled"
        assert {use.id for use in it.of(ToolUse)} == {result.id for result in it.of(ToolResult)}
        await it.until(lambda: not running("sleep 300"), "the end of the command")
        assert not it.of(Error)
        assert said(await it.turn("Three.")) == "After."
        assert server <= {process.pid for process in running("serve --hostname")}
        assert "One." in str(it.server.conversations[-1].body)
    assert not running("serve --hostname")


async def test_a_server_that_dies_ends_the_run_and_the_next_prompt_starts_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash is one error and the end of the run; the conversation goes on with a new server."""
    script: Script = [
        [{"text": "Before."}],
        [{"tool": "Bash", "args": {"command": "test -e began || { touch began; sleep 300; }"}}],
        [{"text": "After."}],
    ]
    async with desk(tmp_path, "opencode", script, monkeypatch) as it:
        await it.turn("One.")
        await it.say("Two.")
        await it.until((it.project / "began").exists, "the command")
        for process in running("serve --hostname"):
            process.send_signal(signal.SIGKILL)
        await it.done()
        (error,) = it.of(Error)
        assert "opencode serve" in error.text
        assert error.hint
        await it.until(lambda: not running("sleep 300"), "the end of what it had started")
        assert ends(it.events)[-1].is_error
        await it.turn("Three.")
        assert not ends(it.events)[-1].is_error
        assert "One." in str(it.server.conversations[-1].body)


async def test_what_a_subagent_does_is_shown_as_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`opencode run` shows one call; its server tells the subagent's words and calls as they happen."""
    inner = [[{"tool": "Bash", "args": {"command": "echo deep"}}], [{"text": "Found it."}]]
    call = {"tool": "Task", "args": {"description": "Look", "prompt": "Look deep."}, "agent": inner}
    async with desk(tmp_path, "opencode", [[call], [{"text": "Done."}]], monkeypatch) as it:
        await it.turn("Go.")
        (started,) = it.of(AgentStarted)
        path = started.path
        assert [use.arg for use in it.of(ToolUse) if use.agent == path] == ["echo deep"]
        assert "".join(event.text for event in it.of(Text) if event.agent == path) == "Found it."
        assert [ended.path for ended in it.of(AgentEnded)] == [path]
        assert started.call == next(use.id for use in it.of(ToolUse) if not use.agent)
        assert said(it.events) == "Done."
