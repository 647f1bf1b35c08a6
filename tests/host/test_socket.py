"""The same session over a Unix socket: what a client sees equals what the session did, however it connects."""

import asyncio
import contextlib
import os
import random
import stat

import pytest

from sightline.events import ToolOutput, ToolResult
from sightline.exceptions import UserMistake
from sightline.host import (
    CancelJob,
    Client,
    HostGone,
    Start,
    Stop,
    StoredSession,
    attach,
    connect,
    find,
    listen,
    running,
)
from sightline.host.socket._runtime import connected, socket_path
from sightline.host.socket._server import SocketServer
from sightline.host.socket._wire import Whole, decode_answer
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.transcript import Snapshot, fold
from tests.host.support import a_session, events_in, frames_until_result, shell, state_after, until

PRINTS = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo out $i; echo err $i >&2; sleep 0.01; done"


@pytest.fixture
def store():
    return Store(data_folder())


@pytest.fixture
async def served(store):
    """A session in this process that is also on its socket."""
    async with a_session(store) as (session, writer):
        server = SocketServer(session, listen(session.id), cwd="/", started=1.0)
        await server.open()
        yield session, writer, server
        await session.stop()
        await server.close()
        socket_path(session.id).unlink()


async def test_a_client_sees_what_the_session_did(served):
    """Start, watch and end over the socket: the same events, then a goodbye."""
    session, *_ = served
    client = await connect(session.id)
    assert (client.hello.session, client.hello.pid) == (session.id, os.getpid())
    inside = session.subscribe(0)
    watching = asyncio.ensure_future(frames_until_result(client.subscribe(0), f"{session.id}-1"))
    other = await connect(session.id)
    reply = await other.submit(Start(shell(PRINTS)))
    assert reply.id == f"{session.id}-1"
    assert events_in(await watching) == events_in(await frames_until_result(inside, reply.id))
    client.close()
    other.close()


async def test_the_end_of_the_session_is_a_goodbye(served):
    """The subscription ends; it does not break."""
    session, *_ = served
    client = await connect(session.id)
    frames = client.subscribe(0)
    other = await connect(session.id)
    await other.submit(Start(shell("sleep 100")))
    await other.submit(Stop())
    seen = [event async for frame in frames for event in frame]
    assert isinstance(seen[-1], ToolResult)
    with pytest.raises(HostGone):
        await client.submit(Stop())
    other.close()


async def test_a_connection_that_breaks_is_not_a_goodbye(served):
    """A lost host is an error with a hint, for the subscription and for whoever waits for an answer."""
    session, _, server = served
    client = await connect(session.id)
    frames = client.subscribe(0)
    await until(lambda: server.connections)
    asking = asyncio.ensure_future(client.submit(CancelJob("k3m9qz-1")))
    for task in list(server._connections):
        task.cancel()
    with pytest.raises(HostGone) as lost:
        async for _ in frames:
            pass
    assert "sightline attach" in lost.value.hint
    await asyncio.gather(asking, return_exceptions=True)


async def test_only_the_user_may_connect(served):
    """The socket is 0600, its folder 0700."""
    path = socket_path(served[0].id)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_garbage_is_answered_and_costs_nobody_anything(served):
    """Bad requests get an answer, an endless line a closed door, and the session goes on."""
    session, *_ = served
    reader, writer = await asyncio.open_unix_connection(sock=connected(session.id, 5))
    await reader.readline()
    writer.write(b'\xff\x00 nonsense\n{"kind":"submit","command":{"kind":"fly"}}\n')
    for _ in range(2):
        assert b"not a request" in await reader.readline()
    writer.write(b"x" * 80_000_000)
    with contextlib.suppress(ConnectionError):
        assert await reader.read() == b""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    client = await connect(session.id)
    assert client.session == session.id
    client.close()


async def test_a_reader_that_stops_reading_slows_nobody(served):
    """It is brought up to date by a snapshot when it reads again."""
    session, *_ = served
    reader, writer = await asyncio.open_unix_connection(sock=connected(session.id, 5))
    writer.write(b'{"kind":"subscribe","after":0}\n')
    for number in range(4000):
        session.append(ToolOutput("x", f"{number}".rjust(1000), offset=number * 1000, size=1000))
        await asyncio.sleep(0)
    session.append(ToolResult("x"))
    lines = []
    async with asyncio.timeout(20):
        while not lines or ('"content":""' not in lines[-1] and '"tool_result"' not in lines[-1]):
            lines.append((await _line(reader)).decode())
    writer.close()
    answers = [decode_answer(line) for line in lines[1:]]
    whole = [answer for answer in answers if isinstance(answer, Whole)]
    assert whole
    rest = [answer for answer in answers if not isinstance(answer, Whole) and answer.seq > whole[-1].snapshot.seq]
    assert fold(rest, whole[-1].snapshot) == session.snapshot()


async def _line(reader: asyncio.StreamReader) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        try:
            line += await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            line += await reader.read(error.consumed)
    return line


async def test_a_folder_with_a_long_name_still_has_a_socket(tmp_path, monkeypatch):
    """A socket's path is short by law; SIGHTLINE_HOME is not."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / ("long" * 40)))
    store = Store(data_folder())
    async with a_session(store) as (session, _):
        server = SocketServer(session, listen(session.id), cwd="/", started=1.0)
        await server.open()
        client = await connect(session.id)
        assert client.session == session.id
        client.close()
        await session.stop()
        await server.close()


async def test_hosts_are_listed_and_a_dead_ones_socket_is_cleared_away(served, store):
    """`running` asks each; a socket nobody listens on is removed."""
    session, *_ = served
    listen("abcdef").close()
    assert [hello.session for hello in await running(store)] == [session.id]
    assert not socket_path("abcdef").exists()


async def test_attach_finds_the_running_and_the_kept(served, store):
    """A running one over its socket, one that is over in its journal, with the same state."""
    session, writer, server = served
    reply = session.start(shell("echo a"))
    live = await attach(store, session.id)
    assert isinstance(live, Client)
    seen = await frames_until_result(live.subscribe(0), reply.id)
    await session.stop()
    await server.close()
    writer.close()
    kept = await attach(store, session.id)
    assert isinstance(kept, StoredSession)
    assert state_after([frame async for frame in kept.subscribe()]) == state_after(seen)
    assert events_in([frame async for frame in kept.subscribe(1)]) == events_in(seen)[1:]


def test_an_id_may_be_shortened_as_long_as_it_is_clear(store):
    """A beginning is enough; what could be two, or is none, is said."""
    one = store.create().folder.name
    assert find(store, one) == one
    assert find(store, one[:4]) == one
    with pytest.raises(UserMistake, match="no session or job"):
        find(store, "zz")
    with pytest.raises(UserMistake, match="no session"):
        find(store, "zzzzzz")


@pytest.mark.slow
async def test_a_watcher_may_be_lost_at_any_point(served, tmp_path):
    """1,000 watchers are cut off at random points and come back: snapshot + tail always equals the whole fold."""
    session, *_ = served
    enough = tmp_path / "enough"  # however fast the machine is, the command runs until there were so many
    reply = session.start(
        shell(f"i=0; until [ -e {enough} ]; do i=$((i+1)); echo out $i; echo err $i >&2; sleep 0.02; done")
    )
    whole = asyncio.ensure_future(frames_until_result(session.subscribe(0), reply.id))
    dice = random.Random(7)
    cuts = 0

    async def watch_in_pieces() -> Snapshot:
        """A view that loses its connection again and again, and after each time goes on from what it has."""
        nonlocal cuts
        frames: list = []
        while not frames or state_after(frames).entries[0].content is None:
            client = await connect(session.id)
            left = dice.randrange(1, 4)
            after = None if not frames else dice.choice([state_after(frames).seq, None])
            async for frame in client.subscribe(after):
                frames = [frame] if isinstance(frame, Snapshot) else [state_after([*frames, frame])]
                left -= 1
                if not left or frames[0].entries[0].content is not None:
                    break
            client._writer.transport.abort()
            client.close()
            cuts += 1
            if cuts == 1000:
                enough.touch()
        return frames[0]

    states = await asyncio.gather(*(watch_in_pieces() for _ in range(12)))
    uninterrupted = fold(events_in(await whole))
    assert [state == uninterrupted for state in states] == [True] * 12
    assert cuts >= 1000
