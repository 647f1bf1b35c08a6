"""Claude Code through its stream of lines, the real one: asked, stopped, steered, one process for all prompts."""

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from consoles import Desk, asked, desk, ends, running, said
from lab import Script

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    Request,
    RequestResolved,
    RunStarted,
    Text,
    ToolResult,
    ToolUse,
)
from sightline.host import Abort, AnswerRequest, CancelCall, SetModel

pytestmark = pytest.mark.live

SERVING = "--permission-prompt-tool"
GATED = "touch began; until test -e go; do sleep 0.05; done"


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tool": "Bash", "args": {"command": command, **more}}


async def reply(it: Desk, number: int, answer: Any) -> Request:
    """Answer the request of that number."""
    await it.until(lambda: len(it.of(Request)) > number, "a question")
    request: Request = it.of(Request)[number]
    assert (await it.session.submit(AnswerRequest(request.id, answer))).ok
    await it.until_event(RequestResolved, id=request.id)
    return request


def told_once(events: list[Event]) -> None:
    """Every call has one beginning and one end, every run too."""
    uses, results = ([event.id for event in events if isinstance(event, kind)] for kind in (ToolUse, ToolResult))
    assert sorted(uses) == sorted(results)
    assert len(set(uses)) == len(uses)
    assert len([event for event in events if isinstance(event, RunStarted)]) == len(ends(events))


async def test_what_it_asks_is_answered_and_the_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command and changes: yes lets them happen, no does not, the reason is heard, and nobody is asked twice."""
    script: Script = [
        [bash("touch yes.txt", description="Make a file")],
        [bash("touch no.txt")],
        [{"tool": "Write", "args": {"file_path": "new.txt", "content": "hello\n"}}],
        [{"tool": "Read", "args": {"file_path": "data.csv"}}],
        [{"tool": "Edit", "args": {"file_path": "data.csv", "old_string": "apple,5", "new_string": "apple,6"}}],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "claude", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        command = await reply(it, 0, {"choice": "once"})
        refused = await reply(it, 1, {"choice": "no", "reason": "not that one"})
        created = await reply(it, 2, "once")
        changed = await reply(it, 3, "once")
        await it.done()
        assert (it.project / "yes.txt").exists()
        assert not (it.project / "no.txt").exists()
        assert (it.project / "new.txt").read_text() == "hello\n"
        assert "apple,6" in (it.project / "data.csv").read_text()
        calls = {use.id: use for use in it.of(ToolUse)}
        assert command.details["what"] == command.details["args"]["command"] == "touch yes.txt"
        assert command.details["cwd"] == str(it.project)
        assert calls[command.details["call"]].args["command"] == "touch yes.txt"
        assert "not that one" in next(r.content for r in it.of(ToolResult) if r.id == refused.details["call"])
        assert "--- /dev/null" in created.details["diff"]
        assert "+hello" in created.details["diff"]
        assert "-apple,5\n+apple,6\n" in changed.details["diff"]
        assert " pear,7" in changed.details["diff"]
        assert changed.details["path"].endswith("data.csv")
        assert (said(it.events), ends(it.events)[-1].is_error) == ("Done.", False)
        assert not it.of(Notice) + it.of(Error)
        told_once(it.events)
        assert not (await it.session.submit(AnswerRequest(command.id, "once"))).ok


@pytest.mark.parametrize("choice", ["this session", "always here"])
async def test_what_is_allowed_for_longer_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    """The same command in the next prompt just runs; "always" is kept in the project for the next process."""
    script: Script = [[bash("touch one.txt")], [{"text": "One."}], [bash("touch one.txt")], [{"text": "Two."}]]
    async with desk(tmp_path, "claude", script, monkeypatch, allow=False) as it:
        await it.say("Go.")
        request = await reply(it, 0, {"choice": choice})
        await it.done()
        assert "Bash(touch one.txt" in request.details["rule"]
        await it.turn("Again.")
        assert len(it.of(Request)) == 1
        assert said(it.events) == "One.Two."
        kept = it.project / ".claude/settings.local.json"
        assert kept.exists() == (choice == "always here")


async def test_its_own_questions_are_put_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers reach the model, each with its question."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    more = {"header": "Look", "options": options}
    questions = [
        {"question": "Which colour?", "multiSelect": False, **more},
        {"question": "Which ones for the rest?", "multiSelect": True, **more},
    ]
    script: Script = [[{"tool": "AskUserQuestion", "args": {"questions": questions}}], [{"text": "Thanks."}]]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.say("Go.")
        first = await reply(it, 0, {"chosen": ["Blue"], "text": ""})
        second = await reply(it, 1, {"chosen": ["Red", "Blue"], "text": ""})
        await it.done()
        assert [first.text, second.text] == ["Which colour?", "Which ones for the rest?"]
        assert (first.what, first.choices, second.details["several"]) == ("question", ["Red", "Blue"], True)
        assert first.details["choices"][0] == {"label": "Red", "description": "warm"}
        heard = str(it.server.conversations[-1].body)
        assert '"Which colour?"="Blue"' in heard
        assert '"Which ones for the rest?"="Red, Blue"' in heard
        told_once(it.events)


async def test_a_subagents_request_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks is the subagent; the call is its own."""
    task = {
        "tool": "Task",
        "args": {"description": "Helper", "prompt": "Look.", "subagent_type": "general-purpose"},
        "agent": [[bash("touch helped.txt")], [{"text": "Helped."}]],
    }
    async with desk(tmp_path, "claude", [[task], [{"text": "Done."}]], monkeypatch, allow=False) as it:
        await it.say("Go.")
        request = await reply(it, 0, "once")
        await it.done()
        assert request.agent == it.of(AgentStarted)[0].path == "general-purpose-1"
        assert (it.project / "helped.txt").exists()
        call = next(use for use in it.of(ToolUse) if use.id == request.details["call"])
        assert call.agent == request.agent
        told_once(it.events)


async def test_it_is_stopped_and_goes_on_in_the_same_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in a command, in a question and in its words: each time the next prompt is in the same conversation."""
    script: Script = [
        [bash("touch began; sleep 300")],
        [bash("touch never.txt")],
        [{"text": "Words that come slowly, and then no more.", "chunk": 4, "delay_ms": 400}],
        [{"text": "After."}],
    ]
    async with desk(tmp_path, "claude", script, monkeypatch, allow=False) as it:
        await it.say("One.")
        await reply(it, 0, "once")
        await it.until((it.project / "began").exists, "the command")
        server = running(SERVING)[-1].pid
        await stop(it)
        await it.until(lambda: not running("sleep 300"), "the end of the command")
        await it.say("Two.")
        await it.until(lambda: len(it.of(Request)) > 1, "a question")
        await stop(it)
        assert {request.id for request in it.of(Request)} == {event.id for event in it.of(RequestResolved)}
        await it.say("Three.")
        await it.until(lambda: it.of(Text), "words")
        await stop(it)
        assert "Words that come slowly".startswith(said(it.events)[:20])
        await it.turn("Four.")
        assert said(it.events).endswith("After.")
        assert [ended.stop_reason for ended in ends(it.events)] == ["cancelled"] * 3 + ["end_turn"]
        assert [process.pid for process in running(SERVING)] == [server]
        assert asked(it.events) == ["One.", "Two.", "Three.", "Four."]
        assert not it.of(Error) + it.of(Notice)
        told_once(it.events)
        assert "One." in str(it.server.conversations[-1].body)
    assert not psutil.pid_exists(server)


async def stop(it: Desk) -> None:
    assert (await it.session.submit(Abort())).ok
    await it.done()


async def test_words_are_taken_into_the_run_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said while a command runs they come with its result; said in the last words they are one more round of it."""
    script: Script = [
        [bash(GATED)],
        [{"text": "Slowly now.", "chunk": 2, "delay_ms": 200}],
        [{"text": " And that."}],
        [{"text": "Next."}],
    ]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.say("Go.")
        await it.until((it.project / "began").exists, "the command")
        assert (await it.say("By the way.", how="steer")).ok
        (it.project / "go").touch()
        await it.until(lambda: it.of(Text), "words")
        assert (await it.say("One more thing.", how="steer")).ok
        await it.done()
        assert asked(it.events) == ["Go.", "By the way.", "One more thing."]
        assert said(it.events) == "Slowly now. And that."
        assert len(ends(it.events)) == 1
        assert "By the way." in str(it.server.conversations[1].body)
        assert "One more thing." in str(it.server.conversations[2].body)
        await it.turn("Go on.")
        first, second = (ended.cost for ended in ends(it.events))
        assert second < first  # of its own prompt only, not of all the process has cost
        told_once(it.events)


async def test_words_that_were_not_heard_are_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping also stops what was said meanwhile and has not reached the model."""
    script: Script = [[bash(GATED)], [{"text": "Later."}]]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.say("Go.")
        await it.until((it.project / "began").exists, "the command")
        assert (await it.say("By the way.", how="steer")).ok
        await stop(it)
        assert [notice.text for notice in it.of(Notice)] == ["stopped before Claude Code read this: By the way."]
        await it.turn("Go on.")
        assert "By the way." not in str(it.server.conversations[-1].body)


async def test_a_background_subagent_belongs_to_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on until the subagent has ended and its end was answered."""
    args = {"description": "Helper", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": True}
    agent = [[{"text": "Looking."}, bash("sleep 1; echo seen")], [{"text": "Helped."}]]
    script: Script = [[{"tool": "Task", "args": args, "agent": agent}], [{"text": "Begun. "}], [{"text": "All done."}]]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.turn("Go.")
        assert said(it.events) == "Begun. All done."
        assert len(ends(it.events)) == 1
        (ended,) = it.of(AgentEnded)
        assert not ended.is_error
        assert [event.text for event in it.of(Text) if event.agent] == ["Looking.", "Helped."]
        told_once(it.events)


async def test_a_process_that_dies_ends_the_run_and_the_next_prompt_starts_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash is one error and the end of the run; the conversation goes on with a new process."""
    once = bash("test -e began || { touch began; sleep 300; }")
    script: Script = [[{"text": "Before."}], [once], [{"text": "After."}]]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.turn("One.")
        await it.say("Two.")
        await it.until((it.project / "began").exists, "the command")
        for process in running(SERVING):
            process.send_signal(signal.SIGKILL)
        await it.done()
        (error,) = it.of(Error)
        assert "claude ended" in error.text
        await it.until(lambda: not running("sleep 300"), "the end of what it had started")
        assert ends(it.events)[-1].is_error
        await it.turn("Three.")
        assert not ends(it.events)[-1].is_error
        assert "One." in str(it.server.conversations[-1].body)


@pytest.mark.parametrize("level", ["plan", "edit", "full"])
async def test_a_level_is_a_flag_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    """`edit` asks about commands only, `full` about nothing, and of `plan` it wants to get out."""
    write = {"tool": "Write", "args": {"file_path": "new.txt", "content": "hello\n"}}
    plan = {"tool": "ExitPlanMode", "args": {"plan": "1. Write it."}}
    script: Script = [
        [plan] if level == "plan" else [write],
        [bash('python3 -c \'open("done.txt", "w")\'')],
        [{"text": "Done."}],
    ]
    async with desk(tmp_path, "claude", script, monkeypatch, allow=False, approval=level) as it:
        await it.say("Go.")
        if level == "plan":
            request = await reply(it, 0, "no")
            assert (request.details["tool"], request.details["what"]) == ("ExitPlanMode", "1. Write it.")
        elif level == "edit":
            await it.until((it.project / "new.txt").exists, "the file")
        if level != "full":
            await reply(it, len(it.of(Request)) if level == "edit" else 1, "no")
        await it.done()
        assert (it.project / "new.txt").exists() == (level != "plan")
        assert (it.project / "done.txt").exists() == (level == "full")


async def test_what_it_does_by_itself_is_a_run_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command left in the background ends after the run: what Claude Code does then is shown, and can be asked."""
    script: Script = [
        [bash("until test -e go; do sleep 0.05; done", run_in_background=True)],
        [{"text": "It runs. "}],
        [{"text": "It has ended. "}, bash("touch asked.txt")],
        [{"text": "So that was it. "}],
        [{"text": "Yes."}],
    ]
    async with desk(tmp_path, "claude", script, monkeypatch, allow=False) as it:
        await it.turn("Go.")
        assert said(it.events) == "It runs. "
        (it.project / "go").touch()
        await reply(it, 0, "once")
        await it.done()
        assert (it.project / "asked.txt").exists()
        assert said(it.events) == "It runs. It has ended. So that was it. "
        assert asked(it.events) == ["Go."]
        assert "completed" in it.of(Notice)[0].text
        assert len(ends(it.events)) == 2
        await it.turn("Is that all?")
        assert said(it.events).endswith("Yes.")
        told_once(it.events)


async def test_its_own_commands_are_answered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt that is a command of Claude Code's never reaches the model; its answer is a run like any other."""
    async with desk(tmp_path, "claude", [[{"text": "Hi."}]], monkeypatch) as it:
        await it.turn("/cost")
        assert said(it.events).count("Total cost") == 1
        assert not it.server.conversations
        assert said(await it.turn("Hello.")) == "Hi."
        told_once(it.events)


async def test_another_model_from_the_next_prompt_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same process, and nothing is said in the person's name."""
    async with desk(tmp_path, "claude", [[{"text": "One."}], [{"text": "Two."}]], monkeypatch) as it:
        await it.turn("First.")
        (server,) = running(SERVING)
        assert (await it.session.submit(SetModel("claude-opus-4-8"))).ok
        await it.turn("Second.")
        assert running(SERVING) == [server]
        assert [turn.body["model"] for turn in it.server.conversations] == ["claude-sonnet-4-5", "claude-opus-4-8"]
        assert asked(it.events) == ["First.", "Second."]


async def test_stopping_ends_a_subagent_in_the_background_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it was running; the next prompt goes on with the conversation."""
    args = {"description": "Helper", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": True}
    agent = [[bash("test -e began || { touch began; sleep 300; }")], [{"text": "Helped."}]]
    script: Script = [[{"tool": "Task", "args": args, "agent": agent}], [{"text": "Begun."}], [{"text": "After."}]]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.say("Go.")
        await it.until((it.project / "began").exists, "the command")
        await it.until(lambda: said(it.events) == "Begun.", "the words beside it")
        await stop(it)
        await it.until(lambda: not running("sleep 300"), "the end of the command")
        assert ends(it.events)[-1].stop_reason == "cancelled"
        assert [ended.path for ended in it.of(AgentEnded)] == ["general-purpose-1"]
        assert not it.of(Error)
        await it.turn("Go on.")
        assert not ends(it.events)[-1].is_error
        assert "Go." in str(it.server.conversations[-1].body)
        told_once(it.events)


@pytest.mark.parametrize("background", [False, True])
async def test_a_subagent_is_stopped_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, background: bool
) -> None:
    """By the call that started it, as the list of agents does; with what it was running."""
    args = {"description": "Helper", "prompt": "Look.", "subagent_type": "general-purpose"}
    args |= {"run_in_background": True} if background else {}
    agent = [[bash("touch began; sleep 300")], [{"text": "Never."}]]
    script: Script = [[{"tool": "Task", "args": args, "agent": agent}], [{"text": "Done."}], [{"text": "Done."}]]
    async with desk(tmp_path, "claude", script, monkeypatch) as it:
        await it.say("Go.")
        await it.until((it.project / "began").exists, "the command")
        started = await it.until_event(AgentStarted)
        assert (await it.session.submit(CancelCall(started.call))).ok
        await it.until_event(AgentEnded, path=started.path)
        await it.until(lambda: not running("sleep 300"), "the end of the command")
        await it.done()
        assert said(it.events).startswith("Done.")
        assert "Never." not in [event.text for event in it.of(Text)]
        assert not it.of(Error)
        reply = await it.session.submit(CancelCall(started.call))
        assert (reply.ok, reply.error) == (False, "it has already ended")
        told_once(it.events)
