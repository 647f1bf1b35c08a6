"""The connection to the host of one session: frames come in, in order, and commands go out.

Rules:

- A command sent before there is a connection waits for it. One sent after the host is gone gets a refusal that says so.
- A stored session is read from its journal while its host boots, and followed from there: it is on the screen before
  the host has answered.
- A long frame is delivered in parts, between which the screen is drawn and keys are read.
- The end is reported once: that the host said goodbye, or why the connection was lost.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

import msgspec

from sightline.events import Reasoning, Text, ToolArgs, ToolOutput
from sightline.exceptions import SightlineError
from sightline.host import Client, Command, CommandReply, HostGone, StoredSession, attach
from sightline.text import clean_text

if TYPE_CHECKING:
    from sightline.host import Frame, Hello
    from sightline.journal import Store

AT_ONCE = 100
"""Events of one part that may each begin a block, which has to be drawn; more of a block that has begun is cheap."""
_CONTINUING = (Text, Reasoning, ToolArgs, ToolOutput)
_FRAME = 1 / 30


class Link:
    """One connection, from its beginning to its end. `on_end` is called with the reason why it ended by itself."""

    def __init__(
        self,
        store: "Store",
        *,
        on_frame: Callable[["Frame"], object] = lambda frame: None,
        on_hello: Callable[["Hello"], object] = lambda hello: None,
        on_end: Callable[[str], object] = lambda why: None,
    ) -> None:
        self.session = ""
        self._on_frame, self._on_hello, self._on_end = on_frame, on_hello, on_end
        self._store = store
        self._client: Client | None = None
        self._connected = asyncio.get_running_loop().create_future()
        self._shown: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closed = self._muted = False

    async def show_stored(self, session: str) -> int | None:
        """Deliver what the journal has, while no host writes it. The number of its last event; None: read nothing."""
        if self._store.is_running(session):
            return None
        try:
            snapshot = await asyncio.to_thread(lambda: StoredSession(self._store, session).snapshot())
        except (SightlineError, OSError):
            return None  # the host reports what is wrong with it
        if self._closed:
            return None
        self._on_frame(snapshot)
        return snapshot.seq

    async def connect(self, session: str) -> bool:
        """Connect to its host. False: it has none; one that is just ending is waited for."""
        client = await attach(self._store, session)
        if isinstance(client, StoredSession):
            return False
        self._client = client
        if self._closed:
            client.close()
        return True

    async def follow(self, session: str, after: int | None = None) -> None:
        """Connect, unless that is done, and deliver what the host sends until it ends, or until `close`."""
        self.session = session
        try:
            if self._client is None:
                await self.connect(session)
            client = self._client
            if client is None:
                self._end(f"session {session} has ended")
                return
            self._on_hello(client.hello)
            _settle(self._connected)
            if self._closed:
                return
            async for frame in client.subscribe(after, attends=True):
                async for part in _parts(frame):
                    if not self._deliver(part):
                        return
        except HostGone as gone:
            self._end(gone.message)
        except (SightlineError, OSError, msgspec.MsgspecError) as error:
            self._end(clean_text(str(error)))
        else:
            self._end("the session was ended elsewhere")
        finally:
            _settle(self._connected)
            _settle(self._shown)
            if self._client is not None:
                self._client.close()  # its reader ends with the view it reads for

    def _deliver(self, frame: "Frame") -> bool:
        """False: this console has left the session."""
        if not self._closed:
            self._on_frame(frame)
            _settle(self._shown)
        return not self._closed

    async def first_frame(self) -> None:
        """Returns when the host has reported what there is, or there is no connection."""
        await asyncio.shield(self._shown)

    async def submit(self, command: Command) -> CommandReply:
        await asyncio.shield(self._connected)
        if self._client is None or self._closed:
            return CommandReply(False, error="the session is no longer running", hint="resume it")
        try:
            return await self._client.submit(command)
        except (SightlineError, OSError, UnicodeError) as error:
            return CommandReply(False, error=clean_text(str(error)))

    def mute(self) -> None:
        """Do not report the end any more: this console is about to leave the session."""
        self._muted = True

    def close(self) -> None:
        """Disconnect; the session keeps running."""
        self._closed = True
        _settle(self._connected)
        _settle(self._shown)
        if self._client is not None:
            self._client.close()

    def _end(self, why: str) -> None:
        if not self._closed:
            self._closed = True
            if not self._muted:
                self._on_end(why)


async def _parts(frame: "Frame") -> AsyncIterator["Frame"]:
    """A frame in parts, each no more than can be drawn at once."""
    if not isinstance(frame, list):
        yield frame
        return
    begun = at = 0
    for number, event in enumerate(frame):
        begun += not isinstance(event, _CONTINUING)
        if begun > AT_ONCE:
            yield frame[at:number]
            await asyncio.sleep(_FRAME)
            begun, at = 1, number
    yield frame[at:]


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
