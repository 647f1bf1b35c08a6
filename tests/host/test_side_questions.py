"""`/btw`: a question beside the conversation, answered by a copy of the agent; the conversation does not know of it."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from sightline.agent import AgentSpec
from sightline.conversation import SIDE_QUESTION, AssistantMessage, ToolMessage, UserMessage, text_of
from sightline.delegation._names import as_name
from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    Request,
    RunEnded,
    RunStarted,
    Text,
    ToolResult,
    TurnEnded,
    User,
)
from sightline.host import Abort, AskAside, Compact, MoveTo, NativeRun, Prompt
from sightline.journal import SessionTree
from sightline.settings import Policy, StartOptions, load
from sightline.transcript import RECOVERY, fold
from tests.agent.support import Lab, kept, lab, store_in, write_script
from tests.agent.test_weather import assert_sound
from tests.delegation.teamwork import handed_back, of_agent, started

USAGE = {"input_tokens": 100, "output_tokens": 7, "cache_read_tokens": 90}


def aside(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"blocks": list(blocks), "aside": True, **more}


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "args": {"command": command}}


def words(here: Lab, path: str) -> str:
    return "".join(event.text for event in of_agent(here, path, Text))


def is_aside(request: Any) -> bool:
    return any(isinstance(message, UserMessage) and message.origin == SIDE_QUESTION for message in request.messages)


def own_requests(here: Lab) -> list[Any]:
    """Those of the conversation itself."""
    return [request for request in here.requests if not is_aside(request)]


async def asked(here: Lab, question: str = "What is it?") -> str:
    """The path of the agent that answers; it has ended."""
    reply = await here.running.worker.submit(AskAside(question))
    assert reply.ok, reply.error
    await here.first(AgentEnded, lambda event: event.path == reply.id)
    return reply.id


async def test_it_answers_from_the_conversation_at_a_path_of_its_own(tmp_path: Path) -> None:
    """Begins, answers live, ends; the request begins as the agent's own does, and ends in the question."""
    turns = [[{"text": "I am at work."}], aside({"text": "It is a parser, of course."}, usage=USAGE, cost=0.25)]
    async with lab(tmp_path, turns) as here:
        await here.run("Write the parser.")
        path = await asked(here, "What is it?")
        assert path == "btw-1"
        (began,) = here.of(AgentStarted)
        assert (began.path, began.task, began.aside, began.agent) == (path, "What is it?", True, "")
        assert [event.text for event in of_agent(here, path, User)] == ["What is it?"]
        assert words(here, path) == "It is a parser, of course."
        assert len(of_agent(here, path, Text)) > 1
        assert len(of_agent(here, path, RunStarted)) == len(of_agent(here, path, RunEnded)) == 1
        assert_sound(here.seen)
        own, side = here.requests
        assert (side.system, side.tools, side.thinking) == (own.system, own.tools, own.thinking)
        assert (side.max_output, side.cache_key, side.tool_choice) == (own.max_output, own.cache_key, "")
        assert side.messages[: len(own.messages)] == own.messages
        assert text_of(side.messages[-2]) == "I am at work."
        assert text_of(side.messages[-1]).endswith("\n\nWhat is it?")


async def next_request(folder: Path, *, beside: bool) -> bytes:
    """What the model is asked after a question, or without one."""
    folder.mkdir()  # noqa: ASYNC240
    turns = [[{"text": "one"}, bash("echo hi")], [{"text": "two"}], [{"text": "three"}], aside({"text": "beside"})]
    async with lab(folder, turns, work=folder.parent / "work") as here:
        await here.run("first")
        if beside:
            await asked(here, "Beside?")
        await here.run("second")
        last = msgspec.structs.replace(own_requests(here)[-1], cache_key="")
        assert beside == any(is_aside(request) for request in here.requests)
    data = msgspec.json.encode(last).replace(here.session.id.encode(), b"SESSION")
    return data.replace(str(folder).encode(), b"FOLDER")


async def test_the_next_request_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    assert await next_request(tmp_path / "with", beside=True) == await next_request(tmp_path / "without", beside=False)


async def test_while_the_agent_works(tmp_path: Path) -> None:
    """It neither waits for the run nor joins it; a call that is running has a result for it that says so."""
    turns = [
        [{"text": "I wait."}, bash("until [ -e go ]; do sleep 0.02; done; echo through")],
        [{"text": "Done."}],
        aside({"text": "I wait for a file."}),
    ]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        await here.until(lambda: bool(here.agent.calls._running))
        path = await asked(here, "What are you doing?")
        assert here.agent.busy
        assert words(here, path) == "I wait for a file."
        (tmp_path / "work" / "go").touch()
        assert (await here.ended()).text == "Done."
        first, side, second = here.requests
        *_, answer, result, question = side.messages
        assert isinstance(answer, AssistantMessage)
        assert isinstance(result, ToolMessage)
        assert result.call == answer.calls[0].id
        assert "no result yet" in text_of(result)
        assert "What are you doing?" in text_of(question)
        assert [type(message) for message in second.messages] == [UserMessage, AssistantMessage, ToolMessage]
        assert "through" in text_of(second.messages[-1])
        assert side.messages[: len(first.messages)] == first.messages
        assert [event.how for event in here.of(User) if not event.agent] == ["prompt"]
        assert_sound(here.seen)


async def test_while_something_is_asked(tmp_path: Path) -> None:
    """The request stays open, and its answer counts."""
    turns = [[bash("echo a")], [{"text": "ok"}], aside({"text": "To see an a."})]
    async with lab(tmp_path, turns, approval="edit", attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        path = await asked(here, "Why that command?")
        assert words(here, path) == "To see an a."
        assert here.agent.requests.answer(request.id, {"choice": "once"})
        assert (await here.ended()).text == "ok"
        assert not [event for event in here.of(ToolResult) if event.is_error]


async def test_it_leaves_no_trace_in_the_conversation(tmp_path: Path) -> None:
    """Not in the tree, nor after a compaction, a move, a resume or a fork; what was shown is there each time."""
    turns = [
        [{"text": "one " * 200}],
        [{"text": "two"}],
        aside({"text": "SECRETLY"}),
        aside({"text": "AGAIN"}),
        [{"text": "a summary"}],
        [{"text": "three"}],
    ]
    settings = {"compaction.keep_recent": "1"}
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run("first")
        await here.run("second")
        nodes, messages = list(here.agent.memory.tree.nodes), list(here.messages)
        await asked(here, "QUESTION?")
        assert (list(here.agent.memory.tree.nodes), here.messages) == (nodes, messages)
        assert (await here.running.worker.submit(Compact())).data == {"compacted": True}
        await asked(here, "QUESTION2?")
        assert (await here.running.worker.submit(MoveTo(nodes[1]))).ok
        session, store = here.session.id, here.store
    stored = SessionTree.load(store.folder(session))
    entries = "".join(map(str, stored.read(stored.nodes.values())))
    assert "first" in entries
    assert not any(mark in entries for mark in ("QUESTION", "SECRETLY", "AGAIN"))
    for each in (session, store.fork(session)):
        shown = "".join(event.text for event in kept(tmp_path, each) if isinstance(event, Text | User) and event.agent)
        assert shown == "QUESTION?SECRETLYQUESTION2?AGAIN"
        async with lab(tmp_path, [*turns, aside({"text": "more"})], resume=each) as here:
            assert not any("QUESTION" in text_of(message) for message in here.messages)
            assert await asked(here, "a third") == "btw-3"  # no path is used twice
            await here.run("go on")
            assert not any("QUESTION" in str(message) for message in own_requests(here)[-1].messages)


async def test_two_at_once_each_with_what_is_there(tmp_path: Path) -> None:
    """The second sees the conversation, and not the first; the agents that work are not waited for."""
    slow = {"text": "x" * 200, "chunk": 1, "delay_ms": 20}
    waits = [[bash("until [ -e go ]; do sleep 0.02; done")], handed_back()]
    scripts: dict[str, list[Any]] = {"A": waits, "B": waits}
    turns = [[started(scripts)], [{"text": "all"}], aside(slow), aside({"text": "second"})]
    async with lab(tmp_path, turns, settings={"task.max_concurrency": "1"}) as here:
        await here.agent.prompt("go")
        await here.until(lambda: here.running.worker.team.directory.bound.taken == 1)
        reply = await here.running.worker.submit(AskAside("first?"))
        await here.first(Text, lambda event: event.agent == reply.id)
        assert words(here, await asked(here, "second?")) == "second"
        assert not any("first?" in text_of(message) for message in here.requests[-1].messages)
        assert not [event for event in here.of(AgentEnded) if event.path == reply.id]
        directory = here.running.worker.team.directory
        assert {member.id for member in directory.peers(None)} <= {"A", "B"}
        assert directory.send(None, "btw-1", "hello").outcome == "failed"
        assert (await here.running.worker.submit(Abort(agent=reply.id))).ok
        await here.first(AgentEnded, lambda event: event.path == reply.id)
        assert here.agent.busy
        assert here.of(Notice)[-1].text == "stopped"
        (tmp_path / "work" / "go").touch()
        await here.ended()
        assert "btw" not in str(own_requests(here)[-1].messages)


async def test_it_takes_no_more(tmp_path: Path) -> None:
    async with lab(tmp_path, [aside({"text": "yes"})]) as here:
        path = await asked(here)
        reply = await here.running.worker.submit(Prompt("and?", agent=path))
        assert (reply.ok, reply.hint) == (False, "ask the next one with /btw")
        assert not (await here.running.worker.submit(Abort(agent=path))).ok
        reply = await here.running.worker.submit(AskAside("  "))
        assert (reply.ok, reply.hint) == (False, "write it after the command: /btw QUESTION")
        assert len(here.of(AgentStarted)) == 1
    assert as_name("btw-1") == as_name("BTW-12") == ""  # no task has the path of one
    assert as_name("btw") == "btw"


async def test_a_call_is_not_run(tmp_path: Path) -> None:
    """It has no tools, though they stand in its request; it is asked once more, for words."""
    turns = [aside({"text": "Let me look."}, bash("touch ran")), aside({"text": "It is fine."}), [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        path = await asked(here)
        assert words(here, path) == "Let me look.It is fine."
        (result,) = here.of(ToolResult)
        assert (result.agent, result.content) == (path, "not run: a side question is answered without tools")
        assert not (tmp_path / "work" / "ran").exists()
        assert_sound(here.seen)
        last = here.requests[-1].messages[-1]
        assert isinstance(last, ToolMessage)
        assert last.is_error
        assert here.messages == []


async def test_a_failure_is_its_own(tmp_path: Path) -> None:
    """It is shown under its path; the agent is not disturbed."""
    broken = {"error": {"kind": "overflow", "message": "too long"}}
    turns = [[{"text": "one"}], aside({"text": "half"}, broken), aside(broken), [{"text": "two"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        for path in (await asked(here), await asked(here)):
            (error,) = of_agent(here, path, Error)
            assert (error.text, "/compact" in error.hint) == ("too long", True)
            assert [event.is_error for event in here.of(AgentEnded) if event.path == path] == [True]
        assert words(here, "btw-1") == "half"
        assert (await here.run()).text == "two"
        assert_sound(here.seen)


async def test_escape_stops_it_with_all_the_others(tmp_path: Path) -> None:
    """Its words so far stay. The end of the session does the same."""
    slow = {"text": "x" * 500, "chunk": 1, "delay_ms": 20}
    async with lab(tmp_path, [aside(slow), aside(slow)]) as here:
        for command in (Abort(), None):
            reply = await here.running.worker.submit(AskAside("?"))
            await here.first(Text, lambda event, path=reply.id: event.agent == path)
            assert not here.session.idle
            if command is None:
                await here.session.stop()
            else:
                await here.running.worker.submit(command)
            await here.first(AgentEnded, lambda event, path=reply.id: event.path == path)
            (ended,) = of_agent(here, reply.id, RunEnded)
            assert ended.stop_reason == "cancelled"
        assert_sound(here.seen)


async def test_what_it_costs_is_in_the_totals(tmp_path: Path) -> None:
    """Each token once: the session's total is the agent's and those of all the others."""
    turns = [
        {"blocks": [{"text": "one"}], "usage": {"input_tokens": 10, "output_tokens": 1}, "cost": 0.5},
        aside(bash("x"), usage=USAGE, cost=0.25),
        aside({"text": "beside"}, usage=USAGE, cost=0.25),
    ]
    async with lab(tmp_path, turns) as here:
        await here.run()
        path = await asked(here)
        session = here.session.id
        totals = here.session.snapshot().totals
    side, own = totals[path], totals[""]
    assert (side.turns, side.input_tokens, side.output_tokens) == (2, 200, 14)
    assert (side.cache_read_tokens, side.cost) == (180, 0.5)
    assert (own.turns, own.input_tokens, own.output_tokens, own.cost) == (1, 10, 1, 0.5)
    spent = [event.cost or 0.0 for event in here.of(TurnEnded)]
    assert sum(spent) == sum(total.cost or 0.0 for total in totals.values()) == 1.0
    assert fold(kept(tmp_path, session)).totals == totals


async def test_a_killed_host_leaves_the_conversation_as_it_was(tmp_path: Path) -> None:
    """Killed at any moment: what was shown is there, has an end, and is in no conversation. An answer that was cut is
    not taken for a whole one: it is reported."""
    turns = [[{"text": "one"}], aside({"text": "a b c", "chunk": 2}), [{"text": "two"}]]
    async with lab(tmp_path, turns) as here:
        await here.run("first")
        before = list(here.messages)
        await asked(here, "QUESTION")
        session = here.session.id
        first = here.of(AgentStarted)[0].seq
        began, ended = (next(e.seq for e in here.of(kind) if e.agent == "btw-1") for kind in (RunStarted, RunEnded))
    journal = here.store.folder(session) / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    seqs = [msgspec.json.decode(line).get("seq", 0) for line in lines]
    last = seqs[-1]
    for cut in range(first, last):
        journal.write_bytes(b"".join(line for line, seq in zip(lines, seqs, strict=True) if seq <= cut))
        async with lab(tmp_path, turns, resume=session) as here:
            assert here.messages == before, cut
            shown = here.session.snapshot()
            assert not shown.agents["btw-1"].running
            assert shown.agents["btw-1"].is_error
        events = kept(tmp_path, session)
        assert_sound(events)
        reports = [event for event in events if isinstance(event, Error) and event.source == RECOVERY]
        assert len(reports) == (began <= cut < ended), cut


async def test_a_session_with_nothing_else_is_not_removed(tmp_path: Path) -> None:
    """What was shown is never lost, though there is no conversation."""
    async with lab(tmp_path, [aside({"text": "42"})]) as here:
        await asked(here)
        session = here.session.id
    assert any(isinstance(event, Text) for event in kept(tmp_path, session))


def headless(folder: Path, turns: list[Any], prompt: str, resume: str = "") -> NativeRun:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    options = StartOptions(model=write_script(folder, turns), resume=resume)
    settings = load(work, flags={"permissions.sandbox": "false"}, environ={}).settings
    spec = AgentSpec(cwd=work, settings=settings, policy=Policy("auto", ["exec"], [], work), options=options)
    return NativeRun(store_in(folder), spec, prompt)


async def read(run: NativeRun) -> list[Event]:
    async with aclosing(run.events()) as batches:
        return [event async for batch in batches for event in batch]


async def test_without_a_screen_the_answer_is_what_the_run_prints(tmp_path: Path) -> None:
    """As it comes, once; the stored conversation does not change."""
    answer = {"text": "From the side.", "chunk": 4}
    turns = [[{"text": "one"}], aside(answer, usage=USAGE, cost=0.25)]
    first = headless(tmp_path, turns, "first")
    await read(first)
    folder = store_in(tmp_path).folder(first.outcome.session)
    before = messages_of(folder)
    run = headless(tmp_path, turns, "/btw QUESTION", first.outcome.session)
    events = await read(run)
    assert (run.outcome.exit_code, run.outcome.text) == (0, "From the side.")
    pieces = [event.text for event in events if isinstance(event, Text)]
    assert len(pieces) > 1
    assert "".join(pieces) == "From the side."
    assert messages_of(folder) == before
    assert [event.cost for event in events if isinstance(event, TurnEnded)] == [0.25]


async def test_one_without_a_screen_that_was_killed_is_in_no_conversation(tmp_path: Path) -> None:
    """At any moment, though no run before it has an end."""
    turns = [aside({"text": "From the side.", "chunk": 4})]
    run = headless(tmp_path, turns, "/btw QUESTION")
    await read(run)
    journal = store_in(tmp_path).folder(run.outcome.session) / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        journal.write_bytes(b"".join(lines[:count]))
        async with lab(tmp_path, turns, resume=run.outcome.session) as here:
            assert here.messages == []


def messages_of(folder: Path) -> list[Any]:
    tree = SessionTree.load(folder)
    return [node.id for node in tree.nodes.values() if node.type not in ("model_change", "approval_change")]


async def test_without_a_screen_a_mistake_and_a_failure_have_exit_codes(tmp_path: Path) -> None:
    broken = {"error": {"kind": "auth", "message": "no such key"}}
    for prompt, code, text in (("/btw", 2, "there is no question"), ("/btw why", 1, "no such key")):
        run = headless(tmp_path, [aside(broken)], prompt)
        errors = [event for event in await read(run) if isinstance(event, Error)]
        assert ([error.text for error in errors], run.outcome.exit_code) == ([text], code)
