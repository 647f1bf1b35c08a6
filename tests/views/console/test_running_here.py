"""What is offered when sessions run in the folder already: those in which there is something to go on with."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline import __version__
from sightline.events import State, ToolUse, User
from sightline.events.stamping import stamp
from sightline.host import Hello, HostSession, Prompt, listen
from sightline.host.socket._server import SocketServer
from sightline.paths import data_folder
from sightline.settings import StartOptions
from sightline.views.console.input import Drafts
from sightline.views.console.input._drafts import PromptDraft
from sightline.views.console.session import _sessions
from tests.journal.conversations import Talk, user
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
        self.begun: list[StartOptions] = []
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

    async def _launch(self, wanted: StartOptions) -> str:
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
    assert not Drafts(data_folder()).save(written, PromptDraft("half a thought"))
    sat.console.spawn(sat.console.sessions.begin(None))
    await sat.until(lambda: "Running here" in sat.rows)
    assert all(session in sat.rows for session in (said, run, works, written))
    assert empty not in sat.rows
    assert not hosts.begun


async def test_ctrl_c_in_the_moment_the_question_is_drawn_leaves_it(sat: Sitting, hosts: Hosts) -> None:
    """Whoever sees it can press it: no key that is pressed then is lost to the editor, which asks for another."""
    hosts.has(User("fix it"), busy=True)
    sat.console.spawn(sat.console.sessions.begin(None))
    async with asyncio.timeout(30):
        while "Running here" not in sat.rows:  # noqa: ASYNC110, the very turn in which it is drawn is meant
            await asyncio.sleep(0)
    assert not sat.console.screen.is_answered
    sat.press("ctrl+c")
    await sat.until(lambda: sat.ended, "the end")
    assert not hosts.begun


async def test_the_host_that_boots_meanwhile_is_ended_while_the_user_chooses(
    sat: Sitting, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its session is empty: no list shall have it. A new session has a host of its own."""
    store = sat.console.store
    writer = store.create(cwd=sat.console.cwd)
    own = HostSession(writer, store.index)
    stopped = asyncio.Event()
    own.on_stopped = stopped.set
    server = SocketServer(own, listen(own.id), cwd=sat.console.cwd, started=1.0)
    await server.open()

    async def booted(host: int) -> str:
        return own.id

    monkeypatch.setattr(_sessions, "started", booted)
    hosts.has(User("fix it"), busy=True)
    try:
        sat.console.spawn(sat.console.sessions.begin(7))
        await sat.until(lambda: "Running here" in sat.rows)
        await asyncio.wait_for(stopped.wait(), 10)
        assert not hosts.begun
        sat.press("2")
        await sat.until(lambda: hosts.begun, "the new session")
    finally:
        await own.stop()
        await server.close()
        writer.close()


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_no_session_is_begun_while_one_is_picked(sat: Sitting, hosts: Hosts, key: str) -> None:
    """What a new one lacks, such as a model, is nothing to the one that is chosen. Without a choice one begins."""
    talk = Talk(sat.console.store, cwd=sat.console.cwd, title="the other one")
    talk.step(user("fix it"))
    talk.close()
    sat.console.spawn(sat.console.sessions.begin(None, pick=True))
    await sat.until(lambda: "the other one" in sat.rows and sat.console.screen.is_answered, "the list")
    assert not hosts.begun
    sat.press(key)
    await sat.until(lambda: hosts.begun, "the session")
    assert [options.resume for options in hosts.begun] == [talk.id if key == "enter" else ""]


@pytest.mark.parametrize(("attach", "marked"), [(True, "Resume “later”"), (False, "Start a new session")])
async def test_attach_preselects_the_session_that_changed_last(
    sat: Sitting, hosts: Hosts, attach: bool, marked: str
) -> None:
    """Whoever attaches does not want a new one; a console that is opened among idle sessions begins one."""
    store = sat.console.store
    for title, time in (("later", 5e9), ("earlier", 4e9)):
        talk = Talk(store, cwd=sat.console.cwd, title=title)
        talk.step(user("fix it"), time=time)
        talk.writer.append([stamp(User("fix it"), 99, time)])
        talk.close()
        hosts.hellos.insert(0, Hello(talk.id, __version__, 1, cwd=sat.console.cwd, started=9e9 - time, agent=True))
    hosts.has(State("model", "m"))
    sat.console.spawn(sat.console.sessions.begin(None, attach=attach))
    await sat.until(lambda: "Running here" in sat.rows and sat.console.screen.is_answered)
    assert next(row for row in sat.rows.splitlines() if "1. " in row).split("1. ")[1].startswith(marked), sat.rows


async def test_options_that_a_running_session_does_not_take_are_named(sat: Sitting, hosts: Hosts) -> None:
    """It is attached to as it is: one line says what was not used."""
    store = sat.console.store
    writer = store.create(cwd=sat.console.cwd)
    running = HostSession(writer, store.index)
    server = SocketServer(running, listen(running.id), cwd=sat.console.cwd, started=1.0)
    await server.open()
    sat.console.sessions._options = StartOptions(resume=running.id, approval="plan", allow=["exec"], deny=["network"])
    try:
        sat.console.spawn(sat.console.sessions.begin(None))
        await sat.until(lambda: server.connections == 1, "a connection")
        said = "not used: --approval, --allow, --deny; this session is running already"
        await sat.until(lambda: said in sat.rows, said)
        assert not hosts.begun
    finally:
        await running.stop()
        await server.close()
        writer.close()


async def offered(sat: Sitting, hosts: Hosts) -> None:
    hosts.has(User("fix it"))
    sat.console.spawn(sat.console.sessions.begin(None))
    await sat.until(lambda: "Running here" in sat.rows and sat.console.screen.is_answered)


async def test_what_is_typed_there_goes_to_the_editor(sat: Sitting, hosts: Hosts) -> None:
    """Letters, and the digits and spaces behind them: they decide nothing, and sent they begin a new session."""
    await offered(sat, hosts)
    sat.press(*"fix 2 of 1", "enter")
    await sat.until(lambda: hosts.begun)
    assert (await sat.sent(Prompt)).text == "fix 2 of 1"
    assert hosts.begun[0].resume == ""


async def test_a_paste_there_goes_to_the_editor(sat: Sitting, hosts: Hosts) -> None:
    """Whatever digits are in it. The question is back when nothing is written any more."""
    await offered(sat, hosts)
    sat.writes("2 things to do")
    assert sat.console.prompt.text == "2 things to do"
    assert "Running here" not in sat.rows
    sat.press("ctrl+u")
    await sat.until(lambda: "Running here" in sat.rows and sat.console.screen.is_answered)
    assert not hosts.begun


async def test_a_digit_alone_chooses(sat: Sitting, hosts: Hosts) -> None:
    """Of idle sessions and a new one, the new one is the first."""
    await offered(sat, hosts)
    sat.press("1")
    await sat.until(lambda: hosts.begun)
    assert sat.console.prompt.text == ""
