"""What a console asks of a session besides prompts: files, queues, commands of the person's own, the tree, settings."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import ImagePart, UserMessage, text_of
from sightline.events import Notice, Request, RequestResolved, State, Text, ToolOutput, ToolResult, ToolUse, User
from sightline.host import (
    Abort,
    AnswerRequest,
    Attach,
    CancelCall,
    Cell,
    Compact,
    Label,
    Outline,
    Prompt,
    Reload,
    Shell,
    Unqueue,
    connect,
)
from tests.agent.support import Lab, lab
from tests.host.support import until

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SLOW = [{"text": "x" * 5000, "chunk": 1, "delay_ms": 5}]


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


async def ended(here: Lab, call: str) -> ToolResult:
    return await here.first(ToolResult, lambda event: event.id == call)


def words(here: Lab) -> list[str]:
    return [text_of(message) for message in here.messages if isinstance(message, UserMessage)]


# Attachments


async def test_an_image_goes_with_a_prompt(tmp_path: Path) -> None:
    """What it is is read from its bytes; it is shown by its URL and sent to the model."""
    async with lab(tmp_path, [[{"text": "a dot"}]]) as here:
        client = await connect(here.session.id)
        reply = await client.submit(Attach("my dot.jpeg", PNG))
        assert reply.ok
        assert reply.id.startswith(f"artifact://{here.session.id}/")
        assert (await client.submit(Prompt("what is it?", attachments=[reply.id]))).ok
        await here.ended()
        (said,) = here.of(User)
        assert said.attachments == [reply.id]
        (message,) = [message for message in here.messages if isinstance(message, UserMessage)]
        assert message.parts[1] == ImagePart("image/png", reply.id)
        assert any(getattr(part, "data", "") for part in here.requests[0].messages[0].parts)
        client.close()


async def test_another_file_is_mentioned(tmp_path: Path) -> None:
    """The model is told its URL, with which it can read it; a name is never a path."""
    async with lab(tmp_path, [[{"text": "read"}]]) as here:
        reply = await here.session.submit(Attach("../../etc/notes.txt", b"remember the milk"))
        assert reply.id.endswith("-notes.txt")
        assert (await here.session.submit(Prompt("see", attachments=[reply.id]))).ok
        await here.ended()
        assert f"[attached file: {reply.id}]" in words(here)[0]
        path = here.agent.workplace.artifacts.find(reply.id)
        assert path is not None
        assert path.read_bytes() == b"remember the milk"


async def test_what_cannot_be_attached_is_refused(tmp_path: Path) -> None:
    """Too much of it, or a URL nobody gave out; nothing is prompted then."""
    async with lab(tmp_path, []) as here:
        client = await connect(here.session.id)
        reply = await client.submit(Attach("big", bytes(20 * 1024 * 1024 + 1)))
        assert not reply.ok
        assert "more than" in reply.error
        reply = await client.submit(Prompt("see", attachments=["artifact://nobody/nothing"]))
        assert not reply.ok
        assert reply.hint
        assert here.of(User) == []
        client.close()


# The queue


async def test_what_waits_is_given_back_and_the_work_goes_on(tmp_path: Path) -> None:
    """Unqueue returns texts and files; the run is not stopped, and the queue is told to be empty."""
    async with lab(tmp_path, [[*SLOW], [{"text": "never"}]]) as here:
        url = (await here.session.submit(Attach("a.txt", b"a"))).id
        await here.session.submit(Prompt("go"))
        await here.first(Text)
        await here.session.submit(Prompt("more", "follow_up", [url]))
        await here.session.submit(Prompt("now", "steer"))
        reply = await here.session.submit(Unqueue())
        assert reply.data == {"queued": ["more", "now"], "attachments": [url]}
        assert here.agent.busy
        await here.until(lambda: [e.value for e in here.of(State) if e.key == "queue"][-1:] == [[]])
        assert (await here.session.submit(Abort())).data == {"queued": [], "attachments": []}
        await here.ended()


# Commands of the person's own


async def test_a_command_of_the_persons_is_seen_and_read_by_the_model(tmp_path: Path) -> None:
    """A call whose source is the person, with output, exit code and shape; the model reads it with the next prompt."""
    async with lab(tmp_path, [[{"text": "I see"}]]) as here:
        reply = await here.session.submit(Shell("echo out; echo err >&2; exit 3"))
        result = await ended(here, reply.id)
        (use,) = here.of(ToolUse)
        assert (use.name, use.source, use.args) == ("Bash", "person", {"command": "echo out; echo err >&2; exit 3"})
        assert (result.exit_code, result.is_error, result.source) == (3, True, "person")
        assert result.details["ui"]["kind"] == "command"
        said = {(event.stream, event.content) for event in here.of(ToolOutput)}
        assert said == {("stdout", "out\n"), ("stderr", "err\n")}
        await here.run("what happened?")
        assert "$ echo out; echo err >&2; exit 3" in words(here)[0]
        assert "exit code 3" in words(here)[0]
        assert words(here)[1] == "what happened?"
        assert len(here.of(User)) == 1, "it was seen to happen, and is not said again"


async def test_a_private_command_is_for_the_person_alone(tmp_path: Path) -> None:
    """It is shown and kept; the model never hears of it."""
    async with lab(tmp_path, [[{"text": "hm"}]]) as here:
        for command in (Shell("echo quiet", private=True), Cell("'quiet'", private=True)):
            await ended(here, (await here.session.submit(command)).id)
        await here.run("go")
        assert words(here) == ["go"]
        assert [use.args["private"] for use in here.of(ToolUse)] == [True, True], "views can say so"


async def test_a_command_of_the_persons_can_be_cancelled(tmp_path: Path) -> None:
    """By its id, as any call; then it is over."""
    async with lab(tmp_path, []) as here:
        reply = await here.session.submit(Shell("echo begun; sleep 60"))
        await here.first(ToolOutput)
        assert not here.session.idle
        assert (await here.session.submit(CancelCall(reply.id))).ok
        result = await ended(here, reply.id)
        assert (result.exit_code, result.details["ended"]) == (130, "cancelled")
        assert not (await here.session.submit(CancelCall(reply.id))).ok
        assert not (await here.session.submit(Shell("  "))).ok


async def test_while_the_agent_works_what_the_person_ran_waits_its_turn(tmp_path: Path) -> None:
    """Between a call and its result nothing may stand: the model reads it with the request after that."""
    turns = [[bash("until [ -e go ]; do sleep 0.01; done")], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        await here.session.submit(Prompt("go"))
        await here.first(ToolUse)
        reply = await here.session.submit(Shell("echo meanwhile; touch go"))
        await ended(here, reply.id)
        await here.ended()
        kinds = [type(message).__name__ for message in here.messages]
        assert kinds == ["UserMessage", "AssistantMessage", "ToolMessage", "UserMessage", "AssistantMessage"]
        assert "meanwhile" in words(here)[1]


async def test_a_cell_is_seen_as_a_call_and_remembers(tmp_path: Path) -> None:
    """Python typed by the person: the same events, one process for the session, told to the model."""
    async with lab(tmp_path, [[{"text": "I see"}]]) as here:
        await ended(here, (await here.session.submit(Cell("x = 6"))).id)
        reply = await here.session.submit(Cell("x * 7"))
        result = await ended(here, reply.id)
        use = here.of(ToolUse)[-1]
        assert (use.name, use.source, use.args) == ("Python", "person", {"code": "x * 7"})
        assert (result.exit_code, result.details["ui"]["kind"]) == (0, "command")
        assert "".join(event.content for event in here.of(ToolOutput) if event.id == reply.id) == "42\n"
        running = (await here.session.submit(Cell("import time; print('begun'); time.sleep(60)"))).id
        await here.first(ToolOutput, lambda event: event.id == running)
        assert (await here.session.submit(CancelCall(running))).ok
        assert (await ended(here, running)).exit_code == 130
        await here.run("and?")
        assert "```python\nx * 7\n```" in words(here)[1]
        assert "42" in words(here)[1]


# The tree


async def test_the_tree_is_told_line_by_line(tmp_path: Path) -> None:
    """Every filter and a search; a label reaches every view."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "done"}]]) as here:
        await here.run("begin here")
        client = await connect(here.session.id)
        assert (await client.submit(Label("e1", "start"))).ok
        changed = await here.first(State, lambda event: event.key == "label")
        assert changed.value == {"target": "e1", "label": "start"}
        reply = await client.submit(Outline())
        lines = reply.data["lines"]
        assert [(line["role"], line["depth"]) for line in lines] == [("user", 0), ("tool", 1), ("assistant", 2)]
        assert [line["parent"] for line in lines] == ["", *[line["id"] for line in lines[:2]]]
        assert lines[0]["text"] == "begin here"
        assert lines[0]["label"] == "start"
        assert [line["current"] for line in lines] == [False, False, True]
        assert all(line["active"] and line["time"] for line in lines)
        assert reply.data["leaf"] == lines[-1]["id"]
        assert [line["id"] for line in (await client.submit(Outline("user-only"))).data["lines"]] == ["e1"]
        assert [line["id"] for line in (await client.submit(Outline("default", "DONE"))).data["lines"]] == [
            lines[-1]["id"]
        ]
        assert len((await client.submit(Outline("all"))).data["lines"]) > 3
        reply = await client.submit(Outline("pretty"))
        assert not reply.ok
        assert "no-tools" in reply.hint
        client.close()


# Stopping, settings, who is there


async def test_stopping_stops_a_compaction(tmp_path: Path) -> None:
    """Abort ends what the agent does to the conversation as well; it stays as it was."""
    turns = [[{"text": "a" * 4000}], [{"text": "b" * 4000}], [*SLOW]]
    settings = {"compaction.keep_recent": "100"}
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run("one")
        await here.run("two")
        before = list(here.messages)
        compacting = asyncio.ensure_future(here.session.submit(Compact()))
        await here.first(State, lambda event: event.key == "compaction" and bool(event.value))
        assert (await here.session.submit(Abort())).ok
        assert not (await asyncio.wait_for(compacting, 60)).ok
        assert here.messages == before


async def test_settings_given_by_a_program_are_not_read_again(tmp_path: Path) -> None:
    """Nobody knows where from."""
    async with lab(tmp_path, []) as here:
        assert not (await here.session.submit(Reload())).ok


async def test_who_watches_and_attends_is_asked(tmp_path: Path) -> None:
    """A session nobody was there to answer for is attended while such a view is; a request closes in all of them."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask") as here:
        assert (here.session.has_answers, here.session.is_attended) == (False, False)
        one, two = here.session.subscribe(None, attends=True), here.session.subscribe(None, attends=True)
        assert (here.session.has_answers, here.session.is_attended) == (True, True)
        await here.session.submit(Prompt("go"))
        asked = await here.first(Request)
        assert here.session.waiting == 1
        assert (await here.session.submit(AnswerRequest(asked.id, "once"))).ok
        await here.first(RequestResolved)
        await here.ended()
        assert here.session.waiting == 0
        assert not (await here.session.submit(AnswerRequest(asked.id, "no"))).ok
        one.close()
        two.close()
        assert not here.session.has_answers


async def test_when_the_last_who_could_answer_leaves_nothing_waits(tmp_path: Path) -> None:
    """In a session that is nobody's: what was asked is taken as no, and that is said."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask") as here:
        view = here.session.subscribe(None, attends=True)
        await here.session.submit(Prompt("go"))
        await here.first(Request)
        view.close()
        await here.ended()
        assert any("answered with no" in event.text for event in here.of(Notice))


@pytest.mark.parametrize("cut", [0, 1])
async def test_two_views_see_a_request_answered(tmp_path: Path, cut: int) -> None:
    """Answered over one connection, it is closed in what the other shows."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", attended=True) as here:
        clients = [await connect(here.session.id) for _ in range(2)]
        await clients[0].submit(Prompt("go"))
        asked = await here.first(Request)
        seen: list[Any] = []

        async def watch() -> None:
            async for frame in clients[1 - cut].subscribe(None, attends=True):
                seen.append(frame)
                if not isinstance(frame, list):
                    assert asked.id in frame.requests
                elif any(isinstance(event, RequestResolved) and event.id == asked.id for event in frame):
                    return

        watching = asyncio.ensure_future(watch())
        await until(lambda: seen)
        assert (await clients[cut].submit(AnswerRequest(asked.id, "once"))).ok
        await asyncio.wait_for(watching, 60)
        await here.ended()
        for client in clients:
            client.close()
