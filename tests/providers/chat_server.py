"""A chat completions server on loopback that answers with prepared replies, and a run against it."""

import asyncio
import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest

from sightline.events import Event, encode_event
from sightline.providers import ProviderOutcome, ProviderPrompt
from sightline.providers.openai_compatible._run import ChatRun

from .support import assert_clean

KEY = "sk-secret-0123456789abcdef"
DONE = b"data: [DONE]\n\n"
CALL = {"id": "c1", "type": "function", "function": {"name": "run_command", "arguments": '{"command":"ls"}'}}


class Reply(NamedTuple):
    """`pieces` are sent one after another; `hang` keeps the connection open after them, `cut` drops it."""

    pieces: list[bytes]
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    hang: bool = False
    cut: bool = False


class Seen(NamedTuple):
    path: str
    headers: dict[str, str]
    body: Any


def answer(text: str | None = "Hello.", finish: str = "stop", **message: Any) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    body = {"id": "r1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    return Reply([json.dumps(body).encode()])


def failure(status: int, message: str, **headers: str) -> Reply:
    body = {"error": {"message": message, "type": "some_error", "code": None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply([json.dumps(body).encode()], status, named)


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "r1", "model": "m", "choices": [choice]}).encode() + b"\n\n"


class ChatServer:
    """`async with ChatServer(reply, …) as server`; the last reply is repeated. `requests` is what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self._connections: set[asyncio.Task[None]] = set()
        self.requests: list[Seen] = []
        self.hung_up = asyncio.Event()  # a client left a connection that was kept open for it

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> "ChatServer":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.requests.append(Seen(head[0].split()[1], headers, msgspec.json.decode(body)))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        size = sum(map(len, reply.pieces)) + (1 if reply.cut or reply.hang else 0)
        lines = [f"HTTP/1.1 {reply.status} Something", f"content-length: {size}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in reply.pieces:
            writer.write(piece)
            await writer.drain()
        if reply.hang:
            await reader.read()
            self.hung_up.set()


def isolate(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine reaches a test, and the only key is the test's."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or "OPENAI" in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def now(self) -> float:
        return 1_000_000.0


async def run(
    server: Any, *, clock: FakeClock | None = None, prompt: str = "Hi.", **ask: Any
) -> tuple[list[Event], ProviderOutcome]:
    """Run one prompt to its end; returns its events and outcome."""
    ask["options"] = {"base_url": getattr(server, "url", server), **ask.get("options", {})}
    clock = clock or FakeClock()
    chat = ChatRun(ProviderPrompt(prompt=prompt, **ask), sleep=clock.sleep, now=clock.now)
    events = [event async for batch in chat.events() for event in batch]
    for event in events:
        assert_clean(event)
        assert KEY not in encode_event(event).decode()
    assert KEY not in repr(chat.outcome)
    return events, chat.outcome


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def only(kind: type, events: list[Event]) -> Any:
    (event,) = [event for event in events if isinstance(event, kind)]
    return event
