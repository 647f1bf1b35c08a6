"""A provider that goes on by itself when something it left running has ended: shown like any other run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Notice, Request, RunEnded, Text, ToolUse, User
from sightline.host import Abort, AnswerRequest, Prompt, SetApproval
from sightline.journal import SessionReader, Store
from tests.providers.fake_app_server import path_with
from tests.providers.fake_claude import install
from tests.providers.support import lines

from .support import until
from .test_provider_worker import desk

INIT = {"type": "system", "subtype": "init", "session_id": "S1"}
RESULT = {"type": "result", "subtype": "success"}
IDLE = {"type": "system", "subtype": "session_state_changed", "state": "idle"}
STREAMED = {"type": "stream_event", "event": {"type": "message_start"}}
ENDED = {"type": "system", "subtype": "task_notification", "summary": "The build has ended", "tool_use_id": "t1"}
WANTS = {
    "type": "control_request",
    "request_id": "q1",
    "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "t2"},
}


def says(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(blocks)}}


def text(words: str) -> dict[str, Any]:
    return says({"type": "text", "text": words})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Apart from the program: none is run from the folder it works in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program that stands for claude is; a test says what it says."""
    monkeypatch.setenv("PATH", path_with(tmp_path / "bin"))
    return tmp_path / "bin"


async def test_it_is_a_run_nobody_prompted(work: Path, store: Store, program: Path) -> None:
    """What it says, asks and does is told as it happens and kept; the next prompt follows it."""
    asking = lines(
        STREAMED, WANTS, says({"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make"}})
    )
    own = lines(INIT, text("One."), RESULT, IDLE, ENDED, INIT) + asking + b"WAIT\n" + lines(text("Two."), RESULT)
    install(program, own, lines(INIT, text("Three."), RESULT))
    async with desk(store, provider="claude", cwd=str(work)) as it:
        assert (await it.session.submit(Prompt("Go."))).ok
        await until(lambda: it.of(Request) and it.of(ToolUse), "a question")
        assert [notice.text for notice in it.of(Notice)] == ["The build has ended"]
        (request,) = it.of(Request)
        assert request.details["call"] == it.of(ToolUse)[0].id  # told after it was asked about
        assert (await it.session.submit(AnswerRequest(request.id, "once"))).ok
        await until(lambda: len(it.of(RunEnded)) == 2, "the end of it")
        await it.done()
        assert (await it.session.submit(Prompt("Next."))).ok
        await until(lambda: len(it.of(RunEnded)) == 3, "the answer")
        await it.done()
        folder = it.session.folder
        assert [event.text for event in it.of(Text)] == ["One.", "Two.", "Three."]
        assert [event.text for event in it.of(User)] == ["Go.", "Next."]
    assert [event.text for event in SessionReader(folder).events() if isinstance(event, Text)] == [
        "One.",
        "Two.",
        "Three.",
    ]


async def test_it_goes_on_under_no_level_that_was_taken_back(work: Path, store: Store, program: Path) -> None:
    """What was opened to do everything is ended when less is chosen: it does nothing by itself any more."""
    own = lines(INIT, text("One."), RESULT, IDLE) + b"LATER\n" + lines(ENDED, INIT, STREAMED, text("Two."), RESULT)
    install(program, own, lines(INIT, text("Three."), RESULT))
    async with desk(store, provider="claude", cwd=str(work), approval="full") as it:
        assert (await it.session.submit(Prompt("Go."))).ok
        await it.done()
        reply = await it.session.submit(SetApproval(level="plan"))
        assert (reply.data["level"], reply.data["next"]) == ("plan", False)
        (program / "now").touch()
        (program / "prompt-1.jsonl").write_bytes(lines(INIT, text("Three."), RESULT))
        assert (await it.session.submit(Prompt("Next."))).ok
        await until(lambda: len(it.of(RunEnded)) == 2, "the answer")
        await it.done()
        assert [event.text for event in it.of(Text)] == ["One.", "Three."]
    started = (program / "arguments.txt").read_text().splitlines()
    assert ["--dangerously-skip-permissions" in line for line in started] == [True, False]


async def test_it_can_be_stopped(work: Path, store: Store, program: Path) -> None:
    """Like one that was prompted, and nothing of it is given back as a prompt."""
    own = lines(INIT, RESULT, IDLE, ENDED, INIT, text("On and on.")) + b"WAIT\n"
    install(program, own)
    async with desk(store, provider="claude", cwd=str(work)) as it:
        assert (await it.session.submit(Prompt("Go."))).ok
        await until(lambda: it.of(Text), "words of its own")
        reply = await it.session.submit(Abort())
        assert reply.data == {"queued": [], "attachments": []}
        await it.done()
        assert [ended.stop_reason for ended in it.of(RunEnded)] == ["success", "cancelled"]


async def test_the_session_ends_although_it_goes_on(work: Path, store: Store, program: Path) -> None:
    """A host that stops does not wait for it."""
    install(program, lines(INIT, RESULT, IDLE, ENDED, INIT, text("On and on.")) + b"WAIT\n" * 3)
    (program / "deaf").touch()
    async with asyncio.timeout(20):
        async with desk(store, provider="claude", cwd=str(work)) as it:
            assert (await it.session.submit(Prompt("Go."))).ok
            await until(lambda: it.of(Text), "words of its own")
    assert it.of(RunEnded)[-1].stop_reason == "cancelled"
