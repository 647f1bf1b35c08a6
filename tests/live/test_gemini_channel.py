"""Gemini through its channel, the real CLI: asked before it acts, stopped and gone on with, resumed, nothing twice."""

import os
import signal
from pathlib import Path

import pytest
from consoles import asked, commands, desk, ends, running, said
from lab import Script

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Notice,
    Reasoning,
    Request,
    RequestResolved,
    RunStarted,
    State,
    ToolResult,
    ToolUse,
)
from sightline.host import Abort, AnswerRequest, CancelCall, SetModel

pytestmark = pytest.mark.live


def bash(command: str, **more: str) -> dict[str, object]:
    return {"tool": "Bash", "args": {"command": command, **more}}


def processes() -> set[int]:
    return {process.pid for process in running("--acp")}


async def test_a_question_is_answered_and_the_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gemini asks before a command and a change; yes lets it happen, no does not, and the turn goes on."""
    script: Script = [
        [bash("touch yes.txt; echo made", description="Make a file")],
        [bash("touch no.txt")],
        [{"tool": "Write", "args": {"file_path": "new.txt", "content": "hello\n"}}],
        [{"tool": "Edit", "args": {"file_path": "README.md", "old_string": "# Demo project", "new_string": "# Demo"}}],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        for number, choice in enumerate(["once", "no", "once", "once"]):
            await it.until(lambda n=number: len(it.of(Request)) > n, "a question")
            request = it.of(Request)[number]
            assert request.choices == ["once", "this session", "no"]
            assert not (it.project / "new.txt").exists() or number == 3
            assert (await it.session.submit(AnswerRequest(request.id, {"choice": choice}))).ok
            await it.until_event(RequestResolved, id=request.id)
            assert not (await it.session.submit(AnswerRequest(request.id, "once"))).ok
        await it.done()
        assert (it.project / "yes.txt").exists()
        assert not (it.project / "no.txt").exists()
        assert (it.project / "new.txt").read_text() == "hello\n"
        about = [request.details for request in it.of(Request)]
        assert [one["what"] for one in about] == ["touch yes.txt; echo made", "touch no.txt", "new.txt", "README.md"]
        assert [one["access"] for one in about] == ["exec", "exec", "write", "write"]
        assert about[0]["cwd"] == str(it.project)
        assert about[0]["why"].startswith("Make a file.")
        assert "+hello" in about[2]["diff"]
        assert "-# Demo project\n+# Demo\n" in about[3]["diff"]
        uses = it.of(ToolUse)
        assert [use.name for use in uses] == ["Bash", "Bash", "Write", "Edit"]
        assert [one["call"] for one in about] == [use.id for use in uses]
        results = {result.id: result for result in it.of(ToolResult)}
        assert [results[use.id].is_error for use in uses] == [False, True, False, False]
        assert results[uses[0].id].content == "made"
        assert results[uses[3].id].details["diff"] == about[3]["diff"]
        assert said(it.events) == "Done."
        assert not it.of(Notice)


async def test_a_no_with_a_reason_is_told_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model hears the reason before it goes on, in the same run."""
    script: Script = [[bash("touch no.txt")], [{"text": "Another way."}]]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        request = await it.until_event(Request)
        await it.session.submit(AnswerRequest(request.id, {"choice": "no", "reason": "Use the other folder."}))
        await it.done()
        assert said(it.events) == "Another way."
        assert len(ends(it.events)) == 1
        assert not ends(it.events)[0].stop_reason
        assert "Use the other folder." in str(it.server.conversations[-1].body)
        assert not (it.project / "no.txt").exists()


async def test_what_is_allowed_for_the_session_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second change and the second command of the same program need no answer; the change of mode is no words."""
    script: Script = [
        [{"tool": "Write", "args": {"file_path": "a.txt", "content": "a\n"}}],
        [{"tool": "Write", "args": {"file_path": "b.txt", "content": "b\n"}}],
        [bash("touch c.txt")],
        [bash("touch d.txt")],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        for number in range(2):
            await it.until(lambda n=number: len(it.of(Request)) > n, "a question")
            await it.session.submit(AnswerRequest(it.of(Request)[number].id, {"choice": "this session"}))
        await it.done()
        assert [request.details["what"] for request in it.of(Request)] == ["a.txt", "touch c.txt"]
        assert all((it.project / f"{name}.txt").exists() for name in "abcd")
        assert said(it.events) == "Done."
        assert [notice.text for notice in it.of(Notice)] == ["Gemini's approval mode is now autoEdit"]
        assert "+b" in it.of(ToolResult)[1].details["diff"]


async def test_it_is_stopped_and_goes_on_in_the_same_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping ends the command and the prompt, not the process; the next prompt knows what was said before."""
    script: Script = [[{"text": "I begin."}, bash("touch began; sleep 300")], [{"text": "Second answer."}]]
    async with desk(tmp_path, "gemini", script, monkeypatch) as it:
        await it.say("First.")
        await it.until((it.project / "began").exists, "the command")
        before = processes()
        await it.session.submit(Abort())
        await it.done()
        assert ends(it.events)[-1].stop_reason == "cancelled"
        assert not it.of(Error)
        await it.until(lambda: not running("sleep 300"), "the end of the command")
        second = await it.turn("Second.")
        assert said(second) == "Second answer."
        assert processes() == before
        assert before
        assert "First." in str(it.server.conversations[-1].body)


async def test_it_is_stopped_while_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is done, the question is closed, and the next prompt is worked on."""
    script: Script = [[bash("touch no.txt"), bash("touch neither.txt")], [{"text": "Second answer."}]]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False) as it:
        await it.say("First.")
        request = await it.until_event(Request)
        before = processes()
        await it.session.submit(Abort())
        await it.done()
        await it.until_event(RequestResolved, id=request.id)
        assert len(it.of(Request)) == 1
        assert ends(it.events)[-1].stop_reason == "cancelled"
        assert {result.id for result in it.of(ToolResult)} == {use.id for use in it.of(ToolUse)}
        assert said(await it.turn("Second.")) == "Second answer."
        assert processes() == before
        assert not list(it.project.glob("*.txt"))


async def test_a_session_is_gone_on_with_and_what_was_is_not_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new process loads the conversation; what it tells of it again is not shown."""
    words = " ".join(str(number) for number in range(700))
    before: Script = [
        [{"reasoning": "Hm."}, {"text": f"Step {number}: {words}."}, bash(f"echo {number}")] for number in range(30)
    ]
    # Where in the script it is is known by what the model said, of which a loaded conversation has more pieces.
    script: Script = [*before, [{"text": "First answer."}], *[[{"text": "Second answer."}]] * 60]
    async with desk(tmp_path, "gemini", script, monkeypatch) as it:
        assert "First answer." in said(await it.turn("First."))
        session = it.session.id
    async with desk(tmp_path, "gemini", script, monkeypatch, resume=session) as it:
        await it.turn("Second.")
        assert said(it.events) == "Second answer."
        assert commands(it.events) == []
        assert asked(it.events) == ["Second."]
        assert not it.of(Reasoning)
        assert not it.of(Notice)
        assert all(event.session for event in it.of(RunStarted))
        assert "First answer." in str(it.server.conversations[-1].body)


async def test_another_model_goes_on_with_the_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model the person chooses is asked from the next prompt on; nothing is told twice."""
    script: Script = [[{"text": "One."}], [{"text": "Two."}]]
    async with desk(tmp_path, "gemini", script, monkeypatch) as it:
        await it.turn("First.")
        await it.session.submit(SetModel("gemini-2.5-flash"))
        assert said(await it.turn("Second.")) == "Two."
        models = [state.value for state in it.of(State) if state.key == "model" and state.value]
        assert models == ["gemini-2.5-pro", "gemini-2.5-flash"]
        last = it.server.conversations[-1]
        assert "First." in str(last.body)
        assert "gemini-2.5-flash" in str(last)


async def test_one_that_dies_ends_the_run_and_the_next_prompt_starts_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash is one error and the end of the run; the conversation goes on in a new process."""
    script: Script = [
        [{"text": "Before."}],
        [bash("test -e began || { touch began; sleep 300; }")],
        [{"text": "After."}],
    ]
    async with desk(tmp_path, "gemini", script, monkeypatch) as it:
        await it.turn("One.")
        await it.say("Two.")
        await it.until((it.project / "began").exists, "the command")
        for pid in processes():
            os.kill(pid, signal.SIGKILL)
        await it.done()
        (error,) = it.of(Error)
        assert "ended" in error.text
        assert error.hint
        await it.until(lambda: not running("sleep 300"), "the end of what it had started")
        assert ends(it.events)[-1].is_error
        third = await it.turn("Three.")
        assert not ends(it.events)[-1].is_error
        assert "Before." not in said(third)
        assert "One." in str(it.server.conversations[-1].body)


async def test_thoughts_calls_and_tokens_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls look as in its other stream, thoughts are told besides, and the tokens of all requests."""
    inner: Script = [[{"text": "Looked."}]]
    script: Script = [
        [{"reasoning": "Let me look."}, {"text": "I look."}, {"tool": "Read", "args": {"file_path": "README.md"}}],
        [{"tool": "Grep", "args": {"pattern": "hello"}}, {"tool": "Read", "args": {"file_path": "missing.md"}}],
        [bash("echo out; echo err >&2; exit 3")],
        [{"tool": "Task", "args": {"description": "Look", "prompt": "Look deep."}, "agent": inner}],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "gemini", script, monkeypatch) as it:
        await it.turn("Hello.")
        assert [event.text for event in it.of(Reasoning)] == ["Let me look."]
        calls = [(use.name, use.arg) for use in it.of(ToolUse)]
        assert [name for name, _ in calls[:3]] == ["Read", "Grep", "Read"]
        assert [calls[0][1], calls[2][1]] == ["README.md", "missing.md"]
        assert "hello" in calls[1][1]  # with ripgrep installed, Gemini says where it looks, too
        assert calls[3:] == [("Bash", "echo out; echo err >&2; exit 3"), ("Task", "")]
        results = it.of(ToolResult)
        assert [result.is_error for result in results] == [False, False, True, False, False]
        assert results[3].content == "out\nerr"
        assert [agent.name for agent in it.of(AgentStarted)] == ["generalist"]
        assert len(it.of(AgentEnded)) == 1
        (ended,) = ends(it.events)
        assert ended.usage.input_tokens > 0
        assert ended.usage.total_tokens == ended.usage.input_tokens + ended.usage.output_tokens
        assert {state.key: state.value for state in it.of(State)}["model"] == "gemini-2.5-pro"
        assert said(it.events) == "I look.Done."


async def test_that_one_agent_cannot_be_stopped_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its protocol has no request for it; the subagent continues."""
    inner: Script = [[bash("touch began; sleep 2")], [{"text": "Looked."}]]
    call = {"tool": "Task", "args": {"description": "Look", "prompt": "Look deep."}, "agent": inner}
    async with desk(tmp_path, "gemini", [[call], [{"text": "Done."}]], monkeypatch) as it:
        await it.say("Go.")
        started = await it.until_event(AgentStarted)
        reply = await it.session.submit(CancelCall(started.call))
        assert (reply.ok, reply.error) == (False, "Gemini CLI cannot stop one agent alone")
        assert "escape" in reply.hint
        await it.done()
        assert said(it.events) == "Done."


async def test_an_error_of_the_model_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server said, and what to do; the next prompt is worked on."""
    script: Script = [[{"error": "bad thing", "status": 400, "times": 1}, {"text": "Fine."}]]
    async with desk(tmp_path, "gemini", script, monkeypatch) as it:
        await it.turn("One.")
        (error,) = it.of(Error)
        assert error.text == "bad thing"
        assert error.hint
        assert ends(it.events)[-1].is_error
        assert said(await it.turn("Two.")) == "Fine."


async def test_at_the_level_edit_files_are_written_and_commands_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The level is Gemini's own approval mode."""
    script: Script = [
        [{"tool": "Write", "args": {"file_path": "a.txt", "content": "a\n"}}, bash("touch b.txt")],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False, approval="edit") as it:
        await it.say("Go.")
        request = await it.until_event(Request)
        assert request.details["what"] == "touch b.txt"
        assert (it.project / "a.txt").exists()
        await it.session.submit(AnswerRequest(request.id, {"choice": "once"}))
        await it.done()
        assert (it.project / "b.txt").exists()


async def test_at_the_level_plan_what_is_refused_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked and nothing changed; every call is there, with why it was not."""
    script: Script = [
        [{"tool": "Write", "args": {"file_path": "a.txt", "content": "a\n"}}, bash("touch b.txt")],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False, approval="plan") as it:
        await it.turn("Go.")
        assert not list(it.project.glob("*.txt"))
        assert not it.of(Request)
        assert [use.name for use in it.of(ToolUse)] == ["Write", "bash"]  # it has no tool for commands at this level
        assert all(result.is_error and result.content for result in it.of(ToolResult))
        assert said(it.events) == "Done."


async def test_where_nothing_is_asked_it_is_run_once_per_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the level `full` the stream with whole arguments is read; the conversation goes on from prompt to prompt."""
    plan = {"tool": "write_todos", "args": {"todos": [{"description": "a", "status": "in_progress"}]}}
    script: Script = [[plan, bash("touch made.txt")], [{"text": "One."}], [{"text": "Two."}]]
    async with desk(tmp_path, "gemini", script, monkeypatch, allow=False, approval="full") as it:
        await it.turn("First.")
        assert (it.project / "made.txt").exists()
        assert [use.args["command"] for use in it.of(ToolUse) if use.name == "Bash"] == ["touch made.txt"]
        plans = [state.value for state in it.of(State) if state.key == "todo"]
        assert plans == [[{"text": "a", "status": "in_progress"}]]
        assert not processes()
        assert said(await it.turn("Second.")) == "Two."
        assert "First." in str(it.server.conversations[-1].body)
        assert not it.of(Notice)
