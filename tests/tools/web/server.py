"""A web server on loopback that answers as it is told and remembers what it was asked."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Server:
    def __init__(self) -> None:
        self.pages: dict[str, bytes | Handler] = {}
        self.asked: list[str] = []  # the targets, in order
        self.heads: list[str] = []  # each request's head
        self.port = 0
        self.tasks: list[asyncio.Task[None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, target: str, body: bytes | str, kind: str = "text/html", **headers: str) -> None:
        self.pages[target] = answer(body, kind, **headers)

    def redirect(self, target: str, location: str, status: int = 302) -> None:
        self.pages[target] = answer(b"", "text/plain", status=status, location=location)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.append(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            writer.transport.abort() if writer.is_closing() else writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), 5)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        target = head.split(" ", 2)[1]
        self.asked.append(target)
        self.heads.append(head)
        page = self.pages.get(target, answer(b"nothing here", "text/plain", status=404))
        if isinstance(page, bytes):
            writer.write(page)
            await writer.drain()
        else:
            await page(writer)


def answer(body: bytes | str, kind: str, *, status: int = 200, **headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    named = {"content-type": kind, "content-length": str(len(data)), "connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    rows = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return f"HTTP/1.1 {status} Whatever\r\n{rows}\r\n".encode() + data


@contextlib.asynccontextmanager
async def serving(certificate: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.accept, "127.0.0.1", 0, ssl=certificate)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in server.tasks:
            task.cancel()
        await asyncio.gather(*server.tasks, return_exceptions=True)


def lookups(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Have names that end in .test looked up with these answers, one after the other (none: there is no such name);
    returns the names asked for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, *args: Any, **named: Any) -> Any:
        if not str(host).endswith(".test"):
            return real(host, port, *args, **named)
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return asked
