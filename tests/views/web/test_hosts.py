"""How agents stand, as their hosts say it: asked seldom, and never where nothing happens."""

import asyncio

import pytest

from sightline.events import Notice, Request, RequestResolved
from sightline.host import Stop, hosting, listen
from sightline.host.socket import _client
from sightline.journal import Store
from sightline.views.web.api._reading import RequestRefused
from sightline.views.web.api._start import submit
from sightline.views.web.page import _hosts
from sightline.views.web.page._hosts import Hosts, HostStanding

pytestmark = pytest.mark.asyncio


class _Worker:
    busy = False


@pytest.fixture
def asked(monkeypatch):
    """The sessions whose hosts were asked, in order, and no rest between two questions."""
    sessions: list[str] = []
    connect = _hosts.connect

    async def counted(session):
        sessions.append(session)
        return await connect(session)

    monkeypatch.setattr(_hosts, "connect", counted)
    monkeypatch.setattr(_hosts, "_SECONDS_BETWEEN_QUERIES", 0.0)
    return sessions


async def _look(hosts, *sessions):
    hosts.look(sessions)
    await hosts.answers()


async def test_a_host_says_whether_its_agent_works_or_waits(own_home, tmp_path, asked):
    """And is asked again as long as it does, so that its end is noticed even if nothing more is written."""
    store = Store(tmp_path)
    hosts = Hosts(store)
    async with hosting(store, cwd="/") as session:
        session.worker = worker = _Worker()
        await _look(hosts, session.id)
        assert hosts.of(session.id) == HostStanding(False, 0)
        worker.busy = True
        session.append(Request("r1", "question", "Which?"))
        session.flush()
        await _look(hosts, session.id)
        assert hosts.standings == {session.id: HostStanding(True, 1)}
        session.append(RequestResolved("r1", "red"))
        session.flush()
        await _look(hosts, session.id)
        assert hosts.of(session.id) == HostStanding(True, 0)
        worker.busy = False
        await _look(hosts, session.id)
        assert hosts.standings == {}
        session.worker = None
    assert len(asked) == 4


async def test_a_host_in_which_nothing_happens_is_left_alone(own_home, tmp_path, asked):
    """It is asked once, and again when its journal has grown: whoever asks keeps nobody from ending."""
    store = Store(tmp_path)
    hosts = Hosts(store)
    async with hosting(store, cwd="/") as session:
        for _ in range(5):
            await _look(hosts, session.id)
        assert asked == [session.id]
        session.append(Notice("something"))
        session.flush()
        for _ in range(5):
            await _look(hosts, session.id)
        assert asked == [session.id] * 2


async def test_nobody_is_asked_more_than_once_a_second(own_home, tmp_path, asked, monkeypatch):
    """However busy it is, and however often somebody looks."""
    monkeypatch.setattr(_hosts, "_SECONDS_BETWEEN_QUERIES", 60.0)
    store = Store(tmp_path)
    hosts = Hosts(store)
    async with hosting(store, cwd="/") as session:
        session.worker = worker = _Worker()
        worker.busy = True
        for _ in range(5):
            await _look(hosts, session.id)
        session.worker = None
    assert asked == [session.id]


async def test_a_host_that_does_not_answer_is_not_asked_again(own_home, tmp_path, asked):
    """Its socket would fill up with questions. What was known of it stays."""
    store = Store(tmp_path)
    hosts = Hosts(store)
    writer = store.create(cwd="/")  # somebody writes it, and nobody listens
    for _ in range(3):
        await _look(hosts, writer.folder.name)
    writer.close()
    assert asked == [writer.folder.name]
    assert hosts.of(writer.folder.name) == HostStanding()


async def test_what_has_ended_is_forgotten(own_home, tmp_path, asked, monkeypatch):
    """A host that is being asked, too."""
    began = asyncio.Event()

    async def never(session):
        began.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(_hosts, "connect", never)
    hosts = Hosts(Store(tmp_path))
    hosts.look(["abcdef"])
    await began.wait()
    hosts.look([])
    async with asyncio.timeout(30):
        await hosts.answers()
    assert hosts.standings == {}


async def test_a_host_that_does_not_answer_is_not_said_to_have_ended(own_home, tmp_path, monkeypatch):
    """A suspended one still has its commands; one that is gone has ended."""
    monkeypatch.setattr(_client, "_SECONDS_TO_CONNECT", 0.1)
    store = Store(tmp_path)
    writer = store.create(cwd="/")
    session = writer.folder.name
    with listen(session):  # nobody takes what comes
        with pytest.raises(RequestRefused, match="is running but does not answer") as silent:
            await submit(store, session, Stop())
        assert silent.value.status == 503
    writer.close()
    with pytest.raises(RequestRefused, match="has ended") as gone:
        await submit(store, session, Stop())
    assert gone.value.status == 409
