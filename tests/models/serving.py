"""A tiny HTTP server on loopback that gives the replies it was told to give, and what tests of a client ask of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from sightline.models import Done, Model, ModelError, ModelRequest, Piece, Retrying

KEY = "sk-a-very-secret-key-0123456789"

# whole: with its length. chunked: until the last chunk. cut: chunked, without it. open: until the connection closes.
# hang: chunked, and then nothing more until the client goes away.
Ending = Literal["whole", "chunked", "cut", "open", "hang"]


class Reply(msgspec.Struct, frozen=True):
    body: bytes | list[bytes] = b""
    status: int = 200
    headers: dict[str, str] = {}
    ending: Ending = "chunked"


class Asked(msgspec.Struct, frozen=True):
    """A request as it came. `connection` counts the connections it came over."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Serving:
    """`async with Serving([reply, …]) as server:` gives one reply after the other, the last one again and again."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = list(replies)
        self.asked: list[Asked] = []
        self.gone = asyncio.Event()  # a client went away while it was being answered
        self.answering = asyncio.Event()
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> "Serving":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer, self._connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ")
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.asked.append(Asked(method, path, headers, body, connection))
                reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
                if not await self._answer(reply, reader, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        pieces = [reply.body] if isinstance(reply.body, bytes) else reply.body
        headers = {"Content-Type": "text/event-stream", **reply.headers}
        if reply.ending == "whole":
            headers["Content-Length"] = str(sum(map(len, pieces)))
        elif reply.ending != "open":
            headers["Transfer-Encoding"] = "chunked"
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {reply.status} Said\r\n{fields}\r\n".encode())
        chunked = "Transfer-Encoding" in headers
        for piece in pieces:
            if piece:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            await writer.drain()
        self.answering.set()
        if reply.ending == "hang":
            await reader.read()
            self.gone.set()
        if reply.ending == "chunked":
            writer.write(b"0\r\n\r\n")
        return reply.ending in ("whole", "chunked")


def sse(*events: dict[str, Any], named: bool = True) -> bytes:
    """Events as a server streams them, with the name of each when its API has one."""
    frames = []
    for event in events:
        name = f"event: {event['type']}\n" if named and "type" in event else ""
        frames.append(f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
    return b"".join(frames)


async def collect(model: Model, request: ModelRequest) -> list[Piece]:
    async with aclosing(_generator(model.stream(request))) as pieces:
        return [piece async for piece in pieces]


async def outcome(model: Model, request: ModelRequest) -> tuple[list[Piece], Done | ModelError]:
    """The pieces, and what they ended with. Fails when anything else comes out."""
    pieces: list[Piece] = []
    try:
        async with aclosing(_generator(model.stream(request))) as stream:
            async for piece in stream:
                pieces.append(piece)
    except ModelError as error:
        assert not any(isinstance(piece, Done) for piece in pieces)
        return pieces, error
    last = pieces.pop()
    assert isinstance(last, Done)
    assert not any(isinstance(piece, (Done, Retrying)) for piece in pieces)
    return pieces, last


def _generator(stream: AsyncIterator[Piece]) -> Any:
    return stream


class Naps:
    """A sleep that only remembers."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
