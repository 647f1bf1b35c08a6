"""Claude Code's channel: what it asks as requests, where runs begin and end, and a process that does as it likes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import (
    AgentStarted,
    Error,
    Event,
    Notice,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolUse,
    Unknown,
    User,
    encode_event,
)
from sightline.providers import Channel, ProviderPrompt, Run, Unreachable
from sightline.providers._channel_run import _BATCHES_AT_MOST
from sightline.providers.claude import ClaudeSource
from sightline.providers.claude._channel import ClaudeChannel
from sightline.providers.claude._channel_requests import RequestOrigin, diff_of, translate_request

from .fake_claude import install, sent, starts
from .support import CAPTURES, assert_clean, lines, of, words_of

INIT = {"type": "system", "subtype": "init", "session_id": "S1", "model": "m-1", "cwd": "/c"}


def says(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def result(cost: float = 0.0, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "output_tokens": 10}
    return {"type": "result", "subtype": "success", "total_cost_usd": cost, "usage": usage, **more}


def wants(tool: str, id: str = "q1", *, suggestions: Any = None, **args: Any) -> dict[str, Any]:
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": args, "tool_use_id": "t1"}
    return {
        "type": "control_request",
        "request_id": id,
        "request": {**request, **({} if suggestions is None else {"permission_suggestions": suggestions})},
    }


RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make *"}],
    "behavior": "allow",
    "destination": "localSettings",
}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


@asynccontextmanager
async def channel_to(program: Path, ask: ProviderPrompt) -> AsyncIterator[ClaudeChannel]:
    channel = ClaudeChannel(ask, str(program))
    try:
        async with asyncio.timeout(30):
            yield channel
    finally:
        await channel.close()


async def events_of(run: Run) -> list[Event]:
    return [event async for batch in run.events() for event in batch]


async def until(run: Run, kind: type[Event]) -> list[Event]:
    """What it tells up to the first of a kind; the rest stays to be read."""
    seen: list[Event] = []
    while not any(isinstance(event, kind) for event in seen):
        seen += await run._queue.get()  # type: ignore[attr-defined]
    return seen


async def test_prompts_are_worked_on_in_one_process(tmp_path: Path) -> None:
    """Each is a run with a beginning, an end, and the costs of its own."""
    program = install(
        tmp_path / "bin", lines(INIT, says("One."), result(0.25)), lines(INIT, says("Two."), result(0.75))
    )
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path))
    async with channel_to(program, ask) as channel:
        first = await events_of(await channel.run(ask))
        second = await events_of(await channel.run(msgspec.structs.replace(ask, resume="S1")))
    assert [event.session for event in of(RunStarted, first + second)] == ["S1", "S1"]
    assert (words_of(first), words_of(second)) == (["One."], ["Two."])
    assert [ended.cost for ended in of(RunEnded, first + second)] == [0.25, 0.5]
    assert first[0] == State("approval", {"level": "auto", "flags": []}, source="claude")
    assert len(starts(program)) == 1
    kinds = [message["request"]["subtype"] if "request" in message else message["type"] for message in sent(program)]
    assert kinds == ["initialize", "user", "get_binary_version", "user", "get_binary_version"]


async def test_one_subagent_can_be_stopped(tmp_path: Path) -> None:
    """By their id of its task; one that is not there, or that they do not stop, is not stopped."""
    task = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"subagent_type": "Explore", "prompt": "x"}}
    calls = {"type": "assistant", "message": {"content": [task]}}
    started = {"type": "system", "subtype": "task_started", "task_id": "b7", "tool_use_id": "toolu_1"}
    program = install(tmp_path / "bin", lines(INIT, calls, started) + b"WAIT\n")
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path))
    async with channel_to(program, ask) as channel:
        run = await channel.run(ask)
        seen = await until(run, AgentStarted)
        path = of(AgentStarted, seen)[0].path
        while not channel._tasks:  # noqa: ASYNC110, a condition over what another task does
            await asyncio.sleep(0.01)
        assert await channel.stop_agent(path)
        assert not await channel.stop_agent("Explore-9")
        assert not await channel.stop_agent("")
    requests = [message["request"] for message in sent(program) if message.get("request", {}).get("task_id")]
    assert requests == [{"subtype": "stop_task", "task_id": "b7"}]


def test_what_a_subagent_asks_is_the_subagents() -> None:
    """So is the next question of the same call, and that one is taken back."""
    channel = ClaudeChannel(ProviderPrompt(prompt=""))
    task = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"subagent_type": "Explore", "prompt": "x"}}
    started = {"type": "system", "subtype": "task_started", "task_id": "b7", "tool_use_id": "toolu_1"}
    questions = [{"question": "One?"}, {"question": "Two?"}]
    question = wants("AskUserQuestion", questions=questions)
    question["request"]["agent_id"] = "b7"
    taken = {"type": "control_cancel_request", "request_id": "q1"}
    for message in (INIT, {"type": "assistant", "message": {"content": [task]}}, started):
        channel.parse_events(json.dumps(message).encode())
    (first,) = channel.parse_events(json.dumps(question).encode())
    assert isinstance(first, Request)
    assert channel.answer("q1", "yes")
    resolved = channel.parse_events(json.dumps(taken).encode())
    assert [(type(event), event.agent) for event in (first, *resolved)] == [
        (Request, "Explore-1"),
        (RequestResolved, "Explore-1"),
    ]


async def test_another_conversation_and_another_model(tmp_path: Path) -> None:
    """A model is changed in the process that runs; another session is resumed in a new one, with the same level."""
    program = install(tmp_path / "bin", *[lines(INIT, result())] * 2)
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path), approval="edit")
    async with channel_to(program, ask) as channel:
        await events_of(await channel.run(ask))
        await events_of(await channel.run(msgspec.structs.replace(ask, model="m-2")))
        await events_of(await channel.run(msgspec.structs.replace(ask, model="m-2", resume="S0")))
    first, second = starts(program)
    assert "acceptEdits" in first
    assert "--resume" not in first + "--model" not in first
    assert second.endswith("--model=m-2 --resume=S0")
    models = [m["request"] for m in sent(program) if m.get("request", {}).get("subtype") == "set_model"]
    assert models == [{"subtype": "set_model", "model": "m-2"}]


async def test_a_program_that_does_not_know_the_flag_is_unreachable(tmp_path: Path) -> None:
    """An old version says so before anything was asked of it, and so does one that is not there."""
    program = install(tmp_path / "bin")
    (program.parent / "old").touch()
    for binary, why in [(program, "unknown option"), (tmp_path / "nowhere", "is not installed")]:
        channel: Channel = ClaudeChannel(ProviderPrompt(prompt=""), str(binary))
        with pytest.raises(Unreachable, match=why):
            await channel.run(ProviderPrompt(prompt="Hi."))
        await channel.close()


async def test_a_crash_is_an_error_and_the_end_of_the_run(tmp_path: Path) -> None:
    """What was said is kept; the next prompt starts the program again and resumes the session."""
    program = install(tmp_path / "bin", lines(INIT, says("Half")) + b"CRASH\n")
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path))
    async with channel_to(program, ask) as channel:
        events = await events_of(await channel.run(ask))
        (program.parent / "prompt-1.jsonl").write_bytes(lines(INIT, says("Whole"), result()))
        again = await events_of(await channel.run(msgspec.structs.replace(ask, resume="S1")))
    assert words_of(events) == ["Half"]
    assert [type(event) for event in events[-2:]] == [Error, RunEnded]
    assert events[-1].is_error
    assert words_of(again) == ["Whole"]
    assert starts(program)[1].endswith("--resume=S1")


async def test_a_crash_is_told_in_the_words_that_say_why(tmp_path: Path) -> None:
    """Of what a runtime prints about it the message, not its own name below the stack; and what to do."""
    program = install(tmp_path / "bin")
    said = "Error: Cannot find module 'x'\\n    at Module.load (node:internal:1:2)\\n\\nNode.js v22.1.0\\n"
    program.write_text(f'#!/bin/sh\nprintf "{said}" >&2\nexit 1\n')
    channel = ClaudeChannel(ProviderPrompt(prompt=""), str(program))
    with pytest.raises(Unreachable) as failed:
        await channel.run(ProviderPrompt(prompt="Hi."))
    await channel.close()
    assert failed.value.message == "claude ended with exit code 1: Cannot find module 'x'"
    assert "install it again" in failed.value.hint


async def test_rounds_that_follow_by_themselves_are_of_the_same_run(tmp_path: Path) -> None:
    """One beginning, one end with all their tokens and costs, and nothing shown twice."""
    rounds = lines(INIT, says("One."), result(0.25), INIT, says("Two."), result(0.75))
    program = install(tmp_path / "bin", rounds)
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        events = await events_of(await channel.run(ProviderPrompt(prompt="Hi.")))
    assert words_of(events) == ["One.", "Two."]
    assert len(of(RunStarted, events)) == 1
    (ended,) = of(RunEnded, events)
    assert (ended.cost, ended.usage.input_tokens, ended.usage.output_tokens) == (0.75, 200, 20)


async def test_a_version_that_tells_no_state_ends_with_its_result(tmp_path: Path) -> None:
    """It is not waited for."""
    program = install(tmp_path / "bin", *[lines(INIT, says("Hi."), result())] * 2)
    (program.parent / "stateless").touch()
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        for _ in range(2):
            assert words_of(await events_of(await channel.run(ProviderPrompt(prompt="Hi.")))) == ["Hi."]


async def test_what_it_begins_by_itself_is_handed_out(tmp_path: Path) -> None:
    """What came before its round is told in it; without anybody to take it, with the next prompt."""
    idle = {"type": "system", "subtype": "session_state_changed", "state": "idle"}
    note = {"type": "system", "subtype": "task_notification", "summary": "It has ended", "tool_use_id": "t1"}
    own = lines(INIT, says("One."), result(), idle, note, INIT, says("More."), result())
    for taken in (True, False):
        program = install(tmp_path / f"bin-{taken}", own, lines(INIT, says("Two."), result()))
        async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
            handed: asyncio.Queue[Run] = asyncio.Queue()

            def begun(run: Run, handed: asyncio.Queue[Run] = handed, taken: bool = taken) -> bool:
                handed.put_nowait(run)
                return taken

            channel.on_own_run(begun)
            assert words_of(await events_of(await channel.run(ProviderPrompt(prompt="Hi.")))) == ["One."]
            own_run = await handed.get()
            events = (
                await events_of(own_run)
                if taken
                else await events_of(await channel.run(ProviderPrompt(prompt="Next.")))
            )
        assert words_of(events) == (["More."] if taken else ["More.", "Two."])
        assert [notice.text for notice in of(Notice, events)] == ["It has ended"]
        assert len(of(RunEnded, events)) == 1


# Stopping


async def test_a_run_that_is_stopped_is_cancelled_and_the_process_stays(tmp_path: Path) -> None:
    """Neither an error nor words in the person's name; the next prompt goes on in the same process."""
    program = install(tmp_path / "bin", lines(INIT, says("Half")) + b"WAIT\n", lines(INIT, says("On."), result()))
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        run = await channel.run(ProviderPrompt(prompt="Hi."))
        events = await until(run, Text)
        await run.cancel()
        events += await events_of(run)
        again = await events_of(await channel.run(ProviderPrompt(prompt="Hi.", resume="S1")))
    assert run.outcome.cancelled
    assert events[-1].stop_reason == "cancelled"
    assert not of(Error, events) + of(User, events)
    assert words_of(again) == ["On."]
    assert len(starts(program)) == 1


async def test_what_was_not_read_is_reported_in_the_run_that_is_stopped(tmp_path: Path) -> None:
    """Also when the end of the run is there together with the answer to the interrupt."""
    program = install(tmp_path / "bin", lines(INIT, says("Half")) + b"WAIT\n")
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        run = await channel.run(ProviderPrompt(prompt="Hi."))
        events = await until(run, Text)
        assert await channel.steer("By the way.")
        await run.cancel()
        events += await events_of(run)
    assert [notice.text for notice in of(Notice, events)] == ["stopped before Claude Code read this: By the way."]
    assert events[-1].stop_reason == "cancelled"


async def test_one_that_does_not_stop_is_made_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that hears the interrupt and goes on is ended; the run is cancelled, not failed."""
    monkeypatch.setattr("sightline.providers._channel_run._SECONDS_TO_STOP", 0.2)
    program = install(tmp_path / "bin", lines(INIT, says("Half")) + b"WAIT\n" * 3)
    (program.parent / "deaf").touch()
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        run = await channel.run(ProviderPrompt(prompt="Hi."))
        events = await until(run, Text)
        await run.cancel()
        events += await events_of(run)
    assert events[-1].stop_reason == "cancelled"
    assert not of(Error, events)


# Requests


async def test_an_answer_is_sent_once_and_closes_the_request(tmp_path: Path) -> None:
    """The work goes on with it; a second answer has nobody to go to."""
    program = install(tmp_path / "bin", lines(INIT, wants("Bash", command="make")) + b"WAIT\n" + lines(result()))
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        run = await channel.run(ProviderPrompt(prompt="Hi."))
        (request,) = of(Request, await until(run, Request))
        assert channel.answer(request.id, {"choice": "once"})
        assert not channel.answer(request.id, {"choice": "once"})
        events = await events_of(run)
    assert [event.id for event in of(RequestResolved, events)] == [request.id]
    (answer,) = [message for message in sent(program) if message["type"] == "control_response"]
    allowed = {"behavior": "allow", "updatedInput": {"command": "make"}}
    assert answer["response"] == {"subtype": "success", "request_id": "q1", "response": allowed}


async def test_a_question_that_is_taken_back_is_closed(tmp_path: Path) -> None:
    """`control_cancel_request`: nobody waits for the answer any more."""
    back = {"type": "control_cancel_request", "request_id": "q1"}
    program = install(tmp_path / "bin", lines(INIT, wants("Bash", command="make"), back, result()))
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        events = await events_of(await channel.run(ProviderPrompt(prompt="Hi.")))
        assert not channel.answer("q1", "once")
    assert [event.id for event in of(RequestResolved, events)] == ["q1"]


async def test_what_nobody_here_can_answer_is_refused_at_once(tmp_path: Path) -> None:
    """It is not left waiting, and the person hears of it."""
    other = {"type": "control_request", "request_id": "q1", "request": {"subtype": "elicitation"}}
    program = install(tmp_path / "bin", lines(INIT, other) + b"WAIT\n" + lines(result()))
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        events = await events_of(await channel.run(ProviderPrompt(prompt="Hi.")))
    assert "elicitation" in of(Notice, events)[0].text
    (answer,) = [message["response"] for message in sent(program) if message["type"] == "control_response"]
    assert (answer["subtype"], answer["request_id"]) == ("error", "q1")


CHOICES = ["once", "this session", "always here", "no"]
ASKING = RequestOrigin("q1", "call-1", "/project")


@pytest.mark.parametrize(
    ("said", "response"),
    [
        ("once", {"behavior": "allow"}),
        (
            {"choice": "this session"},
            {"behavior": "allow", "updatedPermissions": [{**RULE, "destination": "session"}, MODE]},
        ),
        ({"choice": "always here", "rule": "x"}, {"behavior": "allow", "updatedPermissions": [RULE, MODE]}),
        ("no", {"behavior": "deny", "message": "The user refused this."}),
        (
            {"choice": "no", "reason": "use ninja"},
            {"behavior": "deny", "message": "The user refused this. Reason: use ninja"},
        ),
        *[
            (said, {"behavior": "deny", "message": "The user refused this."})
            for said in (None, "", 3, True, ["once"], {}, {"choice": ["once"]}, {"choice": {"once": 1}}, "always")
        ],
    ],
)
def test_each_answer_has_its_response(said: Any, response: dict[str, Any]) -> None:
    """Yes gives the arguments back as they came, for longer what was suggested; anything else is a no."""
    made = translate_request(wants("Bash", suggestions=[RULE, MODE], command="make \x1b all")["request"], ASKING)
    assert made is not None
    assert (made.event.details["call"], made.event.details["cwd"]) == ("call-1", "/project")
    assert made.event.choices == CHOICES
    assert made.event.details["rule"] == "Bash(make *), changes to files without asking"
    args = {"updatedInput": {"command": "make \x1b all"}} if response["behavior"] == "allow" else {}
    assert made.answer(said) == {**response, **args}


@pytest.mark.parametrize(
    ("suggestions", "choices"),
    [(None, []), ([], []), ("odd", []), ([MODE], ["this session"]), ([RULE], ["this session", "always here"])],
)
def test_only_what_is_suggested_can_be_allowed_for_longer(suggestions: Any, choices: list[str]) -> None:
    """Nothing suggested: once or no."""
    made = translate_request(wants("Bash", suggestions=suggestions, command="make")["request"], ASKING)
    assert made is not None
    assert made.event.choices == ["once", *choices, "no"]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "removeRules", "rules": [{"toolName": "Bash", "ruleContent": "rm *"}], "destination": "localSettings"},
        {**RULE, "type": "replaceRules"},
        {**RULE, "behavior": "deny"},
        {**RULE, "rules": [*RULE["rules"], "Bash"]},
        {**RULE, "rules": []},
        {**RULE, "rules": [{"ruleContent": "x"}]},
        {"type": "addDirectories", "directories": ["/a", 3], "destination": "session"},
        {"type": "addDirectories", "directories": [], "destination": "session"},
        {"type": "setMode", "mode": ["bypassPermissions"], "destination": "session"},
        {"type": "something new", "destination": "userSettings"},
    ],
)
def test_what_cannot_be_shown_is_not_allowed(odd: dict[str, Any]) -> None:
    """For longer the person allows what they read, and nothing that is only sent along."""
    alone = translate_request(wants("Bash", suggestions=[odd], command="make")["request"], ASKING)
    assert alone is not None
    assert (alone.event.choices, alone.event.details["rule"]) == (["once", "no"], "")
    beside = translate_request(wants("Bash", suggestions=[odd, MODE], command="make")["request"], ASKING)
    assert beside is not None
    assert beside.event.details["rule"] == "changes to files without asking"
    answer = beside.answer("this session")
    assert isinstance(answer, dict)
    assert answer["updatedPermissions"] == [MODE]


def test_always_here_is_not_everywhere() -> None:
    """What Claude Code would keep for all folders holds for the session; "here" is this folder."""
    everywhere = {**RULE, "destination": "userSettings"}
    for suggestions, choices in [([everywhere], ["once", "this session", "no"]), ([everywhere, RULE], CHOICES)]:
        made = translate_request(wants("Bash", suggestions=suggestions, command="make")["request"], ASKING)
        assert made is not None
        assert made.event.choices == choices
    answer = made.answer("always here")
    assert isinstance(answer, dict)
    assert answer["updatedPermissions"] == [{**RULE, "destination": "session"}, RULE]


def test_a_question_without_an_answer_is_not_answered_for_the_person() -> None:
    """Closing one of several tells Claude Code that there is no answer."""
    questions = [{"question": text, "options": []} for text in ("First?", "Second?")]
    made = translate_request(wants("AskUserQuestion", questions=questions)["request"], ASKING)
    assert made is not None
    second = made.answer({"chosen": [], "text": "My own words"})
    assert not isinstance(second, dict)
    assert (second.event.text, second.event.id == made.event.id) == ("Second?", False)
    assert second.answer(None) == {"behavior": "deny", "message": "The user did not answer."}
    done = second.answer({"chosen": ["a", "b"]})
    assert isinstance(done, dict)
    assert done["updatedInput"]["answers"] == {"First?": "My own words", "Second?": "a, b"}


# Diffs


def test_a_change_is_shown_where_it_would_happen(tmp_path: Path) -> None:
    """With its neighbours and its line numbers; of several edits each on what the one before left."""
    (tmp_path / "f.txt").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    args = {"file_path": "f.txt", "old_string": "line 10\n", "new_string": "line ten\n"}
    diff = diff_of(args, str(tmp_path))
    assert diff.startswith("--- f.txt\n+++ f.txt\n@@ -7,7 +7,7 @@\n line 7\n")
    assert "-line 10\n+line ten\n" in diff
    edits = [{"old_string": "line 1\n", "new_string": "one\n"}, {"old_string": "one\n", "new_string": "uno\n"}]
    assert "-line 1\n+uno\n" in diff_of({"file_path": "f.txt", "edits": edits}, str(tmp_path))
    every = {"file_path": "f.txt", "old_string": "line", "new_string": "row", "replace_all": True}
    assert diff_of(every, str(tmp_path)).count("\n+") == 21
    assert diff_of({"file_path": "new.txt", "content": "a\nb\n"}, str(tmp_path)).endswith("@@ -0,0 +1,2 @@\n+a\n+b\n")


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"file_path": 3},
        {"file_path": ""},
        {"file_path": "f.txt"},
        {"file_path": "f.txt", "old_string": "not there", "new_string": ""},
        {"file_path": "f.txt", "old_string": "", "new_string": "x"},
        {"file_path": "f.txt", "edits": [None]},
        {"file_path": "f.txt", "content": "same\n"},
        {"file_path": "bytes", "content": "x"},
        {"file_path": "folder", "content": "x"},
        {"file_path": "pipe", "content": "x"},
        {"file_path": "large", "content": "x"},
        {"file_path": "a\0b", "content": "x"},
    ],
)
def test_a_change_that_cannot_be_shown_has_no_diff(tmp_path: Path, args: dict[str, Any]) -> None:
    """Nothing is read that is no file of a fair size, and nothing is made up."""
    import os

    (tmp_path / "f.txt").write_text("same\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "large").open("wb") as large:
        large.truncate(17 * 1024 * 1024)
    os.mkfifo(tmp_path / "pipe")
    assert diff_of(args, str(tmp_path)) == ""


# Lines


@pytest.mark.parametrize("path", sorted((CAPTURES / "claude").glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recording_is_told_as_it_is_without_the_channel(path: Path) -> None:
    """The same events from the same lines, but for where runs begin and end."""
    kept = path.read_bytes().splitlines()
    channel, source = ClaudeChannel(ProviderPrompt(prompt="")), ClaudeSource()
    source.attended = True  # with nobody there it also names what was refused
    channel._turns.prompted()
    edges = (RunStarted, RunEnded, Error)

    def told(parse: Any) -> list[Event]:
        return [event for line in kept if line.strip() for event in parse(line) if not isinstance(event, edges)]

    assert told(channel.parse_events) == told(source.parse_events)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["\x1b[31m", "a\nb", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "subtype", "request_id", "tool_name", "input", "tool_use_id", "agent_id", "permission_suggestions", "type",
        "rules", "toolName", "ruleContent", "directories", "mode", "destination", "questions", "question", "options",
        "label", "file_path", "content", "decision_reason", "command", "error", "response",
    ]), inner, max_size=6),
    max_leaves=14,
)  # fmt: skip
TYPES = ["control_request", "control_response", "control_cancel_request", "system", "result", "user", "assistant"]
SUBTYPES = ["can_use_tool", "session_state_changed", "task_started", "task_notification", "init", "success"]
FIELDS = ["request_id", "request", "response", "state", "task_id", "tool_use_id", "summary", "message"]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(TYPES),
            st.sampled_from(SUBTYPES) | values,
            st.dictionaries(st.sampled_from(FIELDS), values, max_size=4),
            st.sampled_from(["Bash", "Write", "AskUserQuestion", "Odd"]),
        ),
        max_size=5,
    )
)
def test_no_line_can_break_it(messages: list[tuple[str, Any, dict[str, Any], str]]) -> None:
    """Whatever a line holds, it becomes clean events or none; whatever was asked can be answered."""
    channel = ClaudeChannel(ProviderPrompt(prompt=""))
    for kind, subtype, fields, tool in messages:
        line: dict[str, Any] = {"type": kind, "subtype": subtype, **fields}
        if kind == "control_request" and isinstance(line.get("request"), dict):
            line["request"] = {"subtype": "can_use_tool", "tool_name": tool, "input": {}, **line["request"]}
        for event in channel.parse_events(json.dumps(line).encode()):
            encode_event(event)
            assert_clean(event)
    with patch.object(channel, "_write") as write:
        for request in list(channel._requests.values()):
            for answer in ("once", "this session", {"chosen": ["x"]}, None):
                write.reset_mock()
                request.reply(answer)
                assert write.called or any(id.startswith(f"{request.event.id}/") for id in channel._requests)


@pytest.mark.parametrize("line", [b"not json", b"[]", b'{"type": 3}', b"\xff\xfe", b"null", b"[" * 100_000])
def test_a_line_that_is_no_message_is_told_as_unknown(line: bytes) -> None:
    """It does not end the conversation."""
    assert [type(event) for event in ClaudeChannel(ProviderPrompt(prompt="")).parse_events(line)] == [Unknown]


async def test_it_is_closed_though_nobody_reads(tmp_path: Path) -> None:
    """What was said and not read does not keep its process, or who ends it."""
    program = install(tmp_path / "bin", lines(INIT, *[says("word " * 20_000)] * 1000, result()))
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        run = await channel.run(ProviderPrompt(prompt="Hi."))
        while run._queue.qsize() < _BATCHES_AT_MOST:  # noqa: ASYNC110, as much as another process has said
            await asyncio.sleep(0.01)
        await channel.close()
        assert run.over


async def test_a_flood_waits_to_be_read(tmp_path: Path) -> None:
    """More lines than the queue holds arrive complete, in order."""
    calls = [
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {}}]},
        }
        for n in range(20_000)
    ]
    program = install(tmp_path / "bin", lines(INIT, *calls, result()))
    async with channel_to(program, ProviderPrompt(prompt="", cwd=str(tmp_path))) as channel:
        events = await events_of(await channel.run(ProviderPrompt(prompt="Hi.")))
    assert [use.native_id for use in of(ToolUse, events)] == [f"t{n}" for n in range(20_000)]
