"""A program that is spoken with in lines over its standard streams: started, asked, and heard until it ends; and what
the channels share that are such a program.

Rules:

- Whoever asks gets the answer or `Unreachable`: after a while without one, and as soon as the program has ended.
- What the program was running ends with it.
"""

import asyncio
from typing import Any, Protocol

from sightline.events import Error, Event
from sightline.exec import Process, UntrustedProgram
from sightline.providers._binary import binary_words
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import NotInstalled, Unreachable
from sightline.providers._stream import EventStream
from sightline.text import clean_line


class ProgramListener(Protocol):
    """Whoever speaks with it: knows its lines, and what becomes of them."""

    def parse_events(self, line: bytes) -> list[Event]: ...

    async def pass_on(self, events: list[Event]) -> None: ...

    def why_ended(self, exit_code: int | None, stderr: str) -> Unreachable:
        """What those are told who wait for an answer."""

    async def ended(self, problem: Unreachable) -> None: ...


class SpokenProgram:
    """One at a time; it can be started again when it has ended."""

    def __init__(self, name: str, listener: ProgramListener, *, seconds: float) -> None:
        """`name`: as people know it. `seconds`: how long an answer may take."""
        self._name = name
        self._listener = listener
        self._seconds = seconds
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: dict[Any, asyncio.Future[Any]] = {}

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.exit_code is None

    @property
    def is_heard(self) -> bool:
        """Whether anything it says still reaches the listener."""
        return self._reading is not None and not self._reading.done()

    def start(self, argv: list[str], *, cwd: str, env: dict[str, str], hint: str) -> None:
        """`hint`: what to do where it cannot be."""
        try:
            process = Process([*binary_words(argv[0], cwd, env), *argv[1:]], cwd=cwd, env=env, keep_stdin=True)
        except UntrustedProgram as refused:
            raise Unreachable(clean_line(refused.message), refused.hint) from None
        except FileNotFoundError:
            raise NotInstalled(f"{self._name} is not installed", hint) from None
        except (OSError, ValueError) as problem:
            raise Unreachable(clean_line(f"{self._name} cannot be started: {problem}"), hint) from None
        self._process, self._waiting = process, {}
        self._reading = asyncio.get_running_loop().create_task(self._hear(process, self._waiting))

    def send(self, lines: bytes) -> None:
        if self._process is not None:
            self._process.write(lines)

    async def ask(self, id: Any, lines: bytes, what: str, hint: str) -> Any:
        """The answer that comes under this id. `what`: for who is told that there was none, with what to do."""
        future = self._waiting[id] = asyncio.get_running_loop().create_future()
        waiting = self._waiting
        self.send(lines)
        try:
            async with asyncio.timeout(self._seconds):
                return await future
        except TimeoutError:
            raise Unreachable(f"{self._name} did not answer {what} in {self._seconds:.0f} s", hint) from None
        finally:
            waiting.pop(id, None)

    def answered(self, id: Any, answer: Any) -> None:
        """For the listener: a line was the answer to what was asked under this id; `Unreachable` is a refusal."""
        future = self._waiting.get(id)
        if future is None or future.done():
            return
        if isinstance(answer, Unreachable):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    async def end(self) -> None:
        if self._process is not None:
            await self._process.end()

    async def heard_out(self) -> None:
        """All that it said before it ended was passed on."""
        if self._reading is not None:
            await asyncio.wait([self._reading])

    async def _hear(self, process: Process, waiting: dict[Any, asyncio.Future[Any]]) -> None:
        stream = EventStream(self._listener)
        try:
            while chunk := await process.read():
                await self._listener.pass_on(stream.feed(chunk))
            await self._listener.pass_on(stream.end())
        finally:
            problem = self._listener.why_ended(process.exit_code, process.stderr.decode("utf-8", "replace"))
            await process.end()  # what it was running outlives it otherwise
            process.close()
            for future in waiting.values():
                if not future.done():
                    future.set_exception(problem)
            await self._listener.ended(problem)


class ProgramChannel:
    """A channel that is a program which runs from prompt to prompt."""

    _run: ChannelRun | None = None

    def __init__(self, name: str, *, seconds: float) -> None:
        """As for `SpokenProgram`."""
        self._program = SpokenProgram(name, self, seconds=seconds)
        self._count = 0

    async def close(self) -> None:
        await self._program.end()
        if self._run is not None:
            self._run.unbind()
        await self._program.heard_out()

    def parse_events(self, line: bytes) -> list[Event]:
        raise NotImplementedError

    async def pass_on(self, events: list[Event]) -> None:
        if self._run is not None:
            await self._run.put(events)

    def why_ended(self, exit_code: int | None, stderr: str) -> Unreachable:
        raise NotImplementedError

    async def ended(self, problem: Unreachable) -> None:
        if self._run is not None:
            await self._run.fail(Error(problem.message, "send it again: the conversation is resumed"))

    def _next_id(self) -> int:
        self._count += 1
        return self._count
