"""The agent in bad weather: stopped at every moment, cut off, fed what no encoder takes, and run over its limits."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.agent import NewArgs
from sightline.agent.conversation._compaction import cut_at
from sightline.agent.loop._model_request import tidy
from sightline.conversation import (
    AssistantMessage,
    CallPart,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from sightline.events import (
    Error,
    Event,
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
    ToolUpdate,
    ToolUse,
    TurnEnded,
    TurnStarted,
)
from sightline.exceptions import UserMistake
from sightline.models import Assembly, ModelFacts, ModelRequest, Piece
from sightline.secrets import Secrets
from sightline.tools import Image, Outcome, Tool, ToolContext
from tests.agent.support import Lab, kept, lab

SECRET = "sk-very-secret-0123456789"


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


def write(path: str, content: str = "x\n") -> dict[str, object]:
    return {"tool": "write", "args": {"path": path, "content": content}}


def assert_sound(events: list[Event]) -> None:
    """What holds for every session: numbers without gaps, and for each call one end, which is its last event."""
    assert [event.seq for event in events] == list(range(events[0].seq, events[0].seq + len(events)))
    calls = [event for event in events if isinstance(event, ToolArgs | ToolUse | ToolOutput | ToolUpdate | ToolResult)]
    ends = Counter(event.id for event in calls if isinstance(event, ToolResult))
    assert {event.id: ends[event.id] for event in calls} == {event.id: 1 for event in calls}
    last = {event.id: event for event in calls}
    assert all(isinstance(event, ToolResult) for event in last.values())
    assert sum(isinstance(e, RunStarted) for e in events) == sum(isinstance(e, RunEnded) for e in events)
    assert sum(isinstance(e, TurnStarted) for e in events) == sum(isinstance(e, TurnEnded) for e in events)


async def until_idle(here: Lab) -> None:
    while here.agent.busy:
        await here.ended()


class Scripted:
    """A model that does what a function says."""

    api = "scripted"

    def __init__(self, play: Callable[[ModelRequest], AsyncIterator[Piece]], context: int | None = None) -> None:
        self.facts = ModelFacts(id="odd", provider="odd", context=context)
        self.stream = play
        self.closed = False

    async def close(self) -> None:
        self.closed = True


# Calls that were shown


@pytest.mark.parametrize("kind", ["cut", "protocol", "overloaded"])
async def test_a_call_in_an_answer_that_broke_off_has_an_end(tmp_path: Path, kind: str) -> None:
    """The call that was shown while it was written is the one that ends, and no other."""
    broken = [{"text": "let me"}, bash("echo no"), {"error": {"kind": kind, "message": "broke off"}}]
    async with lab(tmp_path, [broken, [{"text": "again"}]], settings={"retry.base_ms": "1"}) as here:
        await here.run()
        assert_sound(here.seen)
        shown = {event.id for event in here.of(ToolArgs)}
        assert {event.id for event in here.of(ToolResult)} == shown
        assert len(shown) == 1


async def test_the_retry_after_a_cut_is_over_when_the_answer_comes(tmp_path: Path) -> None:
    """A view that shows `asking again` is told that this is over."""
    broken = [{"text": "let me"}, {"error": {"kind": "cut", "message": "broke off"}}]
    async with lab(tmp_path, [broken, [{"text": "again"}]]) as here:
        await here.run()
        assert here.session.snapshot().state["retry"] is None


async def test_a_retry_that_is_stopped_is_over(tmp_path: Path) -> None:
    """Stopping in the wait before another attempt clears what was said about it."""
    failing = [{"error": {"kind": "overloaded", "message": "busy", "retry_after": 50}}]
    async with lab(tmp_path, [failing, [{"text": "never"}]]) as here:
        await here.agent.prompt("go")
        await here.first(State, lambda state: state.key == "retry")
        here.agent.stop()
        assert (await here.ended()).exit_code == 130
        assert here.session.snapshot().state["retry"] is None
        assert_sound(here.seen)


async def test_cuts_are_counted_in_a_row(tmp_path: Path) -> None:
    """A long run may be cut now and then: only as many in a row as are allowed end it."""
    cut = [{"text": "a"}, {"error": {"kind": "cut", "message": "broke off"}}]
    turns: list[Any] = []
    for _ in range(4):
        turns += [cut, [bash("true")]]
    async with lab(tmp_path, [*turns, [{"text": "done"}]], settings={"retry.attempts": "2"}) as here:
        assert (await here.run()).exit_code == 0


async def test_a_client_with_a_bug_ends_the_run_and_not_the_session(tmp_path: Path) -> None:
    """Whatever a model's client raises, the run has its end, and the next prompt works."""

    async def play(request: ModelRequest) -> AsyncIterator[Piece]:
        assembly = Assembly("scripted", "odd")
        yield assembly.text(0, "so far")  # type: ignore[misc]
        raise ZeroDivisionError("oops")

    async with lab(tmp_path, [[{"text": "fine"}]]) as here:
        good, here.agent.model.model = here.agent.model.model, Scripted(play)  # type: ignore[assignment]
        outcome = await here.run()
        assert outcome.exit_code == 1
        assert "ZeroDivisionError" in here.of(Error)[-1].text
        assert_sound(here.seen)
        here.agent.model.model = good
        assert (await here.run("again")).exit_code == 0
        assert_sound(here.seen)


# Stopping


async def test_stopping_makes_no_further_calls(tmp_path: Path) -> None:
    """What the same answer still wanted to do is not done, and each call says so."""
    turns = [[bash("echo on; sleep 60"), write("f.txt"), bash("touch g.txt")], [{"text": "never"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        await here.first(ToolOutput)
        here.agent.stop()
        assert (await here.ended()).exit_code == 130
        assert not (tmp_path / "work" / "f.txt").exists()
        assert not (tmp_path / "work" / "g.txt").exists()
        assert_sound(here.seen)
        ends = here.of(ToolResult)
        assert len(ends) == 3
        assert all(end.is_error and end.details["ended"] == "cancelled" for end in ends)
        assert len([m for m in here.messages if isinstance(m, ToolMessage)]) == 3


async def test_stopping_twice_is_stopping_once(tmp_path: Path) -> None:
    """The second time takes nothing away: the command's output is its result, and nothing follows that."""
    stubborn = "trap 'sleep 0.3; echo last words; exit 0' TERM; echo on; while :; do sleep 0.02; done"
    async with lab(tmp_path, [[bash(stubborn)], [{"text": "never"}]]) as here:
        await here.agent.prompt("go")
        call = (await here.first(ToolOutput)).id
        here.agent.stop()
        await asyncio.sleep(0)
        here.agent.stop()
        here.agent.calls.cancel(call)
        assert (await here.ended()).exit_code == 130
        assert_sound(here.seen)
        assert "last words" in here.of(ToolResult)[-1].content
    assert_sound(kept(tmp_path, here.session.id))


async def test_stopping_before_the_first_step_and_after_the_end(tmp_path: Path) -> None:
    """A prompt that is stopped at once comes back; stopping what is over is nothing."""
    async with lab(tmp_path, [[{"text": "one"}]]) as here:
        await here.agent.prompt("go")
        assert here.agent.stop().texts == ["go"]
        assert (await here.ended()).exit_code == 130
        assert here.agent.stop().texts == []
        assert (await here.run("again")).exit_code == 0
        assert here.agent.stop().texts == []
        assert_sound(here.seen)


class Hanging(Tool[Any]):
    """Waits for ever, and says when it is let go."""

    name, description, params = "hang", "hangs", msgspec.defstruct("Nothing", [])
    let_go = False

    async def execute(self, params: Any, context: ToolContext) -> Outcome:
        try:
            context.update({"waiting": True})
            await asyncio.Event().wait()
        finally:
            self.let_go = True
        return Outcome()


async def test_stopping_in_a_hook(tmp_path: Path) -> None:
    """A hook that waits does not keep the run from ending."""
    begun = asyncio.Event()

    async def hook(call: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with lab(tmp_path, [[bash("touch f.txt")]]) as here:
        here.agent.hooks.add("before_call", hook)
        await here.agent.prompt("go")
        await asyncio.wait_for(begun.wait(), 10)
        here.agent.stop()
        assert (await here.ended()).exit_code == 130
        assert not (tmp_path / "work" / "f.txt").exists()
        assert_sound(here.seen)


async def test_stopping_in_a_compaction(tmp_path: Path) -> None:
    """The summary is given up at once, and the conversation stays as it was."""
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "summary", "delay_ms": 60000}]]')
    settings = {"models.small": f"scripted:{small}", "compaction.keep_recent": "10"}
    async with lab(tmp_path, [[{"text": "x" * 400}], [{"text": "y"}]], settings=settings) as here:
        await here.run("one " * 100)
        before = list(here.messages)
        here.agent.model.model.facts = msgspec.structs.replace(here.agent.model.facts, context=50)  # type: ignore[misc]
        await here.agent.prompt("two " * 100)
        await here.first(State, lambda state: state.key == "compaction")
        here.agent.stop()
        assert (await asyncio.wait_for(here.ended(), 60)).exit_code == 130
        assert here.session.snapshot().state["compaction"] is None
        assert here.messages[: len(before)] == before
        assert_sound(here.seen)


async def test_a_prompt_right_after_the_end_is_one_run(tmp_path: Path) -> None:
    """A prompt that comes in the moment a run ends begins one run, which can be stopped."""
    slow = {"text": "x" * 1000, "chunk": 1, "delay_ms": 5}
    async with lab(tmp_path, [[{"text": "one"}], [slow]]) as here:
        await here.agent.prompt("first")
        task = here.agent._task
        assert task is not None
        while not task.done():  # noqa: ASYNC110, the very moment counts
            await asyncio.sleep(0)
        await here.agent.prompt("second")
        await here.until(lambda: len(here.of(RunStarted)) == 2 and len(here.of(Text)) > 3)
        here.agent.stop()
        await until_idle(here)
        await here.ended()
        assert_sound(here.seen)
        assert len(here.of(RunStarted)) == 2


async def test_nothing_begins_in_a_session_that_ends(tmp_path: Path) -> None:
    """A prompt for an agent that was closed is refused."""
    async with lab(tmp_path, [[{"text": "one"}]]) as here:
        await here.agent.close()
        with pytest.raises(UserMistake):
            await here.agent.prompt("go")


# What a tool may do


class Odd(Tool[Any]):
    """Does what a function says."""

    name, description, params = "odd", "odd", msgspec.defstruct("Nothing2", [])

    def __init__(self, work: Callable[[ToolContext], Any]) -> None:
        self.work = work

    async def execute(self, params: Any, context: ToolContext) -> Outcome:
        said = self.work(context)
        return await said if asyncio.iscoroutine(said) else said


ODD = {"tool": "odd", "args": {}}


async def test_details_that_are_no_data_are_no_disaster(tmp_path: Path) -> None:
    """A tool of somebody's own may put anything into its details; nothing else is lost by that."""

    def work(context: ToolContext) -> Outcome:
        context.update({"path": Path("/x"), "object": object()})
        context.output("before\n", "stdout")
        return Outcome(text="fine", details={"path": Path("/x"), "set": {1}, "loop": object()})

    async with lab(tmp_path, [[ODD], [{"text": "on"}]], tools=(Odd(work),)) as here:
        assert (await here.run()).exit_code == 0
        assert_sound(here.seen)
        assert here.of(ToolResult)[0].content == "fine"
        assert here.of(ToolResult)[0].details["path"] == "/x"
    assert kept(tmp_path, here.session.id)[: len(here.seen)] == here.seen


async def test_a_value_that_cannot_be_kept_fails_its_call_alone(tmp_path: Path) -> None:
    """What was published before it is still kept and seen."""

    def work(context: ToolContext) -> Outcome:
        context.output("before\n", "stdout")
        context.keep("thing", object())
        return Outcome(text="never")

    async with lab(tmp_path, [[ODD], [{"text": "on"}]], tools=(Odd(work),)) as here:
        assert (await here.run()).exit_code == 0
        assert_sound(here.seen)
        assert here.of(ToolOutput)[0].content == "before\n"
        assert here.of(ToolResult)[0].is_error


async def test_nothing_of_a_call_follows_its_end(tmp_path: Path) -> None:
    """A tool that goes on after it returned is no longer heard."""
    contexts: list[ToolContext] = []

    def work(context: ToolContext) -> Outcome:
        contexts.append(context)
        context.output("in time\n", "stdout")
        return Outcome(text="done")

    async with lab(tmp_path, [[ODD], [{"text": "on"}], [{"text": "two"}]], tools=(Odd(work),)) as here:
        await here.run()
        contexts[0].output("too late\n", "stdout")
        contexts[0].update({"too": "late"})
        await here.run()
        assert_sound(here.seen)
        assert [event.content for event in here.of(ToolOutput)] == ["in time\n"]
    assert kept(tmp_path, here.session.id)[: len(here.seen)] == here.seen


async def test_a_command_its_tool_forgot_is_ended_with_the_call(tmp_path: Path) -> None:
    """Only as a job does a command outlive its call."""
    from sightline.exec import CommandSpec

    def work(context: ToolContext) -> Outcome:
        assert context.start is not None
        script = "echo $$ > pid; trap '' TERM; while :; do echo on; sleep 0.02; done"
        context.start(CommandSpec(argv=("sh", "-c", script), cwd=str(context.cwd)))
        return Outcome(text="done")

    # It may be ended before its first line.
    waits = bash("for i in $(seq 100); do [ -e pid ] && break; sleep 0.01; done; sleep 0.2")
    async with lab(tmp_path, [[ODD], [waits], [{"text": "on"}]], tools=(Odd(work),)) as here:
        await here.run()
        assert_sound(here.seen)


async def test_a_tool_that_exits_fails_alone(tmp_path: Path) -> None:
    """`sys.exit` in somebody's tool is not the end of the host."""

    def work(context: ToolContext) -> Outcome:
        raise SystemExit(4)

    async with lab(tmp_path, [[ODD], [{"text": "on"}]], tools=(Odd(work),)) as here:
        assert (await here.run()).exit_code == 0
        assert here.of(ToolResult)[0].is_error


async def test_output_before_a_tool_raises_is_kept(tmp_path: Path) -> None:
    """What it said stands before its end."""

    def work(context: ToolContext) -> Outcome:
        context.output("half\n", "stderr")
        raise ValueError(f"broken with {SECRET}")

    async with lab(tmp_path, [[ODD], [{"text": "on"}]], tools=(Odd(work),), environ={"MY_API_KEY": SECRET}) as here:
        await here.run()
        assert_sound(here.seen)
        assert here.of(ToolOutput)[0].content == "half\n"
        assert "ValueError" in here.of(ToolResult)[0].content
        assert SECRET not in here.of(ToolResult)[0].content


async def test_an_image_that_cannot_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk does not end the run."""

    def full(name: str, data: bytes) -> str:
        raise OSError(28, "No space left on device")

    def work(context: ToolContext) -> Outcome:
        return Outcome(text="look", images=(Image("image/png", b"x"),))

    async with lab(tmp_path, [[ODD], [{"text": "on"}]], tools=(Odd(work),)) as here:
        monkeypatch.setattr(here.agent.workplace.artifacts, "store", full)
        assert (await here.run()).exit_code == 0
        told = next(text_of(message) for message in here.messages if isinstance(message, ToolMessage))
        assert "No space left" in told


# What no encoder takes


async def test_a_prompt_that_is_no_text(tmp_path: Path) -> None:
    """Lone surrogates and NULs are no reason to fail."""
    async with lab(tmp_path, [[{"text": "fine"}]]) as here:
        assert (await here.run("a\udcff\x00b")).exit_code == 0
        assert_sound(here.seen)
        assert text_of(here.messages[0]).startswith("a")
    assert kept(tmp_path, here.session.id)[: len(here.seen)] == here.seen


async def test_arguments_and_names_that_are_no_text(tmp_path: Path) -> None:
    """A model's call may have anything in it: it is answered, and shown without what drives a terminal."""

    async def play(request: ModelRequest) -> AsyncIterator[Piece]:
        assembly = Assembly("scripted", "odd")
        if any(isinstance(message, ToolMessage) for message in request.messages):
            yield assembly.text(0, "done")  # type: ignore[misc]
        else:
            yield assembly.call(0, "ba\x1b[31msh\udc00")  # type: ignore[misc]
            yield assembly.arguments(0, '{"command": "echo \\ud800 \x9b31m \u202e"}')  # type: ignore[misc]
        yield assembly.done("stop")

    async with lab(tmp_path, []) as here:
        here.agent.model.model = Scripted(play)  # type: ignore[assignment]
        outcome = await here.run()
        assert outcome.exit_code == 0, outcome
        assert_sound(here.seen)
        said = b"".join(msgspec.json.encode(event) for event in here.seen).decode()
        assert "\x1b" not in said
        assert "\\u001b" not in said
        assert "\x9b" not in said
        assert "\u202e" not in said


async def test_what_is_too_long_for_one_record_is_shown_as_it_is_kept(tmp_path: Path) -> None:
    """A long prompt, long arguments and a long result: live and replayed are the same."""

    def work(context: ToolContext) -> Outcome:
        context.update({"long": "u" * 3_000_000})
        return Outcome(text="r" * 3_000_000, details={"ui": {"kind": "read"}, "rows": ["d" * 1000] * 3000})

    turns = [[write("f.txt", "w" * 3_000_000) | {"chunk": 100_000}, ODD], [{"text": "done"}]]
    async with lab(tmp_path, turns, tools=(Odd(work),)) as here:
        assert (await here.run("p" * 3_500_000)).exit_code == 0
        assert_sound(here.seen)
        assert (tmp_path / "work" / "f.txt").stat().st_size == 3_000_000
        assert len(text_of(here.messages[0])) == 3_500_000
    assert kept(tmp_path, here.session.id)[: len(here.seen)] == here.seen


# Secrets


@pytest.mark.parametrize("chunk", [1, 3, 7, 24, 200])
async def test_a_secret_in_pieces_is_masked(tmp_path: Path, chunk: int) -> None:
    """However a model's words are cut, the value is nowhere: words, thinking, arguments, plan, title, journal."""
    turns = [
        [
            {"reasoning": f"the key is {SECRET} it is", "chunk": chunk},
            {"text": f"key={SECRET}, sk-very-nice, {SECRET[:10]}", "chunk": chunk},
            {"tool": "bash", "args": {"command": f"echo {SECRET}"}, "chunk": chunk},
            {"tool": "todo", "args": {"ops": [{"op": "init", "items": [f"use {SECRET}"]}]}, "chunk": chunk},
        ],
        [{"text": f"end {SECRET[:5]}", "chunk": chunk}],
    ]
    async with lab(tmp_path, turns, environ={"MY_API_KEY": SECRET}) as here:
        await here.run(f"use {SECRET}")
        assert_sound(here.seen)
        words = "".join(event.text for event in here.of(Text))
        assert words == f"key=[secret MY_API_KEY], sk-very-nice, {SECRET[:10]}end {SECRET[:5]}"
        blocks = dict.fromkeys(event.block for event in here.of(Text))
        assert len(blocks) == 2
        session = here.session.id
    for path in (tmp_path / "home" / "sessions" / session).glob("*.jsonl"):
        assert SECRET.encode() not in path.read_bytes()
    shown = "".join(event.text for event in here.of(Text)) + "".join(event.delta for event in here.of(ToolArgs))
    assert SECRET not in shown


async def test_words_held_back_are_said_when_it_is_stopped(tmp_path: Path) -> None:
    """What may be the beginning of a secret waits, but is not lost."""
    turns = [[{"text": f"so {SECRET[:6]}", "chunk": 100}, {"text": "x", "delay_ms": 60000}]]
    async with lab(tmp_path, turns, environ={"MY_API_KEY": SECRET}) as here:
        await here.agent.prompt("go")
        await here.first(Text)
        here.agent.stop()
        await here.ended()
        assert "".join(event.text for event in here.of(Text)) == f"so {SECRET[:6]}"
        assert text_of(here.messages[-1]) == f"so {SECRET[:6]}"


async def test_a_secret_is_not_in_a_refusal(tmp_path: Path) -> None:
    """What is refused, and what is asked, is told without it, and without what drives a terminal."""
    command = f"curl -H {SECRET}\x1b[31m x"
    async with lab(tmp_path, [[bash(command)], [{"text": "ok"}]], approval="ask", environ={"A_TOKEN": SECRET}) as here:
        assert (await here.run()).exit_code == 3
        said = repr(here.seen)
        assert SECRET not in said
        assert "\\x1b" not in said
    folder = tmp_path / "asked"
    folder.mkdir()
    async with lab(
        folder, [[bash(command)], [{"text": "ok"}]], approval="ask", attended=True, environ={"A_TOKEN": SECRET}
    ) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        here.agent.requests.answer(request.id, "no")
        await here.ended()
        assert SECRET not in repr(here.seen)
        assert "\\x1b" not in repr(here.seen)


async def test_a_secret_is_not_in_what_a_client_says_went_wrong(tmp_path: Path) -> None:
    """A server may repeat the key it did not like."""
    failing = [{"error": {"kind": "auth", "message": f"bad key {SECRET}"}}]
    async with lab(tmp_path, [failing], environ={"A_TOKEN": SECRET}) as here:
        outcome = await here.run()
        assert SECRET not in repr(here.seen)
        assert SECRET not in outcome.error


def test_what_is_held_back_is_never_more_than_a_beginning() -> None:
    """Every way of cutting a text gives the same masked text as the whole."""
    secrets = Secrets({"A_TOKEN": "abcabcabd", "B_TOKEN": "cabcab-long-one"})
    for text in ("xxabcabcabcabdyy", "abcabcab", "cabcabcab-long-onecab", "ab" * 20, "abcabcabdabcabcabd"):
        for cut in range(1, len(text)):
            stream = secrets.stream()
            pieces = [stream.feed(text[at : at + cut]) for at in range(0, len(text), cut)]
            assert "".join(pieces) + stream.end() == secrets.masked(text), (text, cut)


# Approvals


async def test_a_yes_for_the_session_answers_the_others(tmp_path: Path) -> None:
    """Two calls ask at once; a rule that allows both answers both."""
    turns = [[bash("echo a"), bash("echo b")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="ask", attended=True) as here:
        await here.agent.prompt("go")
        await here.until(lambda: len(here.of(Request)) == 2)
        first = here.of(Request)[0]
        assert here.agent.requests.answer(first.id, {"choice": "this session", "rule": "exec(echo *)"})
        assert (await here.ended()).exit_code == 0
        assert len(here.of(RequestResolved)) == 2
        assert [m.is_error for m in here.messages if isinstance(m, ToolMessage)] == [False, False]


async def test_a_rule_that_cannot_be_remembered_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person said yes: it is done, and said that it will not be remembered."""
    home = tmp_path / "a file"
    home.write_text("")
    monkeypatch.setenv("SIGHTLINE_HOME", str(home / "below"))
    from sightline.settings import remember_rule

    assert remember_rule(tmp_path, "exec(echo a)")  # it says why not
    monkeypatch.undo()
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", attended=True) as here:
        monkeypatch.setenv("SIGHTLINE_HOME", str(home / "below"))
        await here.agent.prompt("go")
        request = await here.first(Request)
        here.agent.requests.answer(request.id, "always here")
        assert (await here.ended()).exit_code == 0
        assert not here.of(ToolResult)[0].is_error
        assert any("this session only" in notice.text for notice in here.of(Notice))
        monkeypatch.undo()


# Compaction


async def test_one_message_that_is_too_long_ends_the_run(tmp_path: Path) -> None:
    """When nothing is left to make shorter, the error is told: no summary of a summary for ever."""
    asked = 0

    async def play(request: ModelRequest) -> AsyncIterator[Piece]:
        nonlocal asked
        asked += 1
        assembly = Assembly("scripted", "odd")
        if request.tools:
            from sightline.models import ModelError

            raise ModelError("overflow", "too long")
        yield assembly.text(0, "a summary")  # type: ignore[misc]
        yield assembly.done("stop")

    async with lab(tmp_path, [[{"text": "one"}], [{"text": "two"}]]) as here:
        await here.run("first")
        await here.run("second")
        here.agent.model.model = Scripted(play)  # type: ignore[assignment]
        outcome = await asyncio.wait_for(here.run("x" * 100_000), 10)
        assert outcome.exit_code == 1
        assert "too long" in here.of(Error)[-1].text
        assert asked <= 10
        assert_sound(here.seen)


async def test_a_conversation_that_was_made_short_counts_as_short(tmp_path: Path) -> None:
    """What the model counted before the compaction is not what it would count now."""
    turn = {"blocks": [{"text": "x" * 400}], "usage": {"input_tokens": 90_000, "output_tokens": 100}}
    small = {"blocks": [{"text": "s"}], "usage": {"input_tokens": 100, "output_tokens": 10}}
    small_model = tmp_path / "small.json"
    small_model.write_text('[[{"text": "summary"}],[{"text": "summary"}],[{"text": "summary"}]]')
    settings = {"models.small": f"scripted:{small_model}", "compaction.keep_recent": "50"}
    async with lab(tmp_path, [turn, turn, small, small], settings=settings) as here:
        await here.run("one " * 100)
        await here.run("two " * 100)
        here.agent.model.model.facts = msgspec.structs.replace(here.agent.model.facts, context=100_000)  # type: ignore[misc]
        await here.agent.compact()
        done = len([s for s in here.of(State) if s.key == "compaction"])
        await here.run("three")
        assert len([s for s in here.of(State) if s.key == "compaction"]) == max(done, 2)


def test_a_summary_alone_is_not_summarised_again() -> None:
    """There is nothing to gain."""
    summary = UserMessage([TextPart("s" * 400)], "summary")
    assert cut_at([summary, UserMessage([TextPart("x" * 4000)])], 10) == 0
    assert cut_at([UserMessage([TextPart("s" * 400)]), UserMessage([TextPart("x" * 4000)])], 10) == 1


async def test_moving_and_compacting_wait_for_nobody(tmp_path: Path) -> None:
    """While one of them runs, or the agent does, another is refused; a prompt waits."""
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "summary", "delay_ms": 300}]]')
    settings = {"models.small": f"scripted:{small}", "compaction.keep_recent": "10"}
    async with lab(
        tmp_path, [[{"text": "x" * 400}], [{"text": "y" * 400}], [{"text": "z"}]], settings=settings
    ) as here:
        await here.run("one " * 100)
        await here.run("two " * 100)
        first = here.agent.memory.tree.path()[0].id
        compacting = asyncio.create_task(here.agent.compact())
        await here.first(State, lambda state: state.key == "compaction")
        with pytest.raises(UserMistake):
            await here.agent.move(first)
        with pytest.raises(UserMistake):
            await here.agent.compact()
        await here.agent.prompt("three")
        assert await compacting
        await here.until(lambda: bool(here.agent.busy or len(here.of(RunEnded)) == 3))
        await here.ended()
        assert text_of(here.messages[-1]) == "z"
        assert text_of(here.messages[0]).startswith("<summary")
        assert_sound(here.seen)


async def test_giving_up_a_compaction_that_was_asked_for(tmp_path: Path) -> None:
    """Stop ends it; nothing has changed."""
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "summary", "delay_ms": 60000}]]')
    settings = {"models.small": f"scripted:{small}", "compaction.keep_recent": "10"}
    async with lab(tmp_path, [[{"text": "x" * 400}], [{"text": "y" * 400}]], settings=settings) as here:
        await here.run("one " * 100)
        await here.run("two " * 100)
        before = list(here.messages)
        compacting = asyncio.create_task(here.agent.compact())
        await here.first(State, lambda state: state.key == "compaction")
        here.agent.stop()
        with pytest.raises(UserMistake):
            await asyncio.wait_for(compacting, 60)
        assert here.messages == before
        assert here.session.snapshot().state["compaction"] is None


def test_an_answer_that_was_only_thought_is_not_sent() -> None:
    """A model stopped while it was thinking said nothing that could go back to it."""
    thought = AssistantMessage([ReasoningPart("hm", "anthropic")], stop_reason="aborted")
    call = AssistantMessage([ReasoningPart("hm", "anthropic"), CallPart("c", "bash")])
    result = ToolMessage("c", "bash", [TextPart("x")])
    assert tidy([UserMessage([TextPart("a")]), thought, call, result])[1:] == [call, result]


# Models


async def test_a_model_in_use_is_not_closed_under_its_answer(tmp_path: Path) -> None:
    """Another model from the next request on: the answer that is coming is heard to its end."""
    going = asyncio.Event()

    async def play(request: ModelRequest) -> AsyncIterator[Piece]:
        assembly = Assembly("scripted", "odd")
        yield assembly.text(0, "half")  # type: ignore[misc]
        await going.wait()
        assert not model.closed
        yield assembly.text(0, " whole")  # type: ignore[misc]
        yield assembly.done("stop")

    model = Scripted(play)
    async with lab(tmp_path, [[{"text": "next"}]]) as here:
        name = here.agent.model.facts.id
        here.agent.model.model = model  # type: ignore[assignment]
        await here.agent.prompt("go")
        await here.first(Text)
        here.agent.model.choose(name)
        await asyncio.sleep(0)
        going.set()
        assert (await here.ended()).text == "half whole"
    assert model.closed


async def test_a_hook_may_not_change_what_is_shown_unseen(tmp_path: Path) -> None:
    """The call is shown as the model made it; what a hook made of it is what runs, and its result tells."""
    async with lab(tmp_path, [[bash("echo model")], [{"text": "on"}]]) as here:
        here.agent.hooks.add("before_call", lambda call: NewArgs({"command": "echo hook"}))
        await here.run()
        assert here.of(ToolUse)[0].arg == "echo model"
        assert here.of(ToolResult)[0].content == "hook"
