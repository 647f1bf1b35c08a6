"""Server-sent events: one response that continues until the source or the reader ends it.

Nothing is queued for a slow reader: the next part is taken from the source only when the last one was accepted.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = b": still here\n\n"

_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def event(kind: str, data: bytes, seq: int | None = None) -> bytes:
    """One event. JSON on one line needs nothing escaped."""
    number = b"" if seq is None else b"id: %d\n" % seq
    return b"%bevent: %b\ndata: %b\n\n" % (number, kind.encode(), data)


def rows_json(rows: Iterable[bytes], **others: object) -> bytes:
    """An object with rows that are JSON already."""
    whole = msgspec.json.encode(others)
    return b'%b,"rows":[%b]}' % (whole[:-1], b",".join(rows))


async def set_in_time(happened: asyncio.Event, seconds: float = KEEP_ALIVE_SECONDS) -> bool:
    """Wait for an event; False when the time passed without it."""
    try:
        async with asyncio.timeout(seconds):
            await happened.wait()
    except TimeoutError:
        return False
    return True


class EventStreamResponse(Response):
    """Streams what a source yields; the source is closed as soon as the reader disconnects."""

    media_type = "text/event-stream"

    def __init__(self, source: AsyncGenerator[bytes, None]) -> None:
        self._source = source
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        tasks = [asyncio.ensure_future(self._send(send)), asyncio.ensure_future(_gone(receive))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            await self._source.aclose()
        sent = results[0]
        if isinstance(sent, Exception) and not isinstance(sent, OSError):
            raise sent

    async def _send(self, send: Send) -> None:
        async for part in self._source:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
