"""A session on a Unix socket: each connection begins with a hello, may subscribe once, and may submit commands.

A process that may not connect (see `_peer`) is sent the reason and nothing else, and a notice is published."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable

import msgspec

from sightline import __version__
from sightline.events import Notice
from sightline.host.session._commands import Attach, CommandReply, Compact, Invoke, MoveTo, Outline, Prompt, Reload
from sightline.host.session._session import HostSession
from sightline.host.session._subscription import Subscription
from sightline.host.socket._peer import Why, why_refused
from sightline.host.socket._wire import (
    REQUEST_CAP,
    Bye,
    Hello,
    RefusedLine,
    Submit,
    Subscribe,
    decode_number,
    decode_request,
    encode_frame,
    encode_line,
)
from sightline.text import clean_line

# What may wait in a connection before its view counts as slow; its own queue comes on top of that.
_WRITE_BUFFER = 256 * 1024
_SECONDS_FOR_GOODBYES = 2.0
# Views must not use up the descriptors that commands need.
_MOST_CONNECTIONS = 100
# A command may try again and again; it must not fill the session with notices.
_SECONDS_BETWEEN_NOTICES = 60.0
_REFUSALS: dict[Why, str] = {
    "user": "another user's process",
    "sandbox": "a process in a sandbox",
    "command": "a process that a session's command started",
    "unknown": "a process that cannot be identified",
}
# Commands that may wait for a model, an extension or a disk: a view's other commands do not wait for them.
# A hook of an extension may ask the user about a prompt: the answer comes on the same connection.
_LONG = (Attach, Compact, Invoke, MoveTo, Outline, Prompt, Reload)


class SocketServer:
    """Serves one session until closed. `cwd` and `started` are for those who list hosts."""

    def __init__(self, session: HostSession, listener: socket.socket, *, cwd: str, started: float) -> None:
        self._session = session
        self._listener = listener
        self._cwd, self._started = clean_line(cwd), started
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._noticed: dict[Why, float] = {}
        self.on_change: Callable[[], None] = lambda: None

    @property
    def connections(self) -> int:
        return len(self._connections)

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._connected, sock=self._listener, limit=REQUEST_CAP)

    async def close(self) -> None:
        """Accept no more views and wait a limited time until those there are have received the end."""
        if self._server is not None:
            self._server.close()
        if self._connections:
            await asyncio.wait(self._connections, timeout=_SECONDS_FOR_GOODBYES)
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if why := why_refused(writer.get_extra_info("socket")):
            self._refuse(why, writer)
            return
        if len(self._connections) >= _MOST_CONNECTIONS:
            writer.close()
            return
        self._connections.add(task)
        writer.transport.set_write_buffer_limits(high=_WRITE_BUFFER)
        connection = _Connection(self._session, reader, writer)
        try:
            await connection.serve(self._hello())
        except (OSError, asyncio.CancelledError):
            pass  # the view is gone, or the host goes
        finally:
            connection.close()
            self._connections.discard(task)
            self.on_change()

    def _refuse(self, why: Why, writer: asyncio.StreamWriter) -> None:
        hint = "attach from a terminal that was not started by a session"
        refused = RefusedLine(f"session {self._session.id} does not serve {_REFUSALS[why]}", hint)
        with contextlib.suppress(OSError):
            writer.write(encode_line(refused))
        writer.close()
        now = time.monotonic()
        if now - self._noticed.get(why, -_SECONDS_BETWEEN_NOTICES) >= _SECONDS_BETWEEN_NOTICES:
            self._noticed[why] = now
            notice = f"{_REFUSALS[why]} tried to connect to this session and was refused"
            self._session.actor("host").publish(Notice(notice, "warning"))

    def _hello(self) -> Hello:
        session = self._session
        return Hello(
            session.id,
            __version__,
            os.getpid(),
            self._cwd,
            self._started,
            session.running,
            agent=session.worker is not None,
            waiting=session.waiting,
            busy=session.worker is not None and session.worker.busy,
        )


class _Connection:
    def __init__(self, session: HostSession, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._session = session
        self._reader = reader
        self._writer = writer
        self._subscription: Subscription | None = None
        self._sending: asyncio.Task[None] | None = None
        self._submitted: set[asyncio.Task[None]] = set()

    async def serve(self, hello: Hello) -> None:
        """Until the other side leaves, or the session is over and has been sent in full."""
        self._writer.write(encode_line(hello))
        await self._listen()

    def close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
        if self._subscription is not None:
            self._subscription.close()
        self._writer.close()

    async def _listen(self) -> None:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:  # longer than any request
                return
            if not line.endswith(b"\n"):
                return
            try:
                request = decode_request(line)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
                self._writer.write(encode_line(_not_understood(line, error)))
                continue
            match request:
                case Subscribe() if self._subscription is None:
                    self._subscription = self._session.subscribe(request.after, attends=request.attends)
                    self._sending = asyncio.ensure_future(self._send(self._subscription, in_parts=request.in_parts))
                case Submit() if isinstance(request.command, _LONG):
                    task = asyncio.ensure_future(self._submit(request))
                    self._submitted.add(task)
                    task.add_done_callback(self._submitted.discard)
                    await asyncio.sleep(0)  # it begins before what comes next
                case Submit():
                    await self._submit(request)

    async def _submit(self, request: Submit) -> None:
        reply = await self._session.submit(request.command)
        try:
            self._writer.write(encode_line(msgspec.structs.replace(reply, ref=request.ref)))
            await self._writer.drain()
        except OSError:
            pass  # the view is gone

    async def _send(self, subscription: Subscription, *, in_parts: bool) -> None:
        try:
            async for frame in subscription:
                for number, piece in enumerate(encode_frame(frame, in_parts=in_parts)):
                    if number:
                        await asyncio.sleep(0)  # the session continues while a long state is sent
                    self._writer.write(piece)
                    await self._writer.drain()
            self._writer.write(encode_line(Bye()))
            await self._writer.drain()
        except OSError:
            return
        self._writer.close()


def _not_understood(line: bytes, error: Exception) -> CommandReply:
    """To a view of another version, which knows commands that we do not."""
    try:
        ref = decode_number(line).ref
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        ref = 0
    hint = f"the session runs version {__version__}: end it and resume it, if your program is newer"
    return CommandReply(False, error=f"not a request: {error}", hint=hint, ref=ref)
