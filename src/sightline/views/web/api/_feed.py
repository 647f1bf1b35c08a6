"""The event stream of a session for programs: the state first when it is needed, then every event, in order, once."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from sightline.events import Event, ToolOutput, encode_event
from sightline.views.web._sse import KEEP_ALIVE, event, set_in_time
from sightline.views.web.page._watch import Watch, Watches

# How far a reader may be behind before it gets the state instead.
_MOST_EVENTS = 2000
_MOST_CHARACTERS = 1024 * 1024


class Feed:
    """One reader. `after`: the number of the last event it knows."""

    attends = False

    def __init__(self, watches: Watches, session: str, after: int | None) -> None:
        self._watches = watches
        self._after = after
        self._wake = asyncio.Event()
        self._queue: list[Event] = []
        self._characters = 0
        self._behind = False
        self._begun = False
        self._session = session
        self._watch: Watch

    async def events(self) -> AsyncGenerator[bytes, None]:
        self._watch = self._watches.join(self._session, self)
        try:
            while not self._watch.known.is_set():
                if not await set_in_time(self._wake):
                    yield KEEP_ALIVE
            missed = self._watch.since(self._after)
            self._begun, self._queue, self._behind = True, missed or [], missed is None
            while True:
                self._wake.clear()
                over = not self._watch.live
                if part := self._next():
                    yield part
                elif over:
                    yield event("end", b"{}", self._watch.now.seq)
                    return
                elif not await set_in_time(self._wake):
                    yield KEEP_ALIVE
        finally:
            self._watches.leave(self._watch, self)

    def happened(self, events: list[Event]) -> None:
        if self._begun and not self._behind:
            self._add(events)
        self._wake.set()

    def replaced(self) -> None:
        self._behind, self._queue = True, []
        self._wake.set()

    def over(self) -> None:
        self._wake.set()

    def _add(self, events: list[Event]) -> None:
        self._queue += events
        self._characters += sum([len(event.content) for event in events if type(event) is ToolOutput])
        if len(self._queue) > _MOST_EVENTS or self._characters > _MOST_CHARACTERS:
            self._behind, self._queue = True, []

    def _next(self) -> bytes:
        queue, self._queue, self._characters = self._queue, [], 0
        if self._behind:
            self._behind = False
            now = self._watch.now
            return event("snapshot", msgspec.json.encode(now), now.seq)
        return b"".join([event(str(e.__struct_config__.tag), encode_event(e), e.seq) for e in queue])
