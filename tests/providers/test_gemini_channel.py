"""Gemini's channel: what it tells as events, whatever a line holds, what it asks, and a program that breaks."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    Reasoning,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    Unknown,
    Usage,
    encode_event,
)
from sightline.providers import ProviderPrompt, Unreachable
from sightline.providers._channel_run import _BATCHES_AT_MOST, ChannelRun
from sightline.providers.gemini import GeminiSource
from sightline.providers.gemini._channel import GeminiChannel
from sightline.providers.gemini._channel_source import _HANDLERS, ChannelSource

from .fake_acp import install
from .support import assert_clean, of, words_of

TOKENS = {"input_tokens": 10, "output_tokens": 2}
END = {"stopReason": "end_turn", "_meta": {"quota": {"token_count": TOKENS}}}
DONE = "DONE " + msgspec.json.encode({"result": END}).decode()
ANSWER = "ANSWER " + msgspec.json.encode(END).decode()
SHELL = "run_shell_command__run_shell_command_1794833694295_0"
ONCE = {"optionId": "proceed_once", "name": "Allow", "kind": "allow_once"}
SESSION = {"optionId": "proceed_always", "name": "Allow for this session", "kind": "allow_always"}
FOREVER = "Allow this command for all future sessions"
SAVE = {"optionId": "proceed_always_and_save", "name": FOREVER, "kind": "allow_always"}
SERVER = {"optionId": "proceed_always_server", "name": "Allow all server tools", "kind": "allow_always"}
NO = {"optionId": "cancel", "name": "Reject", "kind": "reject_once"}


def update(what: str, /, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": "SESSION", "update": {"sessionUpdate": what, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def words(text: str) -> dict[str, Any]:
    return update("agent_message_chunk", content={"type": "text", "text": text})


def content(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def call(status: str, id: str = SHELL, **fields: Any) -> dict[str, Any]:
    kind = "tool_call" if status == "in_progress" else "tool_call_update"
    return update(kind, toolCallId=id, status=status, kind="execute", **fields)


def ask_for(id: int = 0, options: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    about = {"toolCallId": SHELL, "status": "pending", "title": "touch x", "kind": "execute", **fields}
    params = {"sessionId": "SESSION", "options": options or [SESSION, ONCE, NO], "toolCall": about}
    return {"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}


def told(*messages: dict[str, Any], cwd: str = "/p") -> list[Event]:
    source = ChannelSource(cwd)
    return [event for message in messages for event in source.updated(message["params"]["update"], b"")]


async def run_of(channel: GeminiChannel, ask: ProviderPrompt, answer: Any = None) -> list[Event]:
    run = await channel.run(ask)
    events: list[Event] = []
    async with asyncio.timeout(30):
        async for batch in run.events():
            events += batch
            for request in of(Request, batch):
                assert channel.answer(request.id, answer)
                assert not channel.answer(request.id, answer)
    return events


async def asked_once(tmp_path: Path, request: dict[str, Any], answer: Any, *more: Any) -> tuple[list[Event], list[Any]]:
    """The events of a run that asks this and is answered so, and what the program was sent."""
    program = install(tmp_path / "bin", [request, ANSWER], *more)
    channel = GeminiChannel(ProviderPrompt(prompt="", cwd=str(tmp_path)), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi.", cwd=str(tmp_path)), answer)
    finally:
        await channel.close()
    return events, sent(program)


def sent(program: Path) -> list[Any]:
    return [msgspec.json.decode(line) for line in (program.parent / "asked.jsonl").read_bytes().splitlines()]


def methods(program: Path) -> list[str]:
    return [message.get("method", "") for message in sent(program)]


@pytest.mark.parametrize(
    ("name", "fields", "args", "stream_args"),
    [
        ("run_shell_command", {"title": "ls -a"}, {"command": "ls -a"}, {"command": "ls -a"}),
        ("read_file", {"title": "…/a.md", "locations": [{"path": "/p/x/a.md"}]}, {"file_path": "x/a.md"}, None),
        ("read_file", {"title": "a.md", "locations": [{"path": "/q/a.md"}]}, {"file_path": "/q/a.md"}, None),
        ("grep_search", {"title": "'it's'"}, {"pattern": "it's"}, None),
        ("grep_search", {"title": "'a' within ./src"}, {"description": "'a' within ./src"}, None),
        ("google_web_search", {"title": 'Searching the web for: "abc"'}, {"query": "abc"}, None),
        ("mcp_desk_add", {"title": "add", "content": content('{"a":1}')}, {"a": 1}, None),
        (
            "mcp_desk_add",
            {"title": "add", "content": content("[left out]")},
            {"description": "add", "explanation": "[left out]"},
            None,
        ),
        ("something_new", {}, {}, None),
    ],
)
def test_a_call_looks_as_in_the_stream(name: str, fields: Any, args: Any, stream_args: Any) -> None:
    """Name, preview and what is known of the arguments are those of the other stream."""
    id = f"{name}__{name}_1794833694295_0"
    (use,) = of(ToolUse, told(call("in_progress", id, **fields)))
    assert use.args == args
    line = {"type": "tool_use", "tool_name": name, "tool_id": id, "parameters": stream_args or args}
    (other,) = of(ToolUse, GeminiSource().parse_events(msgspec.json.encode(line)))
    assert use == other


def test_an_id_of_the_model_server_tells_the_name_too() -> None:
    """Gemini puts the name before whatever id there is."""
    (use,) = of(ToolUse, told(call("in_progress", "run_shell_command__fc-12", title="ls")))
    assert (use.name, use.native_name) == ("Bash", "run_shell_command")


def test_a_subagent_begins_and_ends_with_its_call() -> None:
    """As in the stream; nothing of its inside is told."""
    id = "invoke_agent__invoke_agent_1_0"
    events = told(
        update("tool_call", toolCallId=id, status="in_progress", title="Delegating to agent 'generalist'"),
        update("tool_call_update", toolCallId=id, status="completed", content=[]),
    )
    assert [type(event) for event in events] == [ToolUse, AgentStarted, AgentEnded, ToolResult]
    assert events[1].name == "generalist"


def test_what_a_call_prints_is_told_as_it_grows() -> None:
    """Each update has all there is; only what is new is told, and the result has all of it."""
    events = told(
        call("in_progress", title="make", content=content("[current working directory /p]")),
        update("tool_call_update", toolCallId=SHELL, status="in_progress", content=content("one\n")),
        update("tool_call_update", toolCallId=SHELL, status="in_progress", content=content("one\ntwo\n")),
        update("tool_call_update", toolCallId=SHELL, status="in_progress", content=content("one\ntwo\n")),
        call("completed", content=content("one\ntwo\n")),
    )
    assert [event.content for event in of(ToolOutput, events)] == ["one\n", "two\n"]
    (result,) = of(ToolResult, events)
    assert result.content == "one\ntwo\n"


@pytest.mark.parametrize("status", ["in_progress", "completed", "failed"])
def test_a_call_that_has_ended_does_not_begin_again(status: str) -> None:
    """What comes late of it is not another call."""
    late = update("tool_call_update", toolCallId=SHELL, status=status, content=content("one\n"))
    events = told(call("in_progress", title="make"), call("completed", content=content("one\n")), late)
    assert [type(event) for event in events] == [ToolUse, ToolResult]


def test_a_change_has_its_diff() -> None:
    """Of the two whole texts only what differs is told."""
    old = "".join(f"line {number}\n" for number in range(50))
    part = {"type": "diff", "path": "/p/a.txt", "oldText": old, "newText": old.replace("line 25\n", "other\n")}
    id = "replace__replace_1_0"
    events = told(update("tool_call_update", toolCallId=id, status="completed", title="a.txt: x", content=[part]))
    (result,) = of(ToolResult, events)
    assert result.details["path"] == "a.txt"
    assert result.details["diff"].startswith("--- a.txt\n+++ a.txt\n@@ -23,7 +23,7 @@\n line 22\n")
    assert "-line 25\n+other\n" in result.details["diff"]
    assert "line 10" not in result.details["diff"]


def test_the_diff_of_very_long_texts_is_quick_and_whole() -> None:
    """All between the first and the last line that differ, with every line of it."""
    old = "".join(f"line {number}\n" for number in range(200_000))
    new = old.replace("line 7\n", "seven\n").replace("line 9\n", "")
    part = {"type": "diff", "path": "/p/a.txt", "oldText": old, "newText": new}
    (result,) = of(ToolResult, told(call("completed", "replace__replace_1_0", content=[part])))
    hunk = "@@ -8,3 +8,2 @@\n-line 7\n-line 8\n-line 9\n+seven\n+line 8\n"
    assert result.details["diff"] == f"--- a.txt\n+++ a.txt\n{hunk}"


def test_a_call_that_was_never_begun_is_told_with_its_end() -> None:
    """Gemini's own rules refuse a call before it begins; why is its result, not what it was about."""
    events = told(call("failed", "invoke_agent__invoke_agent_1_0", content=content('{"denied": "by policy"}')))
    (use,), (result,) = of(ToolUse, events), of(ToolResult, events)
    assert (use.name, use.args) == ("Task", {})
    assert (result.id, result.content, result.is_error) == (use.id, '{"denied": "by policy"}', True)


def test_words_thoughts_and_modes_are_kept_apart() -> None:
    """A text ends where something else begins; a change of the mode is no word of the model's."""
    events = told(
        update("agent_thought_chunk", content={"type": "text", "text": "****\nHm."}),
        words("One "),
        words("text."),
        update("agent_thought_chunk", content={"type": "text", "text": "**Look**\nThere."}),
        words("[MODE_UPDATE] autoEdit"),
        words("Two."),
    )
    assert [event.text for event in of(Reasoning, events)] == ["Hm.", "**Look**\nThere."]
    assert words_of(events) == ["One text.", "Two."]
    assert len(of(Notice, events)) == 1


def test_a_plan_is_told_and_never_emptied_by_a_call() -> None:
    """The tool for plans does not tell its steps here: what is known stays."""
    todo = update("tool_call", toolCallId="write_todos__write_todos_1_0", status="in_progress", title="Set 2 todo(s)")
    assert not of(State, told(todo))
    (state,) = of(State, told(update("plan", entries=[{"content": "a", "status": "pending"}])))
    assert state.value == [{"text": "a", "status": "pending"}]


@pytest.mark.parametrize(
    ("choice", "option"),
    [("once", "proceed_once"), ("this session", "proceed_always"), (FOREVER, SAVE["optionId"])],
)
async def test_a_yes_is_the_option_it_stands_for(tmp_path: Path, choice: str, option: str) -> None:
    """Everything there is to know is asked with; the answer goes back under Gemini's own id."""
    about = content("[in sub] (Make a file)")
    request = ask_for(7, [SESSION, SAVE, ONCE, NO], title="touch x\ntouch y", content=about)
    events, messages = await asked_once(tmp_path, request, {"choice": choice})
    (asked,) = of(Request, events)
    assert asked.choices == ["once", "this session", FOREVER, "no"]
    assert asked.details["what"] == "touch x\ntouch y"
    assert asked.details["cwd"] == str(tmp_path / "sub")
    assert asked.details["access"] == "exec"
    assert "Make a file" in asked.details["why"]
    assert f"“this session” and “{FOREVER}” are for these programs with any arguments" in asked.details["why"]
    (use,) = of(ToolUse, events)
    assert asked.details["call"] == use.id
    assert events.index(use) < events.index(asked)
    assert [event.id for event in of(RequestResolved, events)] == [asked.id]
    assert messages[-1] == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"outcome": {"outcome": "selected", "optionId": option}},
    }
    assert events[-1] == RunEnded(Usage(10, 2, total_tokens=12), source="gemini")


@pytest.mark.parametrize(
    "answer",
    [{"choice": "no"}, "no", None, {"choice": "proceed_once"}, 3, ["once"], {"choice": ["once"]}, {"choice": None}],
)
async def test_anything_but_a_yes_is_a_no(tmp_path: Path, answer: Any) -> None:
    """The call ends as refused, though Gemini says nothing more about it."""
    events, messages = await asked_once(tmp_path, ask_for(), answer)
    assert messages[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
    (use,), (result,) = of(ToolUse, events), of(ToolResult, events)
    assert (result.id, result.is_error, result.content) == (use.id, True, "refused by the user")


async def test_an_answer_of_its_own_is_offered_by_its_name(tmp_path: Path) -> None:
    """An MCP server can be allowed as a whole; Gemini's words say so."""
    about = content('{"description": "small", "a": 1}')
    request = ask_for(0, [SERVER, ONCE, NO], toolCallId="mcp_desk_add__1", title="add", kind="other", content=about)
    events, messages = await asked_once(tmp_path, request, {"choice": "Allow all server tools"})
    (asked,) = of(Request, events)
    assert asked.choices == ["once", "Allow all server tools", "no"]
    assert (asked.details["what"], asked.details["args"]) == ("add", {"description": "small", "a": 1})
    assert messages[-1]["result"]["outcome"]["optionId"] == "proceed_always_server"


async def test_no_option_can_take_the_name_of_a_no(tmp_path: Path) -> None:
    """A no is a no, whatever the options call themselves."""
    named = [{**SERVER, "name": "no"}, {**SERVER, "name": "once"}, NO]
    events, messages = await asked_once(tmp_path, ask_for(0, named), {"choice": "no"})
    assert of(Request, events)[0].choices == ["no"]
    assert messages[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_a_reason_ends_the_prompt_and_begins_another_in_the_same_run(tmp_path: Path) -> None:
    """Gemini takes no words with a no; it hears them before it goes on."""
    answer = {"choice": "no", "reason": "Not there."}
    events, messages = await asked_once(tmp_path, ask_for(), answer, [words("As you like."), DONE])
    assert words_of(events) == ["As you like."]
    assert len(of(RunEnded, events)) == 1
    assert not events[-1].stop_reason
    prompts = [
        message["params"]["prompt"][0]["text"] for message in messages if message.get("method") == "session/prompt"
    ]
    assert prompts == ["Hi.", "I refused this. Not there."]


async def test_what_else_was_asked_is_closed_with_the_prompt(tmp_path: Path) -> None:
    """A no with a reason ends all Gemini was about to do: no dialog stays that nobody waits for."""
    other = ask_for(2, toolCallId="write_file__write_file_1_0", title="Writing to x", kind="edit")
    program = install(tmp_path / "bin", [ask_for(1), other], [words("As you like."), DONE])
    channel = GeminiChannel(ProviderPrompt(prompt="", cwd=str(tmp_path)), str(program))
    events: list[Event] = []
    try:
        run = await channel.run(ProviderPrompt(prompt="Hi.", cwd=str(tmp_path)))
        async with asyncio.timeout(30):
            async for batch in run.events():
                events += batch
                if len(of(Request, events)) == 2 and not of(RequestResolved, events):
                    assert channel.answer("1", {"choice": "no", "reason": "Not there."})
                    assert not channel.answer("2", {"choice": "once"})
    finally:
        await channel.close()
    assert words_of(events) == ["As you like."]
    assert sorted(event.id for event in of(RequestResolved, events)) == ["1", "2"]
    assert {result.id for result in of(ToolResult, events)} == {use.id for use in of(ToolUse, events)}
    assert [message["result"] for message in sent(program) if "result" in message] == [
        {"outcome": {"outcome": "cancelled"}}
    ] * 2


async def test_what_is_asked_after_the_end_is_not_left_waiting(tmp_path: Path) -> None:
    """Nobody is shown it: it is a no."""
    program = install(tmp_path / "bin", [words("Done."), DONE, ask_for(4)])
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    try:
        await run_of(channel, ProviderPrompt(prompt="Hi."))
        refused = {"jsonrpc": "2.0", "id": 4, "result": {"outcome": {"outcome": "cancelled"}}}
        async with asyncio.timeout(30):
            while refused not in sent(program):  # noqa: ASYNC110, what another process has read
                await asyncio.sleep(0.01)
        assert not channel.answer("4", "once")
    finally:
        await channel.close()


async def test_what_only_its_own_program_can_do_is_refused(tmp_path: Path) -> None:
    """It does not wait for ever, and the person hears of it."""
    request = {"jsonrpc": "2.0", "id": 3, "method": "fs/read_text_file", "params": {"path": "/x"}}
    events, messages = await asked_once(tmp_path, request, None)
    assert messages[-1]["error"]["code"] == -32601
    assert "fs/read_text_file" in of(Notice, events)[0].text


async def test_prompts_are_of_one_session_and_process(tmp_path: Path) -> None:
    """The session is made once; calls of the second prompt are not taken for those of the first."""
    turns = [words("One."), call("in_progress", title="ls"), call("completed", title="ls"), DONE]
    program = install(tmp_path / "bin", turns, turns)
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path))
    channel = GeminiChannel(ask, str(program))
    try:
        first = await run_of(channel, ask)
        second = await run_of(channel, msgspec.structs.replace(ask, resume="S1"))
    finally:
        await channel.close()
    assert [(event.session, event.model) for event in of(RunStarted, first)] == [("S1", "m-1")]
    assert len(of(ToolResult, first)) == len(of(ToolResult, second)) == 1
    assert len({use.id for use in of(ToolUse, [*first, *second])}) == 2
    assert methods(program) == ["initialize", "session/new", "session/prompt", "session/prompt"]
    assert "fs" not in sent(program)[0]["params"]["clientCapabilities"]


@pytest.mark.parametrize("slow", [False, True])
async def test_what_was_is_not_told_again_when_a_session_is_loaded(tmp_path: Path, slow: bool) -> None:
    """Also what is told after the answer to the loading of it, between the answers to whatever else is asked."""
    program = install(tmp_path / "bin", [words("News."), DONE])
    if slow:
        (program.parent / "slow").touch()
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi.", resume="S1", cwd=str(tmp_path)))
    finally:
        await channel.close()
    assert words_of(events) == ["News."]
    assert [event.session for event in of(RunStarted, events)] == ["S1"]
    assert sent(program)[1]["params"]["sessionId"] == " S1"


async def test_level_and_model_are_given_when_it_is_started(tmp_path: Path) -> None:
    """Another model starts it again, with the same session."""
    program = install(tmp_path / "bin", [DONE], [words("Two."), DONE])
    ask = ProviderPrompt(prompt="Hi.", approval="edit")
    channel = GeminiChannel(ask, str(program))
    try:
        await run_of(channel, ask)
        events = await run_of(channel, ProviderPrompt(prompt="Hi.", approval="edit", model="m-2", resume="S1"))
    finally:
        await channel.close()
    assert (program.parent / "started").read_text().splitlines() == [
        "--acp --approval-mode auto_edit",
        "--acp --approval-mode auto_edit --model=m-2",
    ]
    assert words_of(events) == ["Two."]
    assert of(RunStarted, events)[0].model == "m-2"


async def test_a_prompt_that_is_not_answered_with_anything_says_so(tmp_path: Path) -> None:
    """Gemini ends a prompt as if all were well when the model's answer was not to be read."""
    program = install(tmp_path / "bin", [DONE])
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi."))
    finally:
        await channel.close()
    assert "without an answer" in of(Notice, events)[0].text


async def test_an_error_is_told_with_what_to_do(tmp_path: Path) -> None:
    """The server's own words, without their wrapping."""
    message = '{"error":{"code":429,"message":"too much"}}'
    failed = "DONE " + msgspec.json.encode({"error": {"code": 429, "message": message}}).decode()
    program = install(tmp_path / "bin", [words("Half"), failed])
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi."))
    finally:
        await channel.close()
    assert words_of(events) == ["Half"]
    assert events[-2] == Error("too much", "wait a little and try again", source="gemini")
    assert events[-1].is_error


@pytest.mark.parametrize(("odd", "said"), [("old", "Unknown argument: acp"), ("lost", "No previous sessions found")])
async def test_one_that_cannot_be_opened_is_unreachable(tmp_path: Path, odd: str, said: str) -> None:
    """A version without the flag and a session that cannot be loaded: nothing was asked of it yet."""
    program = install(tmp_path / "bin")
    (program.parent / odd).touch()
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    with pytest.raises(Unreachable, match=said):
        await channel.run(ProviderPrompt(prompt="Hi.", resume="S1"))
    await channel.close()


async def test_a_program_that_is_not_there_is_unreachable() -> None:
    """So that what runs it once per prompt says how to install it."""
    with pytest.raises(Unreachable, match="is not installed"):
        await GeminiChannel(ProviderPrompt(prompt=""), "/nowhere/gemini").run(ProviderPrompt(prompt="Hi."))


async def test_a_crash_is_an_error_and_the_end_of_the_run(tmp_path: Path) -> None:
    """What was said is kept; the next prompt starts the program again and loads the session."""
    program = install(tmp_path / "bin", [words("Half"), "CRASH"], [words("Whole."), DONE])
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi."))
        again = await run_of(channel, ProviderPrompt(prompt="Hi.", resume="S1"))
    finally:
        await channel.close()
    assert [type(event) for event in events[-2:]] == [Error, RunEnded]
    assert words_of(events) == ["Half"]
    assert words_of(again) == ["Whole."]
    assert "session/load" in methods(program)


@pytest.mark.parametrize("deaf", [False, True])
async def test_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaf: bool) -> None:
    """What it asks meanwhile is closed; one that does not hear is ended. The run is cancelled, not failed."""
    monkeypatch.setattr("sightline.providers._channel_run._SECONDS_TO_STOP", 0.2 if deaf else 20)
    program = install(tmp_path / "bin", [words("Half"), ask_for(5)])
    if deaf:
        (program.parent / "deaf").touch()
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    run = await channel.run(ProviderPrompt(prompt="Hi."))
    events: list[Event] = []
    async with asyncio.timeout(30):
        async for batch in run.events():
            events += batch
            if of(Request, batch):
                await run.cancel()
        assert not channel.answer("5", "once")
        closed = {"jsonrpc": "2.0", "id": 5, "result": {"outcome": {"outcome": "cancelled"}}}
        while not deaf and closed not in sent(program):  # noqa: ASYNC110, what another process has read
            await asyncio.sleep(0.01)
    await channel.close()
    assert events[-1].stop_reason == "cancelled"
    assert run.outcome.cancelled
    assert not of(Error, events)


async def test_it_is_closed_though_nobody_reads(tmp_path: Path) -> None:
    """What was said and not read does not keep its process, or who ends it."""
    program = install(tmp_path / "bin", [*[words("word " * 20_000)] * 1000, DONE])
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    async with asyncio.timeout(30):
        run = await channel.run(ProviderPrompt(prompt="Hi."))
        assert isinstance(run, ChannelRun)
        while run._queue.qsize() < _BATCHES_AT_MOST:  # noqa: ASYNC110, as much as another process has said
            await asyncio.sleep(0.01)
        await channel.close()
    assert run.over


async def test_a_flood_waits_to_be_read(tmp_path: Path) -> None:
    """More lines than the queue holds arrive complete, in order."""
    program = install(tmp_path / "bin", [*[words(f"{number} ") for number in range(20_000)], DONE])
    channel = GeminiChannel(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi."))
    finally:
        await channel.close()
    assert words_of(events) == ["".join(f"{number} " for number in range(20_000))]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["\x1b[31m", "a\nb", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "sessionId", "update", "sessionUpdate", "content", "type", "text", "toolCallId", "title", "kind", "status",
        "locations", "path", "oldText", "newText", "entries", "options", "optionId", "name", "toolCall", "stopReason",
        "_meta", "quota", "token_count", "input_tokens", "message", "code",
    ]), inner, max_size=6),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*_HANDLERS, "new"]), values, values), max_size=4))
@example(
    [
        ("tool_call", {"toolCallId": "x__y", "status": []}, None),
        ("tool_call_update", {"toolCallId": "x__y", "status": {}}, None),
    ]
)
def test_no_line_can_break_it(updates: list[tuple[str, Any, Any]]) -> None:
    """Whatever a message holds, it becomes clean events or none."""
    channel = GeminiChannel(ProviderPrompt(prompt=""))
    channel._handle = "S1"
    messages: list[dict[str, Any]] = []
    for kind, fields, other in updates:
        fields = fields if isinstance(fields, dict) else {"content": fields, "toolCallId": "x__y"}
        params = {"sessionId": "S1", "update": {**fields, "sessionUpdate": kind}}
        about = {"toolCall": {"toolCallId": "a", **fields}, "options": [other, ONCE]}
        messages += [
            {"method": "session/update", "params": params},
            {"method": "session/request_permission", "id": other, "params": about},
            {"method": "session/request_permission", "id": 1, "params": {**about, "options": [ONCE]}},
            {"id": 0, "result": other},
        ]
    for message in messages:
        for event in channel.parse_events(msgspec.json.encode(message)):
            encode_event(event)
            if not isinstance(event, ToolOutput):
                assert_clean(event)


@pytest.mark.parametrize(
    "line", [b"not json", b"[]", b'{"method": 3}', b"\xff\xfe", b'{"id": {}, "result": 1}', b"null"]
)
def test_a_line_that_is_no_message_is_told_as_unknown_or_nothing(line: bytes) -> None:
    """It does not end the conversation."""
    events = GeminiChannel(ProviderPrompt(prompt="")).parse_events(line)
    assert all(isinstance(event, Unknown) for event in events)


def test_half_a_character_is_not_shown_before_its_other_half() -> None:
    """A pair of escapes cut between two pieces is one character."""
    channel = GeminiChannel(ProviderPrompt(prompt=""))
    channel._handle = "S1"
    events: list[Event] = []
    for half in ("\\ud83d", "\\ude00"):
        text = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"' + half + '"}}'
        line = '{"method":"session/update","params":{"sessionId":"S1","update":' + text + "}}"
        events += channel.parse_events(line.encode())
    assert "".join(event.text for event in of(Text, events)) == "😀"


def test_a_status_that_is_no_word_is_none() -> None:
    """A list is no status, and no reason to stop reading."""
    source = ChannelSource("/")
    events = source.updated({"sessionUpdate": "tool_call", "toolCallId": "a__a_1_0", "status": ["failed"]}, b"")
    assert [type(event) for event in events] == [ToolUse]
