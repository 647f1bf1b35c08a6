"""The way to the host of one session: what it tells, in order, and what it is asked.

Rules:

- What is asked before there is a connection waits for it. What is asked when the host is gone is answered: by a
  refusal that says so.
- A kept session is read from its journal while its host boots, and gone on with from there: it is on the screen
  before anybody could have told it.
- What comes all at once is handed on in parts, between which frames are drawn and keys are read.
- A host that hangs up without a goodbye is gone; one that said goodbye is over. Both are told, once.
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
"""Events that may each begin a block, which has to be drawn; more of what has begun is cheap."""
_CONTINUING = (Text, Reasoning, ToolArgs, ToolOutput)
_FRAME = 1 / 30


class Link:
    """One connection, from its beginning to its end."""

    def __init__(self, store: "Store") -> None:
        self.session = ""
        self.on_frame: Callable[[Frame], None] = lambda frame: None
        self.on_hello: Callable[[Hello], None] = lambda hello: None
        self.on_over: Callable[[], None] = lambda: None
        self.on_gone: Callable[[str], None] = lambda why: None
        self._store = store
        self._client: Client | None = None
        self._connected = asyncio.get_running_loop().create_future()
        self._closed = False

    async def show_stored(self, session: str) -> int | None:
        """What the journal has, while nobody writes it. The number of its last event; None: the host must tell."""
        if self._store.is_running(session):
            return None
        try:
            snapshot = await asyncio.to_thread(lambda: StoredSession(self._store, session).snapshot())
        except (SightlineError, OSError):
            return None  # what is wrong with it is the host's to say
        if self._closed:
            return None
        self.on_frame(snapshot)
        return snapshot.seq

    async def follow(self, session: str, after: int | None = None) -> None:
        """Connect, and hand on what the host tells until it ends, or until `close`."""
        self.session = session
        try:
            client = await attach(self._store, session)
            if isinstance(client, StoredSession):
                self._end(f"session {session} has ended")
                return
            self._client = client
            self.on_hello(client.hello)
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
            if not self._closed:
                self._closed = True
                self.on_over()
        finally:
            _settle(self._connected)
            if self._client is not None:
                self._client.close()  # what still reads for a view that is gone is ended with it

    def _deliver(self, frame: "Frame") -> bool:
        """Whether anybody was there to be told."""
        if not self._closed:
            self.on_frame(frame)
        return not self._closed

    async def submit(self, command: Command) -> CommandReply:
        await asyncio.shield(self._connected)
        if self._client is None or self._closed:
            return CommandReply(False, error="the session is no longer running", hint="resume it")
        try:
            return await self._client.submit(command)
        except (SightlineError, OSError, UnicodeError) as error:
            return CommandReply(False, error=clean_text(str(error)))

    def hush(self) -> None:
        """Its end is no news any more: whoever follows it is about to leave."""
        self.on_over, self.on_gone = lambda: None, lambda why: None

    def close(self) -> None:
        """Leave; the session goes on."""
        self._closed = True
        _settle(self._connected)
        if self._client is not None:
            self._client.close()

    def _end(self, why: str) -> None:
        if not self._closed:
            self._closed = True
            self.on_gone(why)


async def _parts(frame: "Frame") -> AsyncIterator["Frame"]:
    """What was told, no more of it at once than can be drawn in a frame."""
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
