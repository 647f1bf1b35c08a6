"""What is offered when sessions run in the folder already: those in which there is something to go on with."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline import __version__
from sightline.events import State, ToolUse, User, stamp
from sightline.host import Hello
from sightline.host._console_wanted import HostWanted
from sightline.paths import data_folder
from sightline.views.console import _sessions
from sightline.views.console.input import Drafts
from sightline.views.console.input._drafts import Draft
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


class Hosts:
    """Sessions of this folder that have a host, as it says; and whether another was begun."""

    def __init__(self, sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
        self._sat = sat
        self.begun: list[HostWanted] = []
        self.hellos: list[Hello] = []
        monkeypatch.setattr(_sessions, "running_hosts", self._running)
        monkeypatch.setattr(_sessions, "launch_agent", self._launch)

    def has(self, *events: State | User | ToolUse, busy: bool = False) -> str:
        writer = self._sat.console.store.create(cwd=self._sat.console.cwd)
        writer.append([stamp(event, number, 1000.0) for number, event in enumerate(events, 1)])
        writer.close()
        session = writer.folder.name
        self.hellos.append(Hello(session, __version__, 1, cwd=self._sat.console.cwd, agent=True, busy=busy))
        return session

    async def _running(self, store: object) -> list[Hello]:
        return self.hellos

    async def _launch(self, wanted: HostWanted) -> str:
        self.begun.append(wanted)
        await asyncio.Event().wait()
        return ""


@pytest.fixture
def hosts(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    return Hosts(sat, monkeypatch)


async def test_one_in_which_nothing_was_said_is_not_offered(sat: Sitting, hosts: Hosts) -> None:
    """A new one begins at once, and no word that is typed is lost to a question."""
    hosts.has(State("model", "m"))
    sat.console.spawn(sat.console.sessions.begin(None))
    await sat.until(lambda: hosts.begun)
    assert "Running here" not in sat.rows


async def test_only_those_with_something_in_them_are_offered(sat: Sitting, hosts: Hosts) -> None:
    """Something said, something run, something written and not sent, or an agent at work."""
    empty = hosts.has(State("model", "m"))
    said = hosts.has(User("fix it"))
    run = hosts.has(ToolUse("x-1", "Bash", arg="ls", source="person"))
    works = hosts.has(State("model", "m"), busy=True)
    written = hosts.has(State("model", "m"))
    assert not Drafts(data_folder()).save(written, Draft("half a thought"))
    sat.console.spawn(sat.console.sessions.begin(None))
    await sat.until(lambda: "Running here" in sat.rows)
    assert all(session in sat.rows for session in (said, run, works, written))
    assert empty not in sat.rows
    assert not hosts.begun
