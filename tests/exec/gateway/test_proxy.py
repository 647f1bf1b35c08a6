"""The proxy among many clients: who has room, who gives way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from sightline.events import Event, Notice
from sightline.exec.gateway import Entrance, Ruling
from sightline.exec.gateway import _proxy as module
from sightline.exec.gateway._proxy import SHARE, Proxy

ONE, OTHER = "127.0.0.21", "127.0.0.22"


class NothingAllowed:
    """Whoever asks has his answer at once."""

    def rule(self, host: str, port: int) -> Ruling | None:
        return Ruling(False, "", "no")

    def rule_address(self, host: str, port: int, address: str) -> Ruling:
        return Ruling(False)

    async def ask(self, entrance: Entrance, host: str, port: int) -> Ruling:
        return Ruling(False)


class Place:
    """A proxy on loopback, with a command at each address."""

    def __init__(self, server: asyncio.Server, told: list[Event]) -> None:
        self.told = told
        self._port = server.sockets[0].getsockname()[1]
        self._held: list[asyncio.StreamWriter] = []

    async def connect(self, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(address, self._port)
        self._held.append(writer)
        return reader, writer

    async def silent(self, address: str, count: int) -> list[asyncio.StreamReader]:
        return [(await self.connect(address))[0] for _ in range(count)]

    async def asks(self, address: str) -> bytes:
        """The status a client gets that asks for something."""
        reader, writer = await self.connect(address)
        writer.write(b"CONNECT a.test:1 HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            return (await asyncio.wait_for(reader.read(), 60)).partition(b"\r\n")[0]
        return b""

    def leave(self) -> None:
        for writer in self._held:
            writer.close()


@contextlib.asynccontextmanager
async def placed() -> AsyncIterator[Place]:
    told: list[Event] = []
    entrances: dict[str, Entrance] = {}
    proxy = Proxy(NothingAllowed(), lambda address: entrances.setdefault(address, Entrance(address, {}, told.append)))
    server = await asyncio.start_server(proxy.serve, "0.0.0.0", 0)
    place = Place(server, told)
    try:
        yield place
    finally:
        place.leave()
        proxy.close()
        server.close()
        await asyncio.sleep(0.05)  # their last words


def notices(place: Place) -> list[str]:
    return [event.text for event in place.told if isinstance(event, Notice)]


async def test_a_command_cannot_take_the_share_of_another() -> None:
    """Silent connections, more than there are: the other is served, and so is the command itself, later on."""
    async with placed() as place:
        await place.silent(ONE, module.CONNECTIONS_AT_MOST + 44)
        assert b"403" in await place.asks(OTHER)
        assert b"403" in await place.asks(ONE)
        assert len(notices(place)) == 1


async def test_the_oldest_that_asked_for_nothing_gives_way() -> None:
    """To a new one of the same command; the others stay."""
    async with placed() as place:
        first, *others = await place.silent(ONE, SHARE)
        await asyncio.sleep(0.05)
        assert notices(place) == []
        await place.silent(ONE, 1)
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(first.read(), 60) == b""
        assert not any(reader.at_eof() or reader.exception() for reader in others)
        assert notices(place) == [f"a command has {SHARE} connections open, which is the maximum, and wants more"]


async def test_many_commands_make_room_for_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """All connections there are, none of them over its command's share: the one that has the most gives one up."""
    monkeypatch.setattr(module, "CONNECTIONS_AT_MOST", 40)
    async with placed() as place:
        least = await place.silent("127.0.0.23", 10)
        most = await place.silent("127.0.0.24", 30)
        await asyncio.sleep(0.05)
        assert b"403" in await place.asks(OTHER)
        assert not any(reader.at_eof() or reader.exception() for reader in least)
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(most[0].read(), 60) == b""
