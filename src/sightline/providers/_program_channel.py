"""Channels that are a program, started once and spoken to in lines over its standard streams until it ends.

Rules:

- A request is answered or fails with `Unreachable`: after a while without an answer, and as soon as the program ends.
- What the program was running ends with it.
- In JSON-RPC (`RpcChannel`) an answer has no method, a notification no id, and a request of theirs has both.
"""

import asyncio

import msgspec

from sightline.events import Error, Event, Notice, Unknown
from sightline.exec import Process
from sightline.providers._binary import start_channel
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import ProviderPrompt, Unreachable
from sightline.providers._requests import OpenRequests
from sightline.providers._source import read_line
from sightline.providers._stream import EventStream
from sightline.text import clean_line

_NO_SUCH_METHOD = -32601


class ProgramChannel(OpenRequests):
    """A channel that is a program which runs from prompt to prompt; it is started again when it has ended."""

    def __init__(self, name: str, *, seconds: float, hint: str) -> None:
        """`name`: the program as people know it. `seconds`: how long an answer may take. `hint`: what to do without."""
        super().__init__()
        self._name = name
        self._seconds = seconds
        self._hint = hint
        self._run: ChannelRun | None = None
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: dict[object, asyncio.Future[object]] = {}
        self._count = 0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.exit_code is None

    @property
    def is_read(self) -> bool:
        """Whether its output is still read: after that nothing of it becomes an event."""
        return self._reading is not None and not self._reading.done()

    async def close(self) -> None:
        await self._end_program()
        if self._run is not None:
            self._run.unbind()
        if self._reading is not None:
            await asyncio.wait([self._reading])  # all it printed before it ended is forwarded

    def parse_events(self, line: bytes) -> list[Event]:
        """The events of one line of its output. A line that is an answer resolves the request it answers."""
        raise NotImplementedError

    async def _forward(self, events: list[Event]) -> None:
        if self._run is not None:
            await self._run.put(events)

    def _publish(self, events: list[Event]) -> None:
        """What came of something the user did: waits for no reader."""
        if self._run is not None:
            self._run.publish(events)

    def _exit_error(self, exit_code: int | None, stderr: str) -> Unreachable:
        """The error of all requests that wait for an answer when it ends."""
        raise NotImplementedError

    async def _on_exit(self, error: Unreachable) -> None:
        self._requests.clear()
        if self._run is not None:
            await self._run.fail(Error(error.message, "send it again: the conversation is resumed"))

    def _start_program(self, argv: list[str], ask: ProviderPrompt, env: dict[str, str], *, hint: str = "") -> None:
        """`hint`: what to do where it cannot be started."""
        process = start_channel(
            argv,
            self._name,
            cwd=ask.cwd,
            env=env,
            hint=hint or self._hint,
            keep_stdin=True,
            entering=ask.entering,
        )
        self._process, self._waiting = process, {}
        self._reading = asyncio.get_running_loop().create_task(self._read(process, self._waiting))

    async def _end_program(self) -> None:
        if self._process is not None:
            await self._process.end()

    def _next_id(self) -> int:
        self._count += 1
        return self._count

    def _write(self, lines: bytes) -> None:
        if self._process is not None:
            self._process.write(lines)

    async def _request(self, id: object, lines: bytes, what: str) -> object:
        """Send a request; returns the answer that comes under this id."""
        future = self._waiting[id] = asyncio.get_running_loop().create_future()
        waiting = self._waiting
        self._write(lines)
        try:
            async with asyncio.timeout(self._seconds):
                return await future
        except TimeoutError:
            text = f"{self._name} did not answer {what} in {self._seconds:.0f} s"
            raise Unreachable(text, self._hint) from None
        finally:
            waiting.pop(id, None)

    def _resolve(self, id: object, answer: object) -> None:
        """The answer to the request of this id has come; `Unreachable` is a refusal."""
        future = self._waiting.get(id)
        if future is None or future.done():
            return
        if isinstance(answer, Unreachable):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    async def _read(self, process: Process, waiting: dict[object, asyncio.Future[object]]) -> None:
        stream = EventStream(self)
        try:
            while chunk := await process.read():
                await self._forward(stream.feed(chunk))
            await self._forward(stream.end())
        finally:
            error = self._exit_error(process.exit_code, process.stderr.decode("utf-8", "replace"))
            await process.end()  # what it was running outlives it otherwise
            process.close()
            for future in waiting.values():
                if not future.done():
                    future.set_exception(error)
            await self._on_exit(error)


class RpcMessage(msgspec.Struct, gc=False):
    method: str = ""
    id: object = None
    params: dict[str, object] = {}
    result: object = None
    error: object = None


_decoder = msgspec.json.Decoder(RpcMessage)


class RpcChannel(ProgramChannel):
    """A program that speaks JSON-RPC, one message per line."""

    title = ""
    rpc_version = ""  # where messages name it

    def parse_events(self, line: bytes) -> list[Event]:
        message = read_line(line, _decoder)
        if isinstance(message, Unknown):
            return [message]
        if not message.method:
            return self._on_answer(message)
        return self._on_notification(message, line) if message.id is None else self._on_request(message)

    def _on_answer(self, message: RpcMessage) -> list[Event]:
        if isinstance(message.id, int):
            self._resolve(message.id, message.result if message.error is None else self._refusal(message.error))
        return []

    def _on_notification(self, message: RpcMessage, line: bytes) -> list[Event]:
        raise NotImplementedError

    def _on_request(self, message: RpcMessage) -> list[Event]:
        raise NotImplementedError

    def _refusal(self, error: object) -> Unreachable:
        """The exception for an answer that is an error."""
        raise NotImplementedError

    def _unsupported(self, message: RpcMessage) -> list[Event]:
        """Refuse a request that nothing here can answer, so that the program does not wait for ever."""
        self._send({"id": message.id, "error": {"code": _NO_SUCH_METHOD, "message": "not supported"}})
        text = f"{self.title} asked for something that only its own program supports: {message.method[:100]}"
        return [Notice(clean_line(text), "warning")]

    async def _call(self, method: str, **params: object) -> object:
        """The answer; Unreachable when there is none, or it is an error."""
        id = self._next_id()
        return await self._request(id, self._encoded({"id": id, "method": method, "params": params}), method)

    def _send(self, message: dict[str, object]) -> None:
        self._write(self._encoded(message))

    def _encoded(self, message: dict[str, object]) -> bytes:
        named = {"jsonrpc": self.rpc_version, **message} if self.rpc_version else message
        return msgspec.json.encode(named) + b"\n"


def client_info() -> dict[str, str]:
    from importlib.metadata import version

    return {"name": "sightline", "title": "Sightline", "version": version("sightline")}
