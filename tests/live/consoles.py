"""A session with a provider in it, around the real CLI and the stand-in: what the host of a console has."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from lab import Script

from sightline.events import Event, RunEnded, Text, ToolUse, User
from sightline.host import CommandReply, HostSession, Prompt
from sightline.host.provider._worker import ProviderWorker, open_provider
from sightline.host.session._attachments import SessionShelf
from sightline.journal import SessionReader, Store
from sightline.settings import StartOptions
from sightline.testing.place import Place, prepare_place
from sightline.testing.standin import StandIn

DEADLINE = 90.0


class Desk:
    """The session, everything it told, and its worker."""

    def __init__(self, session: HostSession, worker: ProviderWorker, server: StandIn, project: Path) -> None:
        self.session = session
        self.worker = worker
        self.server = server
        self.project = project
        self.events: list[Event] = []

    async def say(self, text: str, **more: Any) -> CommandReply:
        return await self.session.submit(Prompt(text, **more))

    async def turn(self, text: str) -> list[Event]:
        """One prompt and all that came of it."""
        before = len(self.events)
        reply = await self.say(text)
        assert reply.ok, reply.error
        await self.done()
        return self.events[before:]

    async def done(self) -> None:
        """The work is over, and all that was told of it is here."""
        await self.until(lambda: not self.worker.busy, "the end of the work")
        await self.until(lambda: self.events and self.events[-1].seq == self.session.seq, "the last event")

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        try:
            async with asyncio.timeout(DEADLINE):
                while not (found := condition()):  # noqa: ASYNC110, a condition over what other tasks do
                    await asyncio.sleep(0.005)
        except TimeoutError:
            pytest.fail(f"{what}: not within {DEADLINE:g} s; seen: {self.events[-8:]}")
        return found

    async def until_event(self, kind: type[Any], **fields: Any) -> Any:
        def found() -> Any:
            for event in self.events:
                if isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items()):
                    return event
            return None

        return await self.until(found, f"{kind.__name__} {fields}")

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def place_at(folder: Path, provider: str, url: str, patch: pytest.MonkeyPatch, *, allow: bool = True) -> Path:
    """The demo project, and this process's environment made that of the CLI."""
    lab = folder / "lab"
    place = (
        prepare_place(lab, url, allow=allow) if not lab.exists() else Place(lab / "home", lab / "project", "").at(url)
    )
    for name in list(os.environ):
        if name not in ("PYTEST_CURRENT_TEST", "PYTHONDONTWRITEBYTECODE"):
            patch.delenv(name)
    for name, value in place.environment(provider).items():
        patch.setenv(name, value)
    return place.project


@asynccontextmanager
async def desk(
    folder: Path,
    provider: str,
    script: Script,
    patch: pytest.MonkeyPatch,
    *,
    allow: bool = True,
    resume: str = "",
    approval: str = "",
) -> AsyncIterator[Desk]:
    """A session as a console's host has it; `resume` goes on with one that an earlier desk in this folder left."""
    async with StandIn(script) as server:
        project = place_at(folder, provider, server.url, patch, allow=allow)
        store = Store(folder / "store")
        writer, tree = store.reopen(resume) if resume else _created(store, project)
        session = HostSession(writer, store.index, last_seq=tree.last_seq)
        options = StartOptions(provider=provider, cwd=str(project), approval=approval)
        worker = await open_provider(session, options, tree, SessionShelf(store, session.id))
        session.worker = worker
        made = Desk(session, worker, server, project)
        listening = asyncio.create_task(_listen(session, made.events))
        try:
            yield made
        finally:
            await session.stop()
            await listening
            writer.close()


def _created(store: Store, project: Path) -> Any:
    from sightline.journal import SessionTree

    writer = store.create(cwd=str(project))
    return writer, SessionTree.load(writer.folder)


async def _listen(session: HostSession, events: list[Event]) -> None:
    async for frame in session.subscribe(session.seq):
        if isinstance(frame, list):
            events += frame


def kept(folder: Path, session: str) -> list[Event]:
    return list(SessionReader(folder / "store/sessions" / session).events())


def said(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text) and not event.agent)


def asked(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, User)]


def commands(events: list[Event]) -> list[str]:
    return [event.arg for event in events if isinstance(event, ToolUse)]


def ends(events: list[Event]) -> list[RunEnded]:
    return [event for event in events if isinstance(event, RunEnded)]


def running(words: str) -> list[psutil.Process]:
    """What this process has started, and is running, with these words on its command line."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if words in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:  # it has ended
            continue
    return found
