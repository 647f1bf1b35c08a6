"""An agent below another, in a real session: its path, its cap, its own journal, and its end."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sightline.agent import Agent, AgentSpec, build
from sightline.conversation import text_of
from sightline.events import Request, RequestResolved, ToolResult
from sightline.exceptions import UserMistake
from sightline.host.recovery._history import SessionHistory
from sightline.host.session._attachments import SessionShelf
from sightline.journal import Entry, EntryPlace, JournalWriter, SessionTree
from sightline.settings import Approval, Policy, StartOptions
from tests.agent.support import DEADLINE, Lab, lab, store_in, write_script
from tests.agent.test_approvals import outside

WRITE = {"tool": "write", "args": {"path": "a.txt", "content": "a"}}


class OwnJournal:
    """The entries of one agent, in a journal that is not the session's."""

    seq = 0

    def __init__(self, writer: JournalWriter) -> None:
        self.writer = writer

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        self.writer.append([entry])
        return self.writer.place_of(entry.id)


def child_of(here: Lab, folder: Path, turns: list[Any], entries: OwnJournal, cap: Approval | None = None) -> Agent:
    """The rules of its spec allow everything, and do not count."""
    work = here.agent.workplace.cwd
    spec = AgentSpec(
        cwd=work,
        settings=here.agent.workplace.settings,
        policy=Policy("full", ["exec", "write"], [], work),
        options=StartOptions(model=write_script(folder, turns, "child.json")),
    )
    return build(
        spec,
        here.agent.actor.child("Explore"),
        SessionTree.load(entries.writer.folder),
        SessionShelf(here.store, here.session.id),
        folder / "local",
        SessionHistory(here.store, here.session.id),
        parent=here.agent.permissions,
        cap=cap,
        entries=entries,
    )


@pytest.fixture
def journal(tmp_path: Path) -> Any:
    writer = store_in(tmp_path / "other").create(cwd=str(tmp_path))
    yield OwnJournal(writer)
    writer.close()


async def test_it_asks_under_its_path_at_its_own_level(tmp_path: Path, journal: OwnJournal) -> None:
    """The root may do everything; the child with a cap has to wait for the user."""
    async with lab(tmp_path, [], approval="full", attended=True) as here:
        child = child_of(here, tmp_path, [[WRITE], [outside()], [{"text": "done"}]], journal, "edit")
        await child.prompt("go")
        request = await here.first(Request)
        assert (request.agent, request.details["what"]) == ("Explore-1", "echo out")
        assert not here.agent.requests.answer(request.id, "once")
        assert child.requests.answer(request.id, "once")
        outcome = await asyncio.wait_for(child.wait(), DEADLINE)
        assert outcome is not None
        assert (outcome.exit_code, outcome.text) == (0, "done")
        await here.until(lambda: len(here.of(ToolResult)) == 2)
        assert [(result.agent, result.is_error) for result in here.of(ToolResult)] == [("Explore-1", False)] * 2
        await child.close()


async def test_under_plan_it_cannot_write(tmp_path: Path, journal: OwnJournal) -> None:
    """Whatever its cap and its spec."""
    async with lab(tmp_path, [], approval="auto", attended=True) as here:
        child = child_of(here, tmp_path, [[WRITE], [{"text": "done"}]], journal, "full")
        here.agent.permissions.set_level("plan")
        await child.prompt("go")
        await asyncio.wait_for(child.wait(), DEADLINE)
        result = await here.first(ToolResult)
        assert result.is_error
        assert "(the approval level is plan)" in result.content
        assert not (here.agent.workplace.cwd / "a.txt").exists()
        with pytest.raises(UserMistake):
            child.permissions.set_level("full")
        await child.close()


async def test_its_conversation_is_in_its_own_journal(tmp_path: Path, journal: OwnJournal) -> None:
    """The session's tree has none of it, so that the root's conversation is the root's."""
    async with lab(tmp_path, [[{"text": "of the root"}]]) as here:
        child = child_of(here, tmp_path, [[{"text": "of the child"}]], journal)
        await child.prompt("a task")
        await asyncio.wait_for(child.wait(), DEADLINE)
        await here.run("a prompt")
        await child.close()
        stored = [
            [text_of(entry.message) for entry in SessionTree.load(folder).messages() if entry.message is not None]
            for folder in (here.session.folder, journal.writer.folder)
        ]
    assert [[words.splitlines()[-1] for words in texts] for texts in stored] == [
        ["a prompt", "of the root"],
        ["a task", "of the child"],
    ]


async def test_its_end_resolves_what_it_waits_for(tmp_path: Path, journal: OwnJournal) -> None:
    """In a run and outside of one; then changes of the rules no longer reach it, and the root works on."""
    async with lab(tmp_path, [[outside()], [{"text": "ok"}]], approval="edit", attended=True) as here:
        child = child_of(here, tmp_path, [[outside()], [{"text": "never"}]], journal)
        await child.prompt("go")
        await here.first(Request)
        dialog = asyncio.create_task(child.requests.ask("dialog", "Which?", ["a"], {}))
        await here.until(lambda: len(here.of(Request)) == 2)
        await child.close()
        assert await asyncio.wait_for(dialog, DEADLINE) is None
        assert not child.actor.has_open
        assert child.permissions.gateway.problem
        assert len(here.agent.permissions._rules._listeners) == 1
        await here.until(lambda: len(here.of(RequestResolved)) == 2)
        assert {event.agent for event in here.of(RequestResolved)} == {"Explore-1"}
        await here.agent.prompt("go")
        request = await here.first(Request, lambda event: not event.agent)
        assert here.agent.requests.answer(request.id, "this session")
        assert (await here.ended()).text == "ok"


async def test_a_cap_is_for_an_agent_below_another(tmp_path: Path, journal: OwnJournal) -> None:
    """One that would not count is a mistake of the program."""
    async with lab(tmp_path, []) as here:
        tree = SessionTree.load(journal.writer.folder)
        shelf, history = SessionShelf(here.store, here.session.id), SessionHistory(here.store, here.session.id)
        work = here.agent.workplace.cwd
        spec = AgentSpec(cwd=work, settings=here.agent.workplace.settings, policy=Policy("auto", [], [], work))
        with pytest.raises(ValueError, match="a cap needs a parent"):
            build(spec, here.agent.actor, tree, shelf, tmp_path, history, cap="edit")
