"""Codex's app-server: a recording of a real one as events, whatever a line holds, and a channel that breaks."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Request,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnEnded,
    Unknown,
    encode_event,
)
from sightline.providers import EventStream, ProviderPrompt, Unreachable
from sightline.providers.codex._app_server import AppServer
from sightline.providers.codex._app_server_source import _HANDLERS, AppServerSource

from .fake_app_server import install
from .support import CAPTURES, assert_clean, lines, of, words_of

RECORDING = (CAPTURES / "codex_app_server/approvals.jsonl").read_bytes()
DONE = {"method": "turn/completed", "params": {"threadId": "T1", "turn": {"id": "U1", "status": "completed"}}}


def recorded(chunk: int = 1 << 20) -> list[Event]:
    """The recording, read by a channel that nobody waits on."""
    channel = AppServer(ProviderPrompt(prompt=""))
    first = next(line for line in RECORDING.splitlines() if b"thread/started" in line)
    channel._thread = channel._source.thread = msgspec.json.decode(first)["params"]["thread"]["id"]
    stream = EventStream(channel)
    pieces = [RECORDING[at : at + chunk] for at in range(0, len(RECORDING), chunk)]
    return [event for piece in pieces for event in stream.feed(piece)] + stream.end()


def delta(text: str, item: str = "m") -> dict[str, Any]:
    return {"method": "item/agentMessage/delta", "params": {"threadId": "T1", "itemId": item, "delta": text}}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"method": f"item/{kind}", "params": {"threadId": "T1", "item": {"id": "c", **fields}}}


async def run_of(channel: AppServer, ask: ProviderPrompt) -> list[Event]:
    run = await channel.run(ask)
    async with asyncio.timeout(20):
        return [event async for batch in run.events() for event in batch]


def test_a_recorded_session_is_told_whole() -> None:
    """Commands with their live output, a change with its diff, a plan, words and thoughts, tokens, what was asked."""
    events = recorded()
    assert words_of(events) == ["Answer one.", "Two.", "Three."]
    names = [use.name for use in of(ToolUse, events)]
    assert names == ["Bash", "Bash", "Write", "Todo", "Bash"]
    assert [output.content for output in of(ToolOutput, events)] == ["line 2\n", "line 3\n"]
    results = of(ToolResult, events)
    assert results[0].content == "line 1\nline 2\nline 3\n"
    assert "+hello" in next(result.details["diff"] for result in results if result.details)
    plan = next(state.value for state in of(State, events) if state.key == "todo")
    assert plan == [{"text": "a", "status": "completed"}, {"text": "b", "status": "in_progress"}]
    assert all(turn.usage.total_tokens for turn in of(TurnEnded, events))
    requests = of(Request, events)
    assert [request.details["what"] for request in requests][:2] == [
        "for i in 1 2 3; do echo line $i; sleep 0.3; done",
        "touch /etc/xx_probe",
    ]
    assert [request.choices for request in requests][:1] == [["once", "always here", "no"]]
    assert requests[2].details["path"].endswith("new.txt")
    assert "+hello" in requests[2].details["diff"]
    assert [ended.stop_reason for ended in of(RunEnded, events)] == ["", "", "", "cancelled"]


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_how_the_bytes_are_cut_changes_nothing(chunk: int) -> None:
    """The same events, whatever each read brings."""
    assert recorded(chunk) == recorded()


def test_a_text_that_has_more_at_its_end_than_its_deltas_is_told_once() -> None:
    """Only what was not shown is told when the item completes."""
    source = AppServerSource()
    params = {"threadId": "T1", "item": {"id": "m", "type": "agentMessage", "text": "Hello, world."}}
    events = source.notified("item/agentMessage/delta", delta("Hello")["params"], b"")
    events += source.notified("item/completed", params, b"")
    assert [event.text for event in of(Text, events)] == ["Hello", ", world."]
    assert len({event.block for event in of(Text, events)}) == 1


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["\x1b[31m", "a\nb", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "threadId", "itemId", "item", "delta", "id", "type", "text", "summary", "turn", "status", "error", "message",
        "plan", "step", "changes", "path", "kind", "diff", "tool", "receiverThreadIds", "tokenUsage", "last",
        "requestId", "command", "questions", "permissions", "availableDecisions", "agentsStates",
    ]), inner, max_size=6),
    max_leaves=12,
)  # fmt: skip
METHODS = [
    *_HANDLERS,
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "item/tool/requestUserInput",
    "something/new",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(METHODS), values, st.none() | st.integers()), max_size=4))
def test_no_line_can_break_it(messages: list[tuple[str, Any, Any]]) -> None:
    """Whatever a message holds, it becomes clean events or none."""
    channel = AppServer(ProviderPrompt(prompt=""))
    channel._source.thread = "T1"
    for method, params, id in messages:
        line = msgspec.json.encode({"method": method, "params": params, **({} if id is None else {"id": id})})
        for event in channel.parse_events(line):
            encode_event(event)
            if not isinstance(event, ToolOutput):
                assert_clean(event)


@pytest.mark.parametrize(
    "line", [b"not json", b"[]", b'{"method": 3}', b"\xff\xfe", b'{"id": {}, "result": 1}', b"null"]
)
def test_a_line_that_is_no_message_is_told_as_unknown_or_nothing(line: bytes) -> None:
    """It does not end the conversation."""
    events = AppServer(ProviderPrompt(prompt="")).parse_events(line)
    assert all(isinstance(event, Unknown) for event in events)


async def test_a_prompt_is_a_turn_of_one_thread(tmp_path: Path) -> None:
    """The thread is started once; the second prompt is another turn of it, in the same process."""
    program = install(tmp_path / "bin", lines(delta("One."), DONE), lines(delta("Two.", "n"), DONE))
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path))
    channel = AppServer(ask, str(program))
    try:
        first = await run_of(channel, ask)
        second = await run_of(channel, msgspec.structs.replace(ask, resume="T1"))
    finally:
        await channel.close()
    assert [event.session for event in of(RunStarted, first)] == ["T1"]
    assert (words_of(first), words_of(second)) == (["One."], ["Two."])
    methods = [msgspec.json.decode(line)["method"] for line in (tmp_path / "bin/asked.jsonl").read_bytes().splitlines()]
    assert methods == ["initialize", "initialized", "thread/start", "turn/start", "turn/start"]


async def test_a_program_without_app_server_is_unreachable(tmp_path: Path) -> None:
    """An old version says so before anything was asked of it."""
    program = install(tmp_path / "bin")
    (program.parent / "old").touch()
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    with pytest.raises(Unreachable, match="unrecognized subcommand") as raised:
        await channel.run(ProviderPrompt(prompt="Hi."))
    assert raised.value.hint == "update Codex: npm install -g @openai/codex"
    await channel.close()


async def test_what_codex_says_before_it_ends_is_told(tmp_path: Path) -> None:
    """Its message, not the frames below it; and no advice that would not help."""
    program = tmp_path / "codex"
    message = 'approval_policy = "untrusted" is no longer supported; remove this setting'
    frames = "".join(f"   {n}: <unknown>\\n" for n in range(7))
    said = f"Error: {message}\\n\\nStack backtrace:\\n{frames}"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write('{said}')\nsys.exit(1)\n")
    program.chmod(0o755)
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    with pytest.raises(Unreachable) as raised:
        await channel.run(ProviderPrompt(prompt="Hi."))
    assert raised.value.message == f"codex app-server ended with exit code 1: {message}"
    assert raised.value.hint == ""
    await channel.close()


@pytest.mark.parametrize(
    ("code", "said", "hint"),
    [
        (-32601, "Method not found", "update Codex: npm install -g @openai/codex"),
        (-32000, "no rollout found for thread T9", "check the session id; a session belongs to the folder"),
        (-32000, "the disk is full", ""),
    ],
)
async def test_a_refusal_has_the_hint_that_fits(tmp_path: Path, code: int, said: str, hint: str) -> None:
    """To update helps where the version is what is wrong."""
    program = tmp_path / "codex"
    answer = f"{{'id': json.loads(line)['id'], 'error': {{'code': {code}, 'message': '{said}'}}}}"
    answering = f"for line in sys.stdin: print(json.dumps({answer}), flush=True)"
    program.write_text(f"#!{sys.executable}\nimport json, sys\n{answering}\n")
    program.chmod(0o755)
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    with pytest.raises(Unreachable, match=said) as raised:
        await channel.run(ProviderPrompt(prompt="Hi."))
    assert raised.value.hint.startswith(hint)
    assert bool(raised.value.hint) == bool(hint)
    await channel.close()


async def test_a_crash_is_an_error_and_the_end_of_the_run(tmp_path: Path) -> None:
    """What was said is kept; the next prompt starts the program again and resumes the thread."""
    program = install(tmp_path / "bin", lines(delta("Half")) + b"CRASH\n", lines(DONE))
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi."))
        (program.parent / "turn-1.jsonl").write_bytes(lines(DONE))
        again = await run_of(channel, ProviderPrompt(prompt="Hi.", resume="T1"))
    finally:
        await channel.close()
    assert words_of(events) == ["Half"]
    assert [type(event) for event in events[-2:]] == [Error, RunEnded]
    assert events[-1].is_error
    assert again[-1] == RunEnded(source="codex")


async def test_one_that_does_not_stop_is_made_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that hears the interrupt and goes on is ended; the run is cancelled, not failed."""
    monkeypatch.setattr("sightline.providers._channel_run._SECONDS_TO_STOP", 0.2)
    program = install(tmp_path / "bin", lines(delta("Half")))
    (program.parent / "deaf").touch()
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    run = await channel.run(ProviderPrompt(prompt="Hi."))
    events: list[Event] = []
    async with asyncio.timeout(20):
        async for batch in run.events():
            events += batch
            if of(Text, events) and not run.over:
                await run.cancel()
    await channel.close()
    assert events[-1].stop_reason == "cancelled"
    assert run.outcome.cancelled
    assert not of(Error, events)


async def test_a_flood_waits_to_be_read(tmp_path: Path) -> None:
    """More lines than the queue holds arrive complete, in order."""
    said = [delta(f"{number} ") for number in range(20_000)]
    program = install(tmp_path / "bin", lines(*said, DONE))
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    try:
        events = await run_of(channel, ProviderPrompt(prompt="Hi."))
    finally:
        await channel.close()
    assert words_of(events) == ["".join(f"{number} " for number in range(20_000))]


def of_thread(thread: str, message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "params": {**message["params"], "threadId": thread}}


def told(*messages: dict[str, Any]) -> list[Event]:
    channel = AppServer(ProviderPrompt(prompt=""))
    channel._thread = channel._source.thread = "T1"
    return EventStream(channel).feed(lines(*messages))


SPAWN = {"type": "collabAgentToolCall", "id": "s", "tool": "spawnAgent", "prompt": "Look deep."}
SPAWNED = {**SPAWN, "receiverThreadIds": ["T2"], "agentsStates": {"T2": {"status": "pendingInit"}}}


def test_a_subagent_is_that_of_the_call_that_started_it() -> None:
    """Its thread speaks before the call has ended, which is where it is named: it is one subagent, not two."""
    warning = {"method": "warning", "params": {"threadId": "T2", "message": "No metadata."}}
    waits = {"type": "collabAgentToolCall", "id": "w", "tool": "wait"}
    ended = {"T2": {"status": "completed", "message": "Found it."}}
    events = told(
        item("started", **SPAWN),
        warning,
        of_thread("T2", delta("Found ")),
        item("completed", **SPAWNED),
        of_thread("T2", delta("it.")),
        item("started", **waits),
        item("completed", **{**waits, "agentsStates": ended}),
        DONE,
    )
    (started,) = of(AgentStarted, events)
    assert (started.call, started.task) == (of(ToolUse, events)[0].id, "Look deep.")
    assert words_of(events, started.path) == ["Found it."]
    assert [ended.path for ended in of(AgentEnded, events)] == [started.path]
    assert "".join(result.content for result in of(ToolResult, events)) == ""  # said once, by the subagent


def test_a_subagent_that_no_call_names_is_shown_all_the_same() -> None:
    """At the latest when the turn is over."""
    events = told(item("started", **SPAWN), of_thread("T2", delta("Words.")), DONE)
    (started,) = of(AgentStarted, events)
    assert words_of(events, started.path) == ["Words."]
    assert isinstance(events[-1], RunEnded)


async def test_one_subagent_can_be_stopped(tmp_path: Path) -> None:
    """Its turn is interrupted, not that of the thread that started it."""
    begun = {"method": "turn/started", "params": {"threadId": "T2", "turn": {"id": "U2"}}}
    program = install(tmp_path, lines(item("started", **SPAWN), item("completed", **SPAWNED), begun))
    channel = AppServer(ProviderPrompt(prompt=""), str(program))
    run = await channel.run(ProviderPrompt(prompt="go"))
    reading = run.events()
    async with asyncio.timeout(20):
        while "agent-1" not in {event.path for event in await anext(reading) if isinstance(event, AgentStarted)}:
            pass
        while not channel._source.thread_of("agent-1")[1]:  # noqa: ASYNC110, a condition over what another task does
            await asyncio.sleep(0.01)
        assert await channel.stop_agent("agent-1")
        assert not await channel.stop_agent("agent-7")
    await channel.close()
    asked = [msgspec.json.decode(line) for line in (tmp_path / "asked.jsonl").read_bytes().splitlines()]
    stopped = [message["params"] for message in asked if message.get("method") == "turn/interrupt"]
    assert stopped == [{"threadId": "T2", "turnId": "U2"}]
