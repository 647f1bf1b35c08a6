"""A web server on loopback that answers as it is told and remembers what it was asked."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Server:
    def __init__(self) -> None:
        self.pages: dict[str, bytes | Handler] = {}
        self.asked: list[str] = []  # the targets, in order
        self.heads: list[str] = []  # each request's head
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, target: str, body: bytes | str, kind: str = "text/html", **headers: str) -> None:
        self.pages[target] = answer(body, kind, **headers)

    def redirect(self, target: str, location: str, status: int = 302) -> None:
        self.pages[target] = answer(b"", "text/plain", status=status, location=location)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
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
        writer.close()


def answer(body: bytes | str, kind: str, *, status: int = 200, **headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    named = {"content-type": kind, "content-length": str(len(data)), "connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    rows = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return f"HTTP/1.1 {status} Whatever\r\n{rows}\r\n".encode() + data


@contextlib.asynccontextmanager
async def serving(certificate: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=certificate)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        listening.close_clients() if hasattr(listening, "close_clients") else None
