"""A session with an agent in it, from outside: commands over its socket, watchers, branches, and what a kill leaves."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from sightline.agent import Hooks
from sightline.conversation import ToolMessage, UserMessage, text_of
from sightline.events import (
    Error,
    Notice,
    Request,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
)
from sightline.host import StoredSession, attach, connect, recover
from sightline.host.session._commands import (
    Abort,
    AnswerRequest,
    CancelCall,
    Compact,
    Invoke,
    Label,
    MoveTo,
    Prompt,
    SetModel,
)
from sightline.host.socket._runtime import sessions_with_sockets
from sightline.journal import JournalWriter, SessionReader
from sightline.transcript import LOST, Snapshot, TranscriptCall, TranscriptMessage, TranscriptText, fold
from tests.agent.support import kept, lab, store_in
from tests.agent.test_weather import assert_sound


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


async def take(frames: Any, seen: list[Any]) -> None:
    async for frame in frames:
        seen.append(frame)


# Commands


async def test_every_command_over_the_socket(tmp_path: Path) -> None:
    """A second client prompts, steers, cancels a call, answers, labels, moves, changes the model, and aborts."""
    turns = [
        [bash("echo begun; sleep 60")],
        [{"text": "one"}],
        [{"text": "two"}],
        [{"text": "x" * 5000, "chunk": 1, "delay_ms": 5}],
    ]
    async with lab(tmp_path, turns, attended=True) as here:
        client = await connect(here.session.id)
        assert (await client.submit(Prompt("go"))).ok
        call = (await here.first(ToolOutput)).id
        assert not (await client.submit(MoveTo("e1"))).ok
        assert not (await client.submit(Compact())).ok
        assert (await client.submit(CancelCall(call))).ok
        await here.ended()
        assert not (await client.submit(CancelCall(call))).ok
        assert not (await client.submit(AnswerRequest("request-9", "once"))).ok
        assert (await client.submit(Label("e1", "the \x1b[31mbeginning"))).ok
        assert here.agent.memory.tree.labels == {"e1": "the beginning"}
        assert not (await client.submit(Label("e99", "x"))).ok
        assert not (await client.submit(MoveTo("e99"))).ok
        reply = await client.submit(MoveTo("e1"))
        assert reply.ok
        assert reply.data["prefill"] == "go"
        assert here.messages == []
        assert (await client.submit(SetModel(thinking="high"))).data["thinking"] == "high"
        assert not (await client.submit(SetModel(thinking="enormous"))).ok
        assert not (await client.submit(SetModel(model="nobody/nothing"))).ok
        assert not (await client.submit(Invoke("nothing"))).ok
        assert (await client.submit(Prompt("again"))).ok
        await here.ended()
        assert (await client.submit(Prompt("long"))).ok
        await here.until(lambda: len(here.of(Text)) > 20)
        assert (await client.submit(Prompt("later", "follow_up"))).ok
        reply = await client.submit(Abort())
        assert reply.data == {"queued": ["later"], "attachments": []}
        assert (await here.ended()).exit_code == 130
        assert not (await client.submit(Prompt("  "))).ok
        assert_sound(here.seen)
        client.close()


async def test_a_command_of_an_extension_that_fails_is_a_reply(tmp_path: Path) -> None:
    """The connection lives on, whatever the command raised or returned."""

    async def broken(args: str) -> Any:
        raise KeyError("nothing")

    async def odd(args: str) -> Any:
        return {"path": Path("/x"), "thing": object()}

    async with lab(tmp_path, []) as here:
        here.agent.commands |= {"broken": broken, "odd": odd}
        client = await connect(here.session.id)
        reply = await client.submit(Invoke("broken"))
        assert not reply.ok
        assert "KeyError" in reply.error
        reply = await client.submit(Invoke("odd"))
        assert reply.ok
        assert reply.data["path"] == "/x"
        client.close()


async def test_an_answer_over_the_socket(tmp_path: Path) -> None:
    """The first answer counts."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", attended=True) as here:
        client = await connect(here.session.id)
        await client.submit(Prompt("go"))
        request = await here.first(Request)
        assert (await client.submit(AnswerRequest(request.id, "once"))).ok
        assert not (await client.submit(AnswerRequest(request.id, "no"))).ok
        await here.ended()
        assert not here.of(ToolResult)[0].is_error
        client.close()


async def test_a_watcher_that_comes_in_the_middle_knows_the_same(tmp_path: Path) -> None:
    """A snapshot, then events: together what everybody else saw, and what is kept."""
    turns = [[{"text": "a" * 300, "chunk": 1, "delay_ms": 2}, bash("echo hi")], [{"text": "done"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        await here.until(lambda: len(here.of(Text)) > 50)
        client = await connect(here.session.id)
        frames: list[Any] = []
        watching = asyncio.create_task(take(client.subscribe(), frames))
        await here.ended()
        session = here.session.id
    await asyncio.wait_for(watching, 10)
    client.close()
    assert isinstance(frames[0], Snapshot)
    events = [event for frame in frames[1:] for event in frame]
    assert [event.seq for event in events] == list(range(frames[0].seq + 1, frames[0].seq + 1 + len(events)))
    assert fold(events, frames[0]) == fold(kept(tmp_path, session))


async def test_a_compaction_is_stopped_by_who_asked_for_it(tmp_path: Path) -> None:
    """Over the same connection: what takes long holds up nothing else."""
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "summary", "delay_ms": 60000}]]')
    settings = {"models.small": f"scripted:{small}", "compaction.keep_recent": "10"}
    async with lab(tmp_path, [[{"text": "x" * 400}], [{"text": "y" * 400}]], settings=settings) as here:
        await here.run("one " * 100)
        await here.run("two " * 100)
        client = await connect(here.session.id)
        compacting = asyncio.create_task(client.submit(Compact()))
        await here.first(State, lambda state: state.key == "compaction")
        assert (await asyncio.wait_for(client.submit(Abort()), 60)).ok
        assert not (await asyncio.wait_for(compacting, 60)).ok
        client.close()


async def test_an_event_that_cannot_be_written_is_said_alone(tmp_path: Path) -> None:
    """Those beside it are kept and seen, and no number is missing."""
    async with lab(tmp_path, []) as here:
        here.session.append(Notice("before"))
        here.session.append(Notice("\udcff"))
        here.session.append(State("x", object()))
        here.session.append(Notice("after"))
        await here.until(lambda: len(here.seen) == 4)
        assert [type(event) for event in here.seen] == [Notice, Error, Error, Notice]
        session = here.session.id
    assert kept(tmp_path, session) == here.seen


# Branches


def shown(state: Snapshot) -> list[str]:
    return [entry.text for entry in state.shown if isinstance(entry, TranscriptMessage | TranscriptText) and entry.text]


async def test_a_branch_is_the_same_live_and_replayed(tmp_path: Path) -> None:
    """After each move: what is shown is the path to the leaf, live, replayed and resumed; nothing else is gone."""
    turns = [[{"text": f"answer {number}"}] for number in range(1, 6)]
    async with lab(tmp_path, turns) as here:
        for number in (1, 2):
            await here.run(f"prompt {number}")
        second = [node for node in here.agent.memory.tree.path() if node.role == "user"][1].id
        await here.agent.move(second)
        assert shown(here.session.snapshot()) == ["prompt 1", "answer 1"]
        await here.run("prompt 3")
        assert shown(here.session.snapshot()) == ["prompt 1", "answer 1", "prompt 3", "answer 3"]
        first = here.agent.memory.tree.path()[0].id
        old = here.agent.memory.tree.leaf
        await here.agent.move(first)
        assert here.agent.memory.tree.leaf == ""
        assert shown(here.session.snapshot()) == []
        await here.run("prompt 4")
        assert shown(here.session.snapshot()) == ["prompt 4", "answer 4"]
        await here.agent.move(old)
        assert shown(here.session.snapshot()) == ["prompt 1", "answer 1", "prompt 3", "answer 3"]
        live, session = here.session.snapshot(), here.session.id
        assert fold(kept(tmp_path, session)).shown == live.shown
        assert len([entry for entry in live.entries if isinstance(entry, TranscriptMessage)]) == 4
    async with lab(tmp_path, turns, resume=session) as here:
        assert shown(here.session.snapshot()) == shown(live)
        assert [text_of(message) for message in here.messages] == shown(live)
        await here.run("prompt 5")
        assert shown(here.session.snapshot())[:-1] == [*shown(live), "prompt 5"]


async def test_a_branch_then_a_compaction_then_another(tmp_path: Path) -> None:
    """What the model remembers is the summary and what came after; each time the right first one is kept."""
    turns = [[{"text": f"answer {number} " + "x" * 400}, bash("true")] if number % 2 else [{"text": f"answer {number}"}]
             for number in range(1, 13)]  # fmt: skip
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "S1"}], [{"text": "S2"}], [{"text": "S3"}]]')
    settings = {"models.small": f"scripted:{small}", "compaction.keep_recent": "60"}
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run("prompt 1")
        await here.run("prompt 2")
        third = len(here.messages)
        await here.run("prompt 3")
        assert await here.agent.compact()
        one = [text_of(message) for message in here.messages]
        assert one[0].startswith("<summary")
        await here.run("prompt 4")
        assert await here.agent.compact()
        two = list(here.messages)
        calls = {call.id for message in two if hasattr(message, "calls") for call in message.calls}
        results = {message.call for message in two if isinstance(message, ToolMessage)}
        assert calls == results
        entries = [node for node in here.agent.memory.tree.path() if node.type == "message"]
        await here.agent.move(entries[third].id)
        assert not any(isinstance(m, UserMessage) and m.origin == "summary" for m in here.messages)
        assert await here.agent.compact()
        assert text_of(here.messages[0]).startswith("<summary")
        session, messages = here.session.id, list(here.messages)
    async with lab(tmp_path, turns, resume=session) as here:
        assert [text_of(m) for m in here.messages] == [text_of(m) for m in messages]


# What a kill leaves


@pytest.mark.parametrize("seen", [False, True])
async def test_a_killed_session_with_an_open_question_is_resumed(tmp_path: Path, seen: bool) -> None:
    """What is shown afterwards has no open request and no call without an end, whether it was looked at meanwhile or
    not, and the model reads that its call is lost."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", attended=True) as here:
        await here.agent.prompt("go")
        await here.first(Request)
        journal = here.store.folder(here.session.id) / "journal.jsonl"
        as_it_was = journal.read_bytes()
        session = here.session.id
    journal.write_bytes(as_it_was)
    if seen:
        assert recover(store_in(tmp_path), session)
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", resume=session) as here:
        assert text_of(here.messages[-1]).startswith(LOST)
        state = here.session.snapshot()
        assert state.requests == {}
        assert not state.running
        assert all(entry.content is not None for entry in state.entries if isinstance(entry, TranscriptCall))
        await here.run("go on")
    assert_sound(kept(tmp_path, session))


async def test_a_kept_session_is_attached_to(tmp_path: Path) -> None:
    """Without a host, what is kept is what is seen."""
    async with lab(tmp_path, [[{"text": "hello"}]]) as here:
        await here.run()
        session = here.session.id
    watched = await attach(store_in(tmp_path), session)
    assert isinstance(watched, StoredSession)
    frames = [frame async for frame in watched.subscribe(None)]
    assert shown(frames[0]) == ["go", "hello"]


async def test_what_fails_before_the_beginning_leaves_nothing(tmp_path: Path) -> None:
    """No session, no socket: nobody was ever in it."""
    (tmp_path / "work" / ".sightline").mkdir(parents=True)

    async def hang() -> None:
        await asyncio.Event().wait()

    notify_all = Hooks.notify

    async def notify(self: Hooks, moment: Any, *args: Any) -> None:
        if moment == "session_start":
            await hang()
        await notify_all(self, moment, *args)

    async def enter() -> None:
        async with lab(tmp_path, []):
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Hooks, "notify", notify)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(enter(), 0.5)
    assert store_in(tmp_path).sessions() == []
    assert sessions_with_sockets() == []


# Size


async def test_a_thousand_turns(tmp_path: Path) -> None:
    """A turn late in a long session costs about what an early one does, and nothing holds up the loop."""
    write = {"tool": "todo", "args": {"ops": [{"op": "view"}]}}
    turns = [[{"text": "t"}, write] for _ in range(1000)]
    async with lab(tmp_path, [*turns, [{"text": "done"}]]) as here:
        longest, over = 0.0, False

        async def watch() -> None:
            nonlocal longest
            while not over:
                began = time.monotonic()
                await asyncio.sleep(0.005)
                longest = max(longest, time.monotonic() - began - 0.005)

        watching = asyncio.create_task(watch())
        await here.agent.prompt("go")
        await here.until(lambda: len(here.of(ToolResult)) > 100)
        began = time.process_time()
        await here.until(lambda: len(here.of(ToolResult)) > 200)
        early = time.process_time() - began
        await here.until(lambda: len(here.of(ToolResult)) > 880)
        began = time.process_time()
        await here.until(lambda: len(here.of(ToolResult)) > 980)
        late = time.process_time() - began
        await here.ended()
        over = True
        await watching
    print(f"early {early * 10:.2f} ms, late {late * 10:.2f} ms a turn, longest hold-up {longest * 1000:.0f} ms")
    assert late < 4 * early + 0.2


async def test_notices_before_the_beginning_are_kept(tmp_path: Path) -> None:
    """What the settings had to say is in the journal."""
    async with lab(tmp_path, [[{"text": "x"}]]) as here:
        here.session.append(Notice("look"))
        await here.run()
    assert any(isinstance(event, Notice) for event in SessionReader(here.store.folder(here.session.id)).events())


async def test_a_full_disk_does_not_stop_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said; the run goes on; the conversation is kept once there is room, and can be resumed."""
    full = False
    really = JournalWriter.write_lines

    def write(self: JournalWriter, data: bytes) -> None:
        if full:
            raise OSError(28, "No space left on device")
        really(self, data)

    monkeypatch.setattr(JournalWriter, "write_lines", write)
    turns = [[bash("echo one")], [bash("until [ -e room ]; do sleep 0.01; done")], [{"text": "done"}], [{"text": "on"}]]
    async with lab(tmp_path, turns) as here:
        full = True
        await here.agent.prompt("go")
        await here.first(Error)
        await here.until(lambda: len(here.of(ToolUse)) == 2)
        full = False
        (tmp_path / "work" / "room").touch()
        assert (await here.ended()).exit_code == 0
        assert_sound(here.seen)
        session, messages = here.session.id, list(here.messages)
        assert len(messages) == 6
    async with lab(tmp_path, turns, resume=session) as here:
        assert here.messages == messages
        assert (await here.run("more")).exit_code == 0
