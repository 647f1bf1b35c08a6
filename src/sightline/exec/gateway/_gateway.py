"""The proxy that is the whole network of a session's sandboxed commands.

Rules:

- One namespace for a session, made with its first sandboxed command. Its commands reach each other over loopback, this
  proxy, and nothing else: no address of the machine, no name server, no abstract socket.
- A host is judged before its name is looked up: a lookup alone can carry a secret out. Then each address is judged,
  and the connection goes to one of those.
- A connection nobody has ruled on waits while a person is asked, once for all that want the same. A yes for once holds
  for that host and port until the command ends, and so does a no.
- Which command a connection belongs to is told by the loopback address it came to: each command has its own. One that
  came to another is judged all the same.
- Everything is bounded: connections at once, the time a request may take to be said, the time nothing moves, what is
  held of either side while the other is slow.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

from sightline.events import Event, Notice
from sightline.exec.gateway._entrance import Connection, Entrance
from sightline.exec.gateway._namespace import Namespace, NoNamespace, create
from sightline.exec.gateway._requests import (
    HEAD_AT_MOST,
    Asked,
    BadRequest,
    denied,
    granted,
    read_body,
    read_request,
)
from sightline.exec.gateway._upstream import Streams, Unreachable, Upstream
from sightline.text import clean_line

CONNECTIONS_AT_MOST = 128
_REQUEST_SECONDS = 30.0
_ASKING_SECONDS = 600.0
_IDLE_SECONDS = 600.0
_CLOSING_SECONDS = 5.0
_SECONDS_BETWEEN_LOOKS = 0.5
_PIECE = 64 * 1024
_LOOPBACK = "localhost,127.0.0.1,::1"


class Ruling(msgspec.Struct, frozen=True):
    """`rule` decided; `reason` is for whoever is refused."""

    allowed: bool
    rule: str = ""
    reason: str = ""


class Judge(Protocol):
    """Who says what a command may connect to."""

    def rule(self, host: str, port: int) -> Ruling | None:
        """What is settled about a host; None: a person has to be asked."""

    def rule_address(self, host: str, port: int, address: str) -> Ruling:
        """Whether what is allowed may be at this address."""

    async def ask(self, entrance: Entrance, host: str, port: int) -> Ruling:
        """The answer of a person, or what holds where there is none."""


class Gateway:
    """The network of one session. Used in its event loop only."""

    def __init__(self, judge: Judge, publish: Callable[[Event], None]) -> None:
        self.problem = ""  # why there is none, after a first attempt
        self._judge = judge
        self._publish = publish
        self._opening = asyncio.Lock()
        self._namespace: Namespace | None = None
        self._server: asyncio.Server | None = None
        self._entering: tuple[str, ...] = ()
        self._upstream = Upstream(_PIECE)
        self._entrances: dict[str, Entrance] = {}  # by address
        self._unknown = Entrance("", {}, publish)  # of those who came to another address
        self._questions: dict[tuple[str, str, int], _Question] = {}
        self._clients: set[asyncio.Task[Any] | None] = set()
        self._made = 0

    async def enter(self, call: str, args: Mapping[str, Any]) -> Entrance | None:
        """For one command of this call. None where the system does not allow it: `problem` says why."""
        async with self._opening:
            if self._server is None and not self.problem:
                await self._open()
        if self._namespace is None or self._server is None:
            return None
        address = self._new_address()
        entrance = Entrance(
            call,
            args,
            self._publish,
            argv=self._entering,
            env=_environment(f"http://{address}:{self._namespace.port}"),
            on_leave=lambda: self._forget(address),
        )
        self._entrances[address] = entrance
        return entrance

    async def close(self) -> None:
        for entrance in [*self._entrances.values(), self._unknown]:
            entrance.leave()
        for client in self._clients:
            if client is not None:
                client.cancel()
        if self._server is not None:
            self._server.close()
        if self._namespace is not None:
            self._namespace.close()
        self._server = self._namespace = None
        self.problem = self.problem or "the session is over"
        self._upstream.close()

    async def _open(self) -> None:
        try:
            namespace, self._entering = await asyncio.to_thread(_opened)
        except NoNamespace as problem:
            self.problem = str(problem)
            text = f"commands in the sandbox have no network here, not even to hosts that are allowed: {problem}"
            self._publish(Notice(clean_line(text), source="exec"))
            return
        self._namespace = namespace
        self._server = await asyncio.start_server(self._serve, sock=namespace.listener, limit=HEAD_AT_MOST)

    def _new_address(self) -> str:
        while True:
            first, second, third = secrets.randbelow(254) + 1, secrets.randbelow(256), secrets.randbelow(254) + 1
            address = f"127.{first}.{second}.{third}"
            if address not in self._entrances:
                return address

    def _forget(self, address: str) -> None:
        self._entrances.pop(address, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, whatever it sends."""
        client = asyncio.current_task()
        self._clients.add(client)
        try:
            if len(self._clients) > CONNECTIONS_AT_MOST:
                writer.write(denied("http", "busy", "too many connections at once"))
            else:
                await self._answer(reader, writer)
            await asyncio.wait_for(writer.drain(), _CLOSING_SECONDS)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):  # it left, or says nothing
            pass
        except asyncio.CancelledError:  # its command ended
            writer.transport.abort()
        finally:
            self._clients.discard(client)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await asyncio.wait_for(read_request(reader, writer.write), _REQUEST_SECONDS)
        except BadRequest as problem:
            writer.write(denied(problem.protocol, "bad", str(problem)))
            return
        if asked is None:
            return
        self._made += 1
        entrance = self._entrances.get(writer.get_extra_info("sockname")[0], self._unknown)
        connection = entrance.connection(self._made, asked.host, asked.port)
        try:
            await self._connect(asked, entrance, connection, (reader, writer))
        finally:
            connection.end()

    async def _connect(self, asked: Asked, entrance: Entrance, connection: Connection, client: Streams) -> None:
        writer = client[1]
        ruling = await self._ruling(entrance, connection, client)
        if ruling.allowed:
            addresses = await self._upstream.addresses(asked.host, asked.port)
            ruling = self._judged(asked, addresses, ruling)
        if not ruling.allowed:
            connection.refuse(ruling.rule, ruling.reason)
            writer.write(denied(asked.protocol, "refused", f"{connection.name} is not allowed: {ruling.reason}"))
            return
        connection.allow(ruling.rule)
        try:
            plain = asked.protocol == "http"
            server = await self._upstream.connect(asked.host, asked.port, addresses, plain=plain)
        except Unreachable as problem:
            connection.end(str(problem))
            writer.write(denied(asked.protocol, "unreachable", str(problem)))
            return
        try:
            writer.write(granted(asked))
            server[1].write(asked.head)
            connection.sent += len(asked.head)
            await _Relay(connection, client, server, asked).run()
        finally:
            server[1].close()

    def _judged(self, asked: Asked, addresses: list[str], ruling: Ruling) -> Ruling:
        """One address that may not be connected to refuses the name: it could be the one that is used."""
        rulings = (self._judge.rule_address(asked.host, asked.port, address) for address in addresses)
        return next((one for one in rulings if not one.allowed), ruling)

    async def _ruling(self, entrance: Entrance, connection: Connection, client: Streams) -> Ruling:
        host, port = connection.host, connection.port
        ruling = self._judge.rule(host, port)
        if ruling is not None:
            return ruling
        if entrance.call and (host, port) in entrance.granted:
            return Ruling(True, "allowed once")
        if entrance.call and connection.name in entrance.refused:
            return Ruling(False, "", entrance.refused[connection.name])
        connection.ask()
        answer = await self._asked(entrance, host, port, client)
        if answer.allowed:
            entrance.granted.add((host, port))
        return answer

    async def _asked(self, entrance: Entrance, host: str, port: int, client: Streams) -> Ruling:
        """The answer to a question that all who want the same share. It is withdrawn when none waits any more."""
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


class _Question:
    def __init__(self, asking: Awaitable[Ruling]) -> None:
        self.task = asyncio.ensure_future(asking)
        self.waiting = 0

    async def answer(self, client: Streams) -> Ruling:
        loop = asyncio.get_running_loop()
        until = loop.time() + _ASKING_SECONDS
        while not self.task.done():
            if client[0].at_eof() or client[1].is_closing():
                raise EOFError  # whoever wanted it has left
            if loop.time() >= until:
                return Ruling(False, "", "nobody answered in time")
            await asyncio.wait({self.task}, timeout=_SECONDS_BETWEEN_LOOKS)
        return self.task.result()


class _Relay:
    """Bytes both ways, each side no faster than the other takes them."""

    def __init__(self, connection: Connection, client: Streams, server: Streams, asked: Asked) -> None:
        self._connection = connection
        self._client = client
        self._server = server
        self._asked = asked
        self._patience = asyncio.timeout(_IDLE_SECONDS)

    async def run(self) -> None:
        """Until both sides have said all, one of them is gone, or nothing moves for long."""
        up = asyncio.ensure_future(self._request() if self._asked.protocol == "http" else self._up())
        down = asyncio.ensure_future(self._down())
        try:
            async with self._patience:
                done, _ = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
                if all(task.exception() is None for task in done):
                    if up not in done and self._asked.protocol != "http":
                        await up
                    elif down not in done:
                        await down
        except TimeoutError:
            self._connection.end("nothing moved for too long")
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
        async for piece in read_body(self._client[0], self._asked):
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


def gateway_problem() -> str:
    """Why hosts cannot be allowed one by one on this machine; nothing when they can. Tried, which takes a while."""
    try:
        namespace, _ = _opened()
    except NoNamespace as problem:
        return str(problem)
    namespace.close()
    return ""


def _opened() -> tuple[Namespace, tuple[str, ...]]:
    """A namespace, and the words that start a command in it: tried once, with bubblewrap."""
    from sightline.exec import _bubblewrap
    from sightline.exec._programs import UntrustedProgram, find_program

    try:
        nsenter = find_program("nsenter")
    except UntrustedProgram as refused:
        raise NoNamespace(refused.message) from None
    if nsenter is None:
        raise NoNamespace("nsenter (of util-linux) is not installed")
    namespace = create()
    words = namespace.entering(nsenter)
    problem = _bubblewrap.problem(entering=words)
    if problem:
        namespace.close()
        raise NoNamespace(problem)
    return namespace, words


def _environment(proxy: str) -> dict[str, str]:
    """What programs look for. SOCKS is answered too, but not offered in `ALL_PROXY`: libraries that cannot speak it
    fail at their start when they see it there, whatever they were going to do."""
    both = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, "NO_PROXY": _LOOPBACK}
    return {**both, **{name.lower(): value for name, value in both.items()}, "NODE_USE_ENV_PROXY": "1"}
