"""One prompt's worth of work, seen from outside: events, and what is kept of them."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from sightline.conversation import AssistantMessage, ToolMessage, UserMessage, text_of
from sightline.events import (
    Error,
    Notice,
    Reasoning,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnEnded,
    TurnStarted,
    User,
)
from sightline.exec import GRACE
from sightline.journal import SessionTree
from tests.agent.support import kept, lab


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


async def test_a_run_is_told_from_its_prompt_to_its_end(tmp_path: Path) -> None:
    """run_started, the words of both, turns around what the model says, run_ended; and the same is kept."""
    async with lab(tmp_path, [[{"reasoning": "hm"}, {"text": "Hello there.", "chunk": 5}]]) as here:
        outcome = await here.run("hi")
        kinds = [type(event) for event in here.seen if not isinstance(event, State)]
        assert kinds == [RunStarted, User, TurnStarted, Reasoning, Text, Text, Text, TurnEnded, RunEnded]
        assert "".join(event.text for event in here.of(Text)) == "Hello there."
        assert len({event.block for event in here.of(Text)}) == 1
        assert outcome.exit_code == 0
        assert outcome.text == "Hello there."
        session, seen = here.session.id, list(here.seen)
    assert kept(tmp_path, session)[: len(seen)] == seen


async def test_what_is_said_becomes_the_tree(tmp_path: Path) -> None:
    """Each message is an entry whose parent is the one before it."""
    turns = [[{"text": "looking"}, bash("echo one")], [{"text": "done"}]]
    async with lab(tmp_path, turns) as here:
        await here.run("do it")
        tree = SessionTree.load(here.store.folder(here.session.id))
    path = [entry.message for entry in tree.read(tree.path()) if entry.message is not None]
    assert [type(message) for message in path] == [UserMessage, AssistantMessage, ToolMessage, AssistantMessage]
    assert text_of(path[2]) == "one"  # type: ignore[arg-type]


async def test_calls_that_may_run_at_once(tmp_path: Path) -> None:
    """Two commands that each wait for the other's file end: they ran side by side."""
    one = bash("touch a; until [ -e b ]; do sleep 0.01; done; echo first", timeout=10)
    two = bash("touch b; until [ -e a ]; do sleep 0.01; done; echo second", timeout=10)
    async with lab(tmp_path, [[one, two], [{"text": "ok"}]]) as here:
        await here.run()
        results = [text_of(message) for message in here.messages if isinstance(message, ToolMessage)]
    assert results == ["first", "second"]


async def test_an_exclusive_tool_runs_alone(tmp_path: Path) -> None:
    """A write between two commands happens after the first and before the second."""
    write = {"tool": "write", "args": {"path": "f.txt", "content": "new\n"}}
    turns = [[bash("sleep 0.1; cat f.txt"), write, bash("cat f.txt")], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        (tmp_path / "work" / "f.txt").write_text("old\n")
        await here.run()
        results = [text_of(message) for message in here.messages if isinstance(message, ToolMessage)]
    assert results[0] == "old"
    assert results[2] == "new"


async def test_words_while_it_works_come_before_the_next_request(tmp_path: Path) -> None:
    """Steering is in the next request; a follow-up waits until the model stops."""
    turns = [[bash("until [ -e go ]; do sleep 0.01; done")], [{"text": "first"}], [{"text": "second"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("begin")
        await here.first(ToolUse)
        await here.agent.prompt("and then this", how="follow_up")
        await here.agent.prompt("rather so")
        assert (await here.first(State, lambda s: s.key == "queue" and len(s.value) == 2)).value
        (tmp_path / "work" / "go").touch()
        await here.ended()
        said = [(event.text, event.how) for event in here.of(User)]
        assert said == [("begin", "prompt"), ("rather so", "steer"), ("and then this", "follow_up")]
        assert text_of(here.requests[1].messages[-1]) == "rather so"
        assert text_of(here.requests[2].messages[-1]) == "and then this"


async def test_stopping_keeps_the_words_there_were(tmp_path: Path) -> None:
    """What had been said stays, the run ends as cancelled, and what was queued comes back."""
    slow = {"text": "x" * 4000, "chunk": 1, "delay_ms": 5}
    async with lab(tmp_path, [[slow]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: len(here.of(Text)) > 3)
        await here.agent.prompt("later", how="follow_up")
        assert here.agent.stop().texts == ["later"]
        outcome = await here.ended()
        assert (outcome.exit_code, outcome.stop_reason) == (130, "cancelled")
        partial = here.messages[-1]
        assert isinstance(partial, AssistantMessage)
        assert partial.stop_reason == "aborted"
        assert 3 < len(partial.text) < 4000
        assert partial.text == "".join(event.text for event in here.of(Text))


async def test_stopping_ends_a_command_and_keeps_its_output(tmp_path: Path) -> None:
    """The call ends as cancelled with what it had written; its process is gone."""
    async with lab(tmp_path, [[bash("echo $$ > pid; echo half; sleep 60")], [{"text": "never"}]]) as here:
        await here.agent.prompt("go")
        await here.first(ToolOutput)
        here.agent.stop()
        outcome = await here.ended()
        assert outcome.exit_code == 130
        result = here.of(ToolResult)[-1]
        assert "half" in result.content
        assert result.details["ended"] == "cancelled"
        pid = int((tmp_path / "work" / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_what_is_said_while_it_is_being_stopped_is_answered(tmp_path: Path) -> None:
    """It came after the stop: it is for a run of its own, and not lost with the one that ends."""
    async with lab(tmp_path, [[bash("echo half; sleep 60")], [{"text": "answered"}]]) as here:
        await here.agent.prompt("go")
        await here.first(ToolOutput)
        here.agent.stop()
        await here.agent.prompt("something else")
        await here.until(lambda: [event for event in here.of(Text) if event.text == "answered"])
        assert [event.text for event in here.of(User)] == ["go", "something else"]


async def test_a_command_that_will_not_end_can_be_hurried(tmp_path: Path) -> None:
    """Asked twice, it is killed before the time it is given to end by itself is over."""
    async with lab(tmp_path, [[bash("trap '' INT TERM; echo up; sleep 60")]]) as here:
        await here.agent.prompt("go")
        await here.first(ToolOutput)
        here.agent.stop()
        here.session.hurry()
        assert (await asyncio.wait_for(here.ended(), GRACE - 0.5)).exit_code == 130


async def test_one_call_can_be_cancelled_alone(tmp_path: Path) -> None:
    """The other call and the run go on; the model is told."""
    turns = [[bash("echo begun; sleep 60"), bash("echo other")], [{"text": "went on"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        first = (await here.first(ToolOutput, lambda event: "begun" in event.content)).id
        assert here.agent.calls.cancel(first)
        outcome = await here.ended()
        assert outcome.exit_code == 0
        results = {result.id: result for result in here.of(ToolResult)}
        assert results[first].details["ended"] == "cancelled"
        assert [text_of(m) for m in here.messages if isinstance(m, ToolMessage)][1] == "other"


async def test_a_call_the_model_had_not_finished_is_marked(tmp_path: Path) -> None:
    """Stopped while the arguments were written: the call has an end, and no command was run."""
    call = {"tool": "bash", "args": {"command": "touch " + "x" * 2000}, "chunk": 1, "delay_ms": 5}
    async with lab(tmp_path, [[call]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: sum(type(event).__name__ == "ToolArgs" for event in here.seen) > 5)
        here.agent.stop()
        await here.ended()
        (result,) = here.of(ToolResult)
        assert result.details == {"ended": "unfinished"}
        assert result.is_error
        assert not here.of(ToolUse)
        assert {(args.name, args.native_name) for args in here.of(ToolArgs)} == {("Bash", "bash")}, (
            "as it will be called"
        )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"tool": "raed", "args": {}}, "there is no tool 'raed' (did you mean 'read'?)"),
        ({"tool": "read", "args": {"pth": "x"}}, "read has no argument 'pth' (did you mean 'path'?)"),
        ({"tool": "read", "args": {}}, "missing required field path"),
        ({"tool": "bash", "args": {"command": "ls", "timeout": "soon"}}, "bash: timeout: expected"),
        ({"tool": "bash", "args": {"command": "ls", "timeout": -1}}, "bash: timeout: expected"),
    ],
)
async def test_bad_arguments_are_answered_in_one_line(tmp_path: Path, call: dict[str, object], said: str) -> None:
    """The model hears what is wrong and can try again; nothing was run."""
    async with lab(tmp_path, [[call], [{"text": "I see"}]]) as here:
        outcome = await here.run()
        assert outcome.exit_code == 0
        (result,) = here.of(ToolResult)
        assert result.is_error
        assert said in result.content
        assert "\n" not in result.content


async def test_what_a_model_means_by_its_arguments_is_understood(tmp_path: Path) -> None:
    """A number in quotes, and a list written as text."""
    turns = [[bash("echo ok", timeout="5"), {"tool": "job", "args": {"poll": '["a-1"]'}}], [{"text": "fine"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        results = [result.content for result in here.of(ToolResult)]
    assert "ok" in results[0] + results[1]
    assert any("No matching jobs found for IDs: a-1" in result for result in results)


async def test_a_wait_for_the_server_is_seen(tmp_path: Path) -> None:
    """A refused request is made again after the time the server asked for, and told meanwhile."""
    busy = [{"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 0.01}}]
    async with lab(tmp_path, [busy, [{"text": "there"}]]) as here:
        outcome = await here.run()
        assert outcome.exit_code == 0
        waits = [event.value for event in here.of(State) if event.key == "retry"]
        assert waits[0]["attempt"] == 1
        assert "slow down" in waits[0]["reason"]
        assert waits[-1] is None


async def test_a_wait_can_be_cancelled(tmp_path: Path) -> None:
    """A minute's wait ends at once when the person stops it."""
    busy = [{"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 30}}]
    async with lab(tmp_path, [busy, [{"text": "there"}]]) as here:
        await here.agent.prompt("go")
        await here.first(State, lambda event: event.key == "retry" and event.value is not None)
        here.agent.stop()
        outcome = await asyncio.wait_for(here.ended(), 60)
        assert outcome.exit_code == 130


async def test_an_answer_that_was_cut_is_asked_for_again(tmp_path: Path) -> None:
    """What had come stays shown; the model is asked anew without it."""
    cut = [{"text": "half an ans"}, {"error": {"kind": "cut", "message": "the stream ended early"}}]
    async with lab(tmp_path, [cut, [{"text": "whole answer"}]]) as here:
        outcome = await here.run()
        assert outcome.text == "whole answer"
        assert any("the stream ended early" in notice.text for notice in here.of(Notice))
        assert [text_of(message) for message in here.requests[-1].messages] == ["go"]


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("one two ", "one two three", ["one two three"]),
        ("one two ", "one two ", ["one two "]),
        ("one two ", "another answer", ["one two ", "another answer"]),
        ("one two ", "one or another", ["one two ", "one or another"]),
    ],
)
async def test_words_shown_before_a_cut_are_not_shown_twice(
    tmp_path: Path, first: str, second: str, shown: list[str]
) -> None:
    """The block that was cut goes on where the new answer does; a different answer is told whole."""
    cut = [{"text": first, "chunk": 3}, {"error": {"kind": "cut", "message": "cut off"}}]
    async with lab(tmp_path, [cut, [{"text": second, "chunk": 2}]]) as here:
        outcome = await here.run()
        assert outcome.text == second
        blocks: dict[int, str] = {}
        for event in here.of(Text):
            blocks[event.block] = blocks.get(event.block, "") + event.text
        assert list(blocks.values()) == shown


async def test_a_failure_that_waiting_cannot_mend_ends_the_run(tmp_path: Path) -> None:
    """One error with what to do, exit code 1, and the next prompt works again."""
    turns = [[{"error": {"kind": "auth", "message": "the key is not valid"}}], [{"text": "now it is"}]]
    async with lab(tmp_path, turns) as here:
        outcome = await here.run()
        assert outcome.exit_code == 1
        assert [event.text for event in here.of(Error)] == ["the key is not valid"]
        assert here.of(RunEnded)[-1].is_error
        assert (await here.run("again")).exit_code == 0


async def test_an_empty_answer_is_said_to_be_one(tmp_path: Path) -> None:
    """The run ends, and the person hears why there are no words."""
    async with lab(tmp_path, [[]]) as here:
        assert (await here.run()).exit_code == 0
        assert [notice.text for notice in here.of(Notice)] == ["the model gave no answer"]


async def test_usage_adds_up(tmp_path: Path) -> None:
    """The run's is the sum of its turns'; what no turn knows stays unknown."""
    turns = [
        {"blocks": [bash("true")], "usage": {"input_tokens": 10, "output_tokens": 2}},
        {"blocks": [{"text": "x"}], "usage": {"input_tokens": 20, "output_tokens": 3, "cache_read_tokens": 5}},
    ]
    async with lab(tmp_path, turns) as here:
        await here.run()
        usage = here.of(RunEnded)[-1].usage
    assert msgspec.to_builtins(usage) == {"input_tokens": 30, "output_tokens": 5, "cache_read_tokens": 5}
    assert here.of(RunEnded)[-1].cost is None


@pytest.mark.parametrize("lines", [5_000, 20_000])
async def test_a_long_prompt_is_shown_whole_or_says_what_is_missing(tmp_path: Path, lines: int) -> None:
    """The agent receives all of it; how many lines an event does not have is a fact of it."""
    prompt = "\n".join(f"line {number} of a long list of things" for number in range(1, lines + 1))
    async with lab(tmp_path, [[{"text": "Read."}]]) as here:
        await here.run(prompt)
        [event] = here.of(User)
    shown = event.text.split("\n")
    if lines == 5_000:
        assert (event.text, event.left_out_lines) == (prompt, 0)
    else:
        assert len(shown) - 1 + event.left_out_lines == lines
        assert shown[-1].startswith(f"[… {event.left_out_lines:,} more lines, ")
        assert shown[-1].endswith("not shown here; the agent received all of it]")


async def test_everyone_who_asked_is_called_when_the_agent_is_idle(tmp_path: Path) -> None:
    """A second one does not take the place of the first, which is the session's own."""
    async with lab(tmp_path, [[{"text": "done"}]]) as here:
        called: list[str] = []
        here.agent.when_idle(lambda: called.append("first"))
        here.agent.when_idle(lambda: called.append("second"))
        await here.run("go")
        await asyncio.sleep(0)
        assert called == ["first", "second"]


async def test_what_follows_from_the_policy_follows_it_at_once(tmp_path: Path) -> None:
    """The sandbox, what searches leave out and what the model reads of it are derived, not copied."""
    async with lab(tmp_path, [], approval="auto", settings={"permissions.sandbox": "true"}) as here:
        agent, workplace = here.agent, here.agent.workplace
        boxed = agent.model_requests.system
        assert (workplace.limits().sandbox, workplace.limits().is_denied) == (True, None)
        agent.permissions.set_level("full")
        assert not workplace.limits().sandbox
        assert agent.model_requests.system != boxed
        policy = agent.permissions.policy
        agent.permissions.renew(policy.having("edit", [], ["read(secret/**)"]), [])
        is_denied = workplace.limits().is_denied
        assert is_denied is not None
        assert is_denied(str(workplace.cwd / "secret" / "a"))
