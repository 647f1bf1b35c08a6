"""Agents whose host was killed: what is shown of one can be revived, and it knows what was shown."""

import asyncio
import json
from pathlib import Path
from typing import Any

from sightline.conversation import AssistantMessage, TextPart, ToolMessage, UserMessage
from sightline.delegation._record import AgentShelf
from sightline.delegation._team import AgentEntries
from sightline.events import AgentStarted, Notice, Text, ToolResult
from sightline.journal import Entry, JournalHeader, JournalWriter, SessionReader
from tests.agent.support import DEADLINE, Lab, lab
from tests.delegation.teamwork import call, handed_back, of_agent, started, states, text
from tests.delegation.test_directory import Room


def script(*first: dict[str, Any]) -> list[Any]:
    turns = [[*first], handed_back("done"), [text("I am back.")], [text("I am back.")]]
    return [[started({"One": turns})], [text("So.")]]


async def leave_as_killed(folder: Path, turns: list[Any], *, events: Any, entries: int) -> str:
    """A session whose host was killed after an event of the agent, and after so many entries of its journal."""
    async with lab(folder, turns) as here:
        await here.run()
        session = here.session.id
        last = next(event.seq for event in here.seen if event.agent == "One" and events(event))
    stored = here.store.folder(session)
    _cut(stored / "journal.jsonl", lambda record: record.get("kind") == "entry" or record.get("seq", 0) <= last)
    agent = stored / "agents" / "One" / "journal.jsonl"
    lines = agent.read_bytes().splitlines(keepends=True)
    agent.write_bytes(b"".join(lines[: 1 + entries]))
    return session


def _cut(journal: Path, stays: Any) -> None:
    lines = journal.read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    first = next((number for number, record in enumerate(records) if not stays(record)), len(lines))
    journal.write_bytes(b"".join(lines[:first]))


async def revived(here: Lab) -> list[Any]:
    """The messages the agent has, once it has answered a prompt."""
    directory = here.running.worker.team.directory
    one = directory.get("One")
    await directory.write([one], "Are you there?")
    await here.until(lambda: "I am back." in "".join(event.text for event in of_agent(here, "One", Text)))
    await here.until(lambda: states(here, "One")[-1:] == ["idle"])
    return one.driver.agent.memory.messages  # type: ignore[union-attr]


def words(message: Any) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))


async def test_what_is_shown_of_an_agent_is_stored_before(tmp_path: Path) -> None:
    """When a view hears of it, it can be revived, whatever happens next."""
    room = Room(tmp_path, limit=1)
    stored: list[list[str]] = []
    append = room.log.append

    def look(event: Any) -> None:
        if isinstance(event, AgentStarted):
            stored.append([record.path for record in AgentShelf(tmp_path).records()])
        append(event)

    room.log.append = look  # type: ignore[method-assign]
    room.spawn(None)
    (member,) = room.directory.members
    async with asyncio.timeout(DEADLINE):
        while not stored:  # noqa: ASYNC110, it is being stored in a thread
            await asyncio.sleep(0.001)
        await room.directory.close()
    assert stored == [[member.path]]


async def test_one_that_was_stored_and_never_shown_has_not_begun(tmp_path: Path) -> None:
    """A resumed session does not list it, and its name is not given again: what it has of files is not another's."""
    async with lab(tmp_path, script(text("I read."))) as here:
        await here.run()
        session = here.session.id
    agents = here.store.folder(session) / "agents"
    (agents / "Ghost").mkdir()
    record = json.loads((agents / "One" / "record.json").read_bytes())
    (agents / "Ghost" / "record.json").write_text(json.dumps({**record, "id": "Ghost"}))
    again = [[started({"Ghost": [handed_back("done")]})], [text("So.")]]
    async with lab(tmp_path, [*script(text("I read.")), *again], resume=session) as here:
        assert [member.id for member in here.running.worker.team.directory.members] == ["One"]
        await here.run()
        assert [event.path for event in here.of(AgentStarted)] == ["Ghost-2"]


async def test_cut_off_before_it_had_a_journal_it_is_revived(tmp_path: Path) -> None:
    """It was shown, and its conversation had not been begun."""
    turns = script(text("I read."))
    session = await leave_as_killed(tmp_path, turns, events=lambda event: True, entries=0)
    (tmp_path / "home" / "sessions" / session / "agents" / "One" / "journal.jsonl").unlink()
    again = [[started({"One": [[text("I am back.")]] * 4})], [text("So.")]]
    async with lab(tmp_path, again, resume=session) as here:
        messages = await revived(here)
        assert [words(message) for message in messages] == ["Are you there?", "I am back."]


async def test_it_knows_the_words_it_was_cut_off_in(tmp_path: Path) -> None:
    """They were on the screen: the user writes to it about them."""
    turns = script(text("I read half a page.", chunk=6), call("bash", command="echo x"))
    session = await leave_as_killed(
        tmp_path, turns, events=lambda event: isinstance(event, Text) and event.text == " half ", entries=1
    )
    again = [[started({"One": [[text("I am back.")]] * 4})], [text("So.")]]
    async with lab(tmp_path, again, resume=session) as here:
        messages = await revived(here)
    assert [type(message) for message in messages] == [UserMessage, AssistantMessage, UserMessage, AssistantMessage]
    assert words(messages[0]) == "Do the part of One."
    assert (words(messages[1]), messages[1].stop_reason) == ("I read half ", "aborted")


async def test_it_knows_how_a_call_ended_that_was_shown(tmp_path: Path) -> None:
    """Though it had not been stored in its conversation."""
    turns = script(call("bash", command="echo seen-it"))
    session = await leave_as_killed(tmp_path, turns, events=lambda event: isinstance(event, ToolResult), entries=3)
    again = [[started({"One": [[text("I am back.")]] * 4})], [text("So.")]]
    async with lab(tmp_path, again, resume=session) as here:
        messages = await revived(here)
    (result,) = [message for message in messages if isinstance(message, ToolMessage)]
    assert "seen-it" in words(result)
    assert not result.is_error


async def test_revived_in_the_same_session_it_knows_everything_once(tmp_path: Path) -> None:
    """What it published it remembers already."""
    async with lab(tmp_path, script(text("I read."), call("bash", command="echo x"))) as here:
        await here.run()
        directory = here.running.worker.team.directory
        before = [words(message) for message in directory.get("One").driver.agent.memory.messages]  # type: ignore[union-attr]
        await directory.park(directory.get("One"))
        messages = await revived(here)
        assert [words(message) for message in messages] == [*before, "Are you there?", "I am back."]


async def test_events_are_stored_before_an_entry(tmp_path: Path) -> None:
    """An agent does not remember what no view has seen."""
    async with lab(tmp_path, [[text("So.")]]) as here:
        (tmp_path / "agent").mkdir()
        writer = JournalWriter(tmp_path / "agent", JournalHeader("One"))
        entries = AgentEntries(writer, here.agent.actor.log)
        here.agent.actor.publish(Notice("published just now"))
        entries.store_entry(Entry(id="e1", seq=entries.seq, message=UserMessage([TextPart("hello")])))
        writer.close()
        last = [event.seq for event in SessionReader(here.store.folder(here.session.id)).events()][-1]
        (entry,) = SessionReader(tmp_path / "agent").entries()
        assert entry.seq == last
