"""One connection of a browser or a program: what it may take of time and room, whatever it sends.

Rules:

- A connection of another user of this machine is closed before a byte of it is read, where the kernel says whose it is.
- A request's head has to be complete 10 seconds after it began (a new connection's: after it was opened), its body 30
  seconds after its head. One that waits for its next request is closed after 5 (by uvicorn).
- A connection whose reader takes nothing for 30 seconds is dropped: an event stream that is not read has no reader.
- A connection is a stranger's until a request with the token came over it. There are at most 64 strangers, and a new
  one takes the place of the oldest: they cannot lock the user's browser out by holding connections. Of those signed in
  there are at most 200; one more is refused.
- What is not HTTP is answered with 400, or dropped in the middle of an answer. Nothing of it is logged.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from sightline.views.web._peer import may_connect, owner_of

HEAD_CAP = 32 * 1024
_SECONDS_FOR_A_HEAD = 10.0
_SECONDS_FOR_A_BODY = 30.0
_SECONDS_UNREAD = 30.0
_MOST_STRANGERS = 64
_MOST_SIGNED_IN = 200

SCOPE_KEY: Final = "sightline.connection"


class Connections:
    """All open connections. `refused` is called with the number of another user who tried to connect."""

    def __init__(self, refused: Callable[[int], None]) -> None:
        self._refused = refused
        self._strangers: dict[HttpConnection, None] = {}  # the oldest first
        self._signed_in: set[HttpConnection] = set()

    def protocol(self, config: Config, server_state: ServerState, **others: Any) -> "HttpConnection":
        """Make a connection; uvicorn takes it for the class."""
        return HttpConnection(self, config, server_state, **others)

    def admit(self, connection: "HttpConnection", uid: int | None) -> bool:
        if uid is not None and not may_connect(uid):
            self._refused(uid)
            return False
        if len(self._strangers) >= _MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.drop()
        self._strangers[connection] = None
        return True

    def sign_in(self, connection: "HttpConnection") -> bool:
        """A request over it had the token. False when there are too many already."""
        if connection in self._strangers and len(self._signed_in) < _MOST_SIGNED_IN:
            del self._strangers[connection]
            self._signed_in.add(connection)
        return connection in self._signed_in

    def leave(self, connection: "HttpConnection") -> None:
        self._strangers.pop(connection, None)
        self._signed_in.discard(connection)


class HttpConnection(H11Protocol):
    def __init__(self, connections: Connections, config: Config, server_state: ServerState, **others: Any) -> None:
        super().__init__(config, server_state, **others)
        self._all = connections
        self._admitted = False
        self._reading: object = None  # the part of a request that has to be complete when the timer ends
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        answer = self.app

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await answer({**scope, SCOPE_KEY: self}, receive, send)

        self.app = app

    def sign_in(self) -> bool:
        return self._all.sign_in(self)

    def drop(self) -> None:
        """Close it at once, without waiting until everything was sent."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer, here = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        self._admitted = self._all.admit(self, owner_of(peer, here) if peer and here else None)
        if self._admitted:
            self._time_reading()
        else:
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.leave(self)
        self._stop_timers()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._admitted and not self.transport.is_closing():
            super().data_received(data)
            self._time_reading()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._time_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self._write_timer or self.loop.call_later(_SECONDS_UNREAD, self.drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer with 400, instead of any response to a request that was taken before."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        is_head = self.cycle is not None and self.cycle.scope["method"] == "HEAD"  # whose answer may have no body
        if self.conn.our_state is h11.IDLE or (self.conn.our_state is h11.SEND_RESPONSE and not is_head):
            super().send_400_response(msg)
        else:
            self.drop()

    def _unsupported_upgrade_warning(self) -> None:
        """It is answered like any other request."""

    def _time_reading(self) -> None:
        """Limit the time for the part of a request that is being received; a byte does not start it anew."""
        state = self.conn.their_state
        between = state is h11.IDLE and self.cycle is not None and not self.conn.trailing_data[0]
        reading = state if state in (h11.IDLE, h11.SEND_BODY) and not between else None
        if reading is self._reading:
            return
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
        self._reading = reading
        if reading is not None and not self.transport.is_closing():
            seconds = _SECONDS_FOR_A_HEAD if reading is h11.IDLE else _SECONDS_FOR_A_BODY
            self._read_timer = self.loop.call_later(seconds, self.drop)

    def _stop_timers(self) -> None:
        for timer in (self._read_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        self._read_timer = self._write_timer = None
