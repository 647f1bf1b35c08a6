"""The stand-in itself: listens on loopback, knows a dialect by its path, and plays the script."""

import asyncio
import threading
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import msgspec

from sightline.testing.standin._anthropic import Anthropic
from sightline.testing.standin._chat import Chat
from sightline.testing.standin._conversation import Conversation
from sightline.testing.standin._dialect import Dialect
from sightline.testing.standin._director import Director
from sightline.testing.standin._gemini import Gemini
from sightline.testing.standin._http import (
    Request,
    read_request,
    write_chunk,
    write_half_reply,
    write_reply,
    write_stream_head,
)
from sightline.testing.standin._responses import Responses
from sightline.testing.standin._script import ErrorBlock, ScriptSource, load_script
from sightline.testing.standin._turn import Cut, ReadyTurn, Saying

_BODY_LINE_LIMIT = 1 << 24

_MODEL = {
    "id": "standin-1",
    "object": "model",
    "type": "model",
    "display_name": "Stand-in 1",
    "created": 1_700_000_000,
    "created_at": "2024-01-01T00:00:00Z",
    "owned_by": "standin",
}


class Exchange(msgspec.Struct, frozen=True):
    """When a request was there and when its answer was out, on the clock of `time.perf_counter`."""

    requested: float
    answered: float
    is_conversation: bool


class StandIn:
    """A scripted model on loopback. `requests` is all it received, `turns` what it played, each turn once."""

    def __init__(self, script: ScriptSource, *, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.turns: list[ReadyTurn] = []
        self.exchanges: list[Exchange] = []
        self.port = port
        self._director = Director(load_script(script))
        self._broken: set[str] = set()
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def conversations(self) -> list[Request]:
        """The requests for an answer of the model, without those a client makes around them."""
        return [request for request in self.requests if _dialect(request) is not None]

    @property
    def strays(self) -> list[Request]:
        """What a client meant for somewhere else; it sees them when it is given as the proxy."""
        return [seen for seen in self.requests if seen.method == "CONNECT" or seen.path.startswith("http")]

    async def __aenter__(self) -> "StandIn":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, limit=_BODY_LINE_LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    @classmethod
    @contextmanager
    def in_thread(cls, script: ScriptSource, *, port: int = 0) -> "Iterator[StandIn]":
        """The same for code that has no event loop: it runs in a thread of its own."""
        server = cls(script, port=port)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="standin", daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
            try:
                yield server
            finally:
                asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            while (request := await read_request(reader, writer)) is not None:
                requested = time.perf_counter()
                self.requests.append(request)
                try:
                    if not await self._reply(request, writer):
                        break
                    await writer.drain()
                finally:  # a client that has heard enough may be gone by now
                    self.exchanges.append(Exchange(requested, time.perf_counter(), _dialect(request) is not None))
        except ConnectionError:
            pass  # the client went away, as a cancelled one does
        finally:
            writer.close()

    async def _reply(self, request: Request, writer: StreamWriter) -> bool:
        """Answer one request; False when the connection is to be closed after it."""
        dialect = _dialect(request)
        if dialect is not None:
            return await self._converse(dialect, request, writer)
        status, value = _small_talk(request)
        write_reply(writer, status, value)
        return status != 403

    async def _converse(self, dialect: Dialect, request: Request, writer: StreamWriter) -> bool:
        conversation = dialect.read(request.body, request.path)
        answer = self._director.answer(conversation)
        if answer.error is not None:
            write_reply(writer, answer.error.status, dialect.error(answer.error), _error_headers(answer.error))
            return True
        self._remember(answer.turn)
        if conversation.stream:
            return await self._stream(dialect, answer.turn, conversation, writer)
        whole = dialect.whole(answer.turn, conversation)
        await asyncio.sleep(sum(speech.block.delay_ms for speech in answer.turn.speeches) / 1000)
        if any(self._breaks(Cut(speech.uid)) for speech in answer.turn.speeches if _is_cut(speech)):
            write_half_reply(writer, whole)
            return False
        write_reply(writer, 200, whole)
        return True

    async def _stream(
        self, dialect: Dialect, turn: ReadyTurn, conversation: Conversation, writer: StreamWriter
    ) -> bool:
        write_stream_head(writer)
        for frame in dialect.stream(turn, conversation):
            if isinstance(frame, Cut):
                if self._breaks(frame):
                    return False
                continue
            write_chunk(writer, frame.data)
            await writer.drain()
            if frame.pause_ms:
                await asyncio.sleep(frame.pause_ms / 1000)
        write_chunk(writer, b"")
        return True

    def _breaks(self, cut: Cut) -> bool:
        """Whether the connection breaks at this place now: only the first time."""
        first = cut.uid not in self._broken
        self._broken.add(cut.uid)
        return first

    def _remember(self, turn: ReadyTurn) -> None:
        if turn.agent and all((turn.agent, turn.index) != (seen.agent, seen.index) for seen in self.turns):
            self.turns.append(turn)


def _dialect(request: Request) -> Dialect | None:
    if request.method != "POST" or not isinstance(request.body, dict):
        return None
    path = request.path
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Chat()
    return Gemini() if path.endswith((":streamGenerateContent", ":generateContent")) else None


def _small_talk(request: Request) -> tuple[int, Any]:
    """What clients ask beside the conversation. Nothing is passed on to anywhere."""
    if request.method == "CONNECT" or request.path.startswith("http"):
        return 403, {"error": {"message": "this server is no proxy"}}
    if request.method == "HEAD":
        return 200, None
    if request.path.endswith("/count_tokens"):
        return 200, {"input_tokens": 1000}
    if request.path.endswith(":countTokens"):
        return 200, {"totalTokens": 1000}
    if request.path.endswith("/models"):
        return 200, {"object": "list", "data": [_MODEL], "has_more": False}
    return (200 if request.method == "POST" else 404), {}


def _error_headers(error: ErrorBlock) -> dict[str, str]:
    return {} if error.retry_after is None else {"Retry-After": f"{error.retry_after:g}"}


def _is_cut(speech: object) -> bool:
    return isinstance(speech, Saying) and speech.block.cut_at is not None
