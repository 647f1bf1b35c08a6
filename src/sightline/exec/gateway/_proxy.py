"""The proxy: requests of clients in the namespace, judged and connected.

Rules:

- A host is judged before its name is looked up: a lookup alone can carry a secret out. Then each address is judged,
  and the connection goes to one of those.
- A connection no rule decides on waits while the user is asked, once for all that request the same. A yes for once
  applies to that host and port until the command ends, and so does a no.
- Everything is bounded: connections at once, the time a request may take to arrive, the time nothing moves, what is
  buffered of either side while the other is slow.
- A command has a share of the connections. Where there is no room, the oldest without a request is closed: first of the
  command itself, then of the one that has the most. A command that came to a bound is reported once.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from sightline.exec.gateway._entrance import Entrance, ProxyConnection
from sightline.exec.gateway._judge import ConnectionPolicy, Ruling
from sightline.exec.gateway._requests import BadRequest, ConnectionRequest, denied, granted, read_body, read_request
from sightline.exec.gateway._upstream import Streams, Upstream, UpstreamUnreachable

CONNECTIONS_AT_MOST = 256
SHARE = 64  # of one command
_REQUEST_SECONDS = 30.0
_ASKING_SECONDS = 600.0
_IDLE_SECONDS = 600.0
_CLOSING_SECONDS = 5.0
_SECONDS_BETWEEN_LOOKS = 0.5
_PIECE = 64 * 1024
_UNREAD_AT_MOST = 1024 * 1024


class Proxy:
    """Serves the clients of one gateway."""

    def __init__(self, judge: ConnectionPolicy, entrance_at: Callable[[str], Entrance]) -> None:
        """`entrance_at`: whose address that is."""
        self._judge = judge
        self._entrance_at = entrance_at
        self._upstream = Upstream(_PIECE)
        self._questions: dict[tuple[str, str, int], _Question] = {}
        self._clients: dict[asyncio.Task[object], _Client] = {}  # oldest first
        self._made = 0

    def close(self) -> None:
        for task in self._clients:
            task.cancel()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, whatever it sends."""
        task = asyncio.current_task()
        assert task is not None
        client = _Client(self._entrance_at(writer.get_extra_info("sockname")[0]))
        try:
            if self._has_room(client.entrance):
                self._clients[task] = client
                await self._answer(client, reader, writer)
            else:
                writer.write(denied("http", "busy", "too many connections at once"))
            await asyncio.wait_for(writer.drain(), _CLOSING_SECONDS)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):  # it left, or sends nothing
            pass
        except asyncio.CancelledError:  # its command ended
            writer.transport.abort()
        finally:
            self._clients.pop(task, None)
            writer.close()

    def _has_room(self, entrance: Entrance) -> bool:
        """For one more of this command, made where it can be."""
        counts = Counter(client.entrance for client in self._clients.values())
        if counts[entrance] >= SHARE:
            entrance.overflow(SHARE)
            return self._evict(entrance)
        if len(self._clients) < CONNECTIONS_AT_MOST:
            return True
        entrance.overflow(counts[entrance])
        return any(self._evict(each) for each, count in counts.most_common() if count > counts[entrance])

    def _evict(self, entrance: Entrance) -> bool:
        """Close the oldest connection of a command that has no request yet; False: there is none."""
        of_it = (
            task for task, client in self._clients.items() if client.entrance is entrance and not client.has_request
        )
        oldest = next(of_it, None)
        if oldest is None:
            return False
        del self._clients[oldest]
        oldest.cancel()
        return True

    async def _answer(self, client: "_Client", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await asyncio.wait_for(read_request(reader, writer.write), _REQUEST_SECONDS)
        except BadRequest as problem:
            writer.write(denied(problem.protocol, "bad", str(problem)))
            return
        if request is None:
            return
        client.has_request = True
        self._made += 1
        entrance = client.entrance
        connection = entrance.connection(self._made, request.host, request.port)
        try:
            await self._connect(request, entrance, connection, (reader, writer))
        finally:
            connection.end()

    async def _connect(
        self, request: ConnectionRequest, entrance: Entrance, connection: ProxyConnection, client: Streams
    ) -> None:
        writer = client[1]
        ruling = await self._ruling(entrance, connection, client)
        if ruling.allowed:
            addresses = await self._upstream.addresses(request.host, request.port)
            ruling = self._judged(request, addresses, ruling)
        if not ruling.allowed:
            connection.refuse(ruling.rule, ruling.reason)
            writer.write(denied(request.protocol, "refused", f"{connection.name} is not allowed: {ruling.reason}"))
            await _hear_out(*client)
            return
        connection.allow(ruling.rule)
        try:
            plain = request.protocol == "http"
            server = await self._upstream.connect(request.host, request.port, addresses, plain=plain)
        except UpstreamUnreachable as problem:
            connection.end(str(problem))
            writer.write(denied(request.protocol, "unreachable", str(problem)))
            return
        try:
            writer.write(granted(request))
            server[1].write(request.head)
            connection.sent += len(request.head)
            await _Relay(connection, client, server, request).run()
        finally:
            server[1].close()

    def _judged(self, request: ConnectionRequest, addresses: list[str], ruling: Ruling) -> Ruling:
        """One address that may not be connected to refuses the name: it could be the one that is used."""
        rulings = (self._judge.rule_address(request.host, request.port, address) for address in addresses)
        return next((one for one in rulings if not one.allowed), ruling)

    async def _ruling(self, entrance: Entrance, connection: ProxyConnection, client: Streams) -> Ruling:
        host, port = connection.host, connection.port
        ruling = self._judge.rule(host, port)
        if ruling is not None:
            return ruling
        if entrance.call and (host, port) in entrance.granted:
            return Ruling(True, "allowed once")
        if entrance.call and connection.name in entrance.refused:
            return Ruling(False, "", entrance.refused[connection.name])
        connection.ask()
        answer = await self._user_ruling(entrance, host, port, client)
        if answer.allowed:
            entrance.granted.add((host, port))
        return answer

    async def _user_ruling(self, entrance: Entrance, host: str, port: int, client: Streams) -> Ruling:
        """The user's answer, shared by all that request the same; withdrawn when none waits any more."""
        key = (entrance.call, host, port)
        question = self._questions.get(key)
        if question is None:
            question = self._questions[key] = _Question(self._judge.ask(entrance, host, port))
        question.waiting += 1
        try:
            return await question.answer(client)
        finally:
            question.waiting -= 1
            if not question.waiting:
                question.task.cancel()
                self._questions.pop(key, None)


class _Client:
    """A connection to us."""

    def __init__(self, entrance: Entrance) -> None:
        self.entrance = entrance
        self.has_request = False


class _Question:
    def __init__(self, asking: Awaitable[Ruling]) -> None:
        self.task = asyncio.ensure_future(asking)
        self.waiting = 0

    async def answer(self, client: Streams) -> Ruling:
        loop = asyncio.get_running_loop()
        until = loop.time() + _ASKING_SECONDS
        while not self.task.done():
            if client[0].at_eof() or client[1].is_closing():
                raise EOFError  # the client has left
            if loop.time() >= until:
                return Ruling(False, "", "no answer in time")
            await asyncio.wait({self.task}, timeout=_SECONDS_BETWEEN_LOOKS)
        return self.task.result()


class _Relay:
    """Bytes both ways, each side no faster than the other takes them."""

    def __init__(
        self, connection: ProxyConnection, client: Streams, server: Streams, request: ConnectionRequest
    ) -> None:
        self._connection = connection
        self._client = client
        self._server = server
        self._connection_request = request
        self._patience = asyncio.timeout(_IDLE_SECONDS)

    async def run(self) -> None:
        """Until both sides are done, one of them is gone, or nothing moves for long."""
        up = asyncio.ensure_future(self._request() if self._connection_request.protocol == "http" else self._up())
        down = asyncio.ensure_future(self._down())
        try:
            async with self._patience:
                done, _ = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
                if all(task.exception() is None for task in done):
                    if up not in done and self._connection_request.protocol != "http":
                        await up
                    elif down not in done:
                        await down
        except TimeoutError:
            self._connection.end("idle for too long")
        except (OSError, EOFError, BadRequest, asyncio.LimitOverrunError):
            pass
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.wait({up, down})
            for task in (up, down):
                if not task.cancelled():
                    task.exception()  # seen

    async def _up(self) -> None:
        reader, writer = self._client[0], self._server[1]
        while piece := await reader.read(_PIECE):
            await self._send(writer, piece)
        if writer.can_write_eof():
            writer.write_eof()

    async def _request(self) -> None:
        """The body of the one request, and not a byte that follows it."""
        async for piece in read_body(self._client[0], self._connection_request):
            await self._send(self._server[1], piece)

    async def _send(self, writer: asyncio.StreamWriter, piece: bytes) -> None:
        writer.write(piece)
        await writer.drain()
        self._connection.sent += len(piece)
        self._moved()

    async def _down(self) -> None:
        reader, writer = self._server[0], self._client[1]
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
            self._connection.received += len(piece)
            self._moved()
        if writer.can_write_eof():
            writer.write_eof()

    def _moved(self) -> None:
        self._patience.reschedule(asyncio.get_running_loop().time() + _IDLE_SECONDS)


async def _hear_out(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Closed with something unread, a connection takes along the answer that is still under way."""
    writer.write_eof()
    left = _UNREAD_AT_MOST
    async with asyncio.timeout(_CLOSING_SECONDS):
        while left > 0 and (piece := await reader.read(_PIECE)):
            left -= len(piece)
