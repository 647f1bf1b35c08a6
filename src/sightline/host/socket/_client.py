"""A view's end of the socket: the same `subscribe` and `submit` the session itself has."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from sightline import __version__
from sightline.events import Event
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host.session._commands import Command, CommandReply
from sightline.host.session._subscription import Frame
from sightline.host.socket._runtime import connected
from sightline.host.socket._wire import (
    REQUEST_CAP,
    Answer,
    Bye,
    Entries,
    Hello,
    RefusedLine,
    Submit,
    Subscribe,
    Whole,
    decode_answer,
    encode_line,
)
from sightline.transcript import Entry, Snapshot

_READ_SIZE = 256 * 1024
_SECONDS_TO_CONNECT = 5.0
# Frames read and not yet taken by the view; past this the host has to wait, and then to resync us.
_FRAMES_AHEAD = 16


class HostGone(OutsideFailure):
    """The host ended without a goodbye: it was killed, or the machine is in trouble."""


class HostRefused(OutsideFailure):
    """The host does not serve this process: it runs in a sandbox, or a command started it."""


class Client:
    """A connection to a running session. Made by `connect`."""

    def __init__(self, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rest: bytes) -> None:
        self.hello = hello
        self.session = hello.session
        self._reader = reader
        self._writer = writer
        self._rest = rest
        self._refs = 0
        self._waiting: dict[int, asyncio.Future[CommandReply]] = {}
        self._entries: list[Entry] = []
        """Of the snapshot that is being received."""
        self._frames: asyncio.Queue[Frame | Exception | None] = asyncio.Queue(_FRAMES_AHEAD)
        self._reading = asyncio.ensure_future(self._read())

    async def submit(self, command: Command) -> CommandReply:
        self._refs += 1
        ref = self._refs
        answer: asyncio.Future[CommandReply] = asyncio.get_running_loop().create_future()
        self._waiting[ref] = answer
        try:
            self._send(Submit(command, ref))
            return await answer
        finally:
            self._waiting.pop(ref, None)

    async def subscribe(self, after: int | None = None, *, attends: bool = False) -> AsyncIterator[Frame]:
        """Snapshots and events until the session is over; HostGone when the host is lost before. Once a client.

        `attends`: a user is there who can answer requests."""
        self._send(Subscribe(after, attends, in_parts=True))
        while True:
            frame = await self._frames.get()
            if frame is None:
                return
            if isinstance(frame, Exception):
                raise frame
            yield frame

    def close(self) -> None:
        """Leave. The session continues; pending requests fail."""
        self._reading.cancel()
        self._writer.close()
        self._give_up()

    def _send(self, request: Subscribe | Submit) -> None:
        if self._writer.is_closing():
            raise self._gone()
        line = encode_line(request)
        if len(line) > REQUEST_CAP:  # the host would hang up on it
            raise UserMistake(f"it is too long: {len(line)} bytes, more than {REQUEST_CAP}", "put it into a file")
        self._writer.write(line)

    async def _read(self) -> None:
        over = False
        try:
            while not over and (chunk := await self._reader.read(_READ_SIZE)):
                lines = (self._rest + chunk).split(b"\n")
                self._rest = lines.pop()
                over = await self._take(lines)
        except OSError:
            pass
        except msgspec.MsgspecError as error:
            other = self.hello.version != __version__
            hint = f"the session runs version {self.hello.version}, this is version {__version__}" if other else ""
            self._give_up()
            await self._frames.put(OutsideFailure(f"the session's process sent something unreadable: {error}", hint))
            return
        self._give_up()
        await self._frames.put(None if over else self._gone())

    def _give_up(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._gone())
        self._writer.close()

    async def _take(self, lines: list[bytes]) -> bool:
        """Forward what was read; events that came together stay together. True after a goodbye."""
        events: list[Event] = []
        over = False
        for line in lines:
            message: Answer = decode_answer(line)
            match message:
                case CommandReply():
                    answer = self._waiting.get(message.ref)
                    if answer is not None and not answer.done():
                        answer.set_result(message)
                case Entries():
                    self._entries += message.entries
                    await asyncio.sleep(0)  # each part takes a while to read
                case Whole():
                    if events:
                        await self._frames.put(events)
                        events = []
                    await self._frames.put(self._whole(message.snapshot))
                case Bye():
                    over = True
                case Hello() | RefusedLine():
                    pass
                case _:
                    events.append(message)
        if events:
            await self._frames.put(events)
        return over

    def _whole(self, snapshot: Snapshot) -> Snapshot:
        """With the entries that were sent before it."""
        snapshot.entries, self._entries = [*self._entries, *snapshot.entries], []
        return snapshot

    def _gone(self) -> HostGone:
        what = f"session {self.session} ended unexpectedly, and its commands with it"
        return HostGone(what, f"resume it with: sightline attach {self.session}")


async def connect(session: str) -> Client:
    """Connect to a running host; HostRefused when it does not serve this process, OSError when there is none."""
    reader, writer = await asyncio.open_unix_connection(sock=connected(session, _SECONDS_TO_CONNECT))
    rest = b""
    try:
        async with asyncio.timeout(_SECONDS_TO_CONNECT):
            while b"\n" not in rest:
                chunk = await reader.read(_READ_SIZE)
                if not chunk:
                    raise ConnectionResetError(f"session {session} closed the connection")
                rest += chunk
        line, _, rest = rest.partition(b"\n")
        hello = decode_answer(line)
        if isinstance(hello, RefusedLine):
            raise HostRefused(hello.error, hello.hint)
        if not isinstance(hello, Hello):
            raise OutsideFailure(f"session {session} did not answer")
    except BaseException:
        writer.close()
        raise
    return Client(hello, reader, writer, rest)
