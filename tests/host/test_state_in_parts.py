"""A long state over the socket: told in parts, so that neither the host's loop nor the view's stands still for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sightline.events import Text, ToolOutput, ToolUse, User
from sightline.host import connect, listen
from sightline.host.session._session import HostSession
from sightline.host.socket import _wire
from sightline.host.socket._runtime import connected, socket_path
from sightline.host.socket._server import SocketServer
from sightline.host.socket._wire import Entries, Whole, decode_answer, encode_frame
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.transcript import Snapshot, Transcript
from tests.host.support import a_session


@asynccontextmanager
async def served() -> AsyncIterator[HostSession]:
    async with a_session(Store(data_folder())) as (session, _):
        server = SocketServer(session, listen(session.id), cwd="/", started=1.0)
        await server.open()
        yield session
        await session.stop()
        await server.close()
        socket_path(session.id).unlink()


def say_much(session: HostSession) -> None:
    for number in range(40):
        session.append(User(f"question {number}"))
        session.append(Text("words " * 20_000, number))
    session.flush()


async def test_a_client_puts_the_parts_together() -> None:
    """What it is given is the state the session is in, and what came afterwards follows."""
    async with served() as session:
        say_much(session)
        client = await connect(session.id)
        frames = client.subscribe()
        async with asyncio.timeout(20):
            first = await anext(frames)
            session.append(User("afterwards"))
            then = await anext(frames)
        assert isinstance(first, Snapshot)
        assert isinstance(then, list)
        assert len(first.entries) == 80
        assert [event.text for event in then if isinstance(event, User)] == ["afterwards"]
        fold = Transcript(first)
        fold.apply(then[0])
        assert fold.now == session.snapshot()
        client.close()


async def test_other_things_are_done_between_two_parts() -> None:
    """The session's loop comes back at least once for each of them."""
    async with served() as session:
        say_much(session)
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        pieces = list(encode_frame(session.snapshot(), in_parts=True))
        client = await connect(session.id)
        before = turns
        async with asyncio.timeout(20):
            await anext(client.subscribe())
        assert len(pieces) > 10
        assert turns - before >= len(pieces)
        counting.cancel()
        client.close()


async def test_who_does_not_know_parts_gets_one_line() -> None:
    """A view of an earlier version."""
    async with served() as session:
        say_much(session)
        reader, writer = await asyncio.open_unix_connection(sock=connected(session.id, 5), limit=64 * 1024 * 1024)
        writer.write(b'{"kind":"subscribe"}\n')
        async with asyncio.timeout(20):
            await reader.readline()
            answer = decode_answer(await reader.readline())
        assert isinstance(answer, Whole)
        assert answer.snapshot == session.snapshot()
        writer.close()


def test_no_part_is_much_longer_than_it_may_be() -> None:
    """But for an entry that is so by itself, and in the order they have."""
    fold = Transcript()
    for number in range(200):
        fold.apply(Text("x" * 5000, number, seq=number + 1))
    *parts, last = [decode_answer(line) for line in encode_frame(fold.now, in_parts=True)]
    sizes = [len(line) for line in encode_frame(fold.now, in_parts=True)]
    assert max(sizes) < _wire._PART + 10_000
    assert isinstance(last, Whole)
    assert not last.snapshot.entries
    assert [entry for part in parts if isinstance(part, Entries) for entry in part.entries] == fold.now.entries


@pytest.mark.parametrize("event", [ToolOutput("a", "more"), Text(" more", 1), ToolUse("a", "Other"), User("more")])
def test_a_state_that_was_taken_does_not_change(event: ToolOutput | Text | ToolUse | User) -> None:
    """It shares what is never changed, and nothing else."""
    fold = Transcript()
    for earlier in (ToolUse("a", "Bash"), ToolOutput("a", "out", size=3), Text("words", 1), User("hello")):
        fold.apply(earlier)
    taken = fold.snapshot()
    assert taken == fold.now
    fold.apply(event)
    assert taken != fold.now
    assert taken == Transcript(fold_of_first()).now


def fold_of_first() -> Snapshot:
    fold = Transcript()
    for earlier in (ToolUse("a", "Bash"), ToolOutput("a", "out", size=3), Text("words", 1), User("hello")):
        fold.apply(earlier)
    return fold.now
