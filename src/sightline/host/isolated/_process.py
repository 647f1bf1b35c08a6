"""The agent of one isolated task, in a process of its own that is started in its working copy.

    python -m sightline.host.isolated._process

Rules:

- Its standard input has its start, then commands (see `_wire`); its standard output has its events and the replies.
- It works on one prompt at a time, each a run like any other, in a session of its own that no list shows: what it does
  is seen in the session it belongs to.
- It starts no agents and no jobs. What it asks is answered there.
- It ends with its standard input: a session that is gone leaves nothing behind.
"""

import asyncio
import os

from sightline._working_folder import import_nothing_from_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from sightline.agent import AgentSpec
    from sightline.events import Event
    from sightline.host.isolated._wire import IsolatedStart
    from sightline.host.native._run import NativeRun
    from sightline.host.session._commands import AgentCommand, CommandReply, Prompt

_LINE_AT_MOST = 32 * 1024 * 1024  # bytes


def main() -> None:
    import_nothing_from_it()
    lines = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a library prints is no event
    asyncio.run(_serve(*lines))


async def _serve(commands: "BinaryIO", events: "BinaryIO") -> None:
    from sightline.host.isolated._wire import decode_start

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LINE_AT_MOST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), commands)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, events)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    first = await reader.readline()
    if not first:
        return
    agent = IsolatedAgent(decode_start(first), writer)
    try:
        while line := await reader.readline():
            await agent.take(line)
    finally:
        await agent.close()


class IsolatedAgent:
    """One conversation; a run for each prompt of it."""

    def __init__(self, start: "IsolatedStart", writer: asyncio.StreamWriter) -> None:
        self._start = start
        self._writer = writer
        self._session = start.options.resume
        self._run: NativeRun | None = None
        self._working: asyncio.Task[None] | None = None
        self._replies: set[asyncio.Task[None]] = set()

    async def take(self, line: bytes) -> None:
        from sightline.host.isolated._wire import decode_command
        from sightline.host.session._commands import Prompt

        numbered = decode_command(line)
        command = numbered.command
        if isinstance(command, Prompt) and command.how == "prompt":
            if self._working is not None:
                await asyncio.wait([self._working])  # its run is over, and its session is being closed
            self._reply(self._begin(command), numbered.ref)
            return
        task = asyncio.get_running_loop().create_task(self._submit(command, numbered.ref))
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)

    async def close(self) -> None:
        if self._run is not None:
            await self._run.cancel()
        if self._working is not None:
            await asyncio.wait([self._working])

    def _begin(self, prompt: "Prompt") -> "CommandReply":
        from pathlib import Path

        from sightline.exceptions import SightlineError
        from sightline.host.native._run import NativeRun
        from sightline.host.session._commands import CommandReply
        from sightline.journal import Store

        try:
            spec = self._spec()
        except SightlineError as error:
            return CommandReply(False, error=error.message, hint=error.hint)
        self._run = NativeRun(Store(Path(self._start.folder)), spec, prompt.text, attended=True, listed=False)
        self._working = asyncio.get_running_loop().create_task(self._work(self._run))
        return CommandReply(True)

    def _spec(self) -> "AgentSpec":
        """As that of any session, without what would leave work behind."""
        from msgspec.structs import replace

        from sightline.agent import agent_spec

        spec = agent_spec(replace(self._start.options, resume=self._session))
        settings = spec.settings
        settings = replace(
            settings,
            task=replace(settings.task, max_depth=0),
            jobs=replace(settings.jobs, enabled=False),
        )
        skills = None if self._start.skills is None else tuple(self._start.skills)
        return replace(spec, settings=settings, only=tuple(self._start.only), skills=skills)

    async def _work(self, run: "NativeRun") -> None:
        from contextlib import aclosing

        from sightline.events import Error, RunEnded
        from sightline.exceptions import SightlineError

        try:
            async with aclosing(run.raw()) as batches:
                async for lines in batches:
                    self._writer.write(lines)
                    await self._writer.drain()
            self._session = run.outcome.session or self._session
        except ConnectionError:  # no one reads it: its input ends, too
            return
        except SightlineError as error:  # it could not begin
            self._write([Error(error.message, error.hint), RunEnded(is_error=True)])

    def _write(self, events: "list[Event]") -> None:
        from sightline.events import encode_event

        for event in events:
            self._writer.write(encode_event(event) + b"\n")

    async def _submit(self, command: "AgentCommand", ref: int) -> None:
        from sightline.host.session._commands import CommandReply

        run = self._run
        reply = CommandReply(False, error="it is not working") if run is None else await run.submit(command)
        self._reply(reply, ref)

    def _reply(self, reply: "CommandReply", ref: int) -> None:
        import msgspec

        from sightline.host.isolated._wire import NumberedReply

        self._writer.write(msgspec.json.encode(NumberedReply(reply, ref)) + b"\n")


if __name__ == "__main__":
    main()
