"""Watched sessions: one connection to each host, however many tabs, and the fold of its events.

Rules:

- A host that is killed is no error: its stored session shows how it ended, and replaces the fold.
- A watch without listeners is released after a moment; a tab that reloads finds it still there.
- A listener is notified that the fold changed and cannot slow the watch down; what it remembers is up to it.
- The session counts as attended while a page is open, and for a moment longer; a program that reads does not attend.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Protocol

from sightline.events import Event, ToolOutput
from sightline.exceptions import SightlineError
from sightline.host import Client, StoredSession, follow, is_lost
from sightline.journal import Store
from sightline.transcript import Snapshot, Transcript, TranscriptCall
from sightline.views.web.page._hosts import mark_of

_SECONDS_HELD = 10.0  # longer than a page that lost its connection waits before it tries again
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_OF_SILENCE = 0.1
_RECENT_EVENTS = 2000
_RECENT_CHARACTERS = 1024 * 1024


class WatchListener(Protocol):
    """Called on the event loop, after the fold has changed. `attends`: the user sees it and can answer."""

    attends: bool

    def happened(self, events: list[Event]) -> None: ...
    def replaced(self) -> None: ...
    def over(self) -> None: ...


class Watch:
    """One session: `transcript` is its fold as far as it is known, `live` whether more may come."""

    def __init__(self, store: Store, session: str) -> None:
        self.session = session
        self.transcript = Transcript()
        self.live = True
        self.killed = False  # its host was killed
        self.last = 0.0  # when the last event was that is stored
        self.known = asyncio.Event()  # set once the fold has the session's state
        self.listeners: set[WatchListener] = set()
        self._store = store
        self._recent: deque[Event] = deque()
        self._recent_characters = 0
        self._attended = False
        self._attached: Client | StoredSession | None = None
        self._ended_as: object = None  # its journal then
        self._task = asyncio.ensure_future(self._follow())
        self.expiry: asyncio.TimerHandle | None = None

    @property
    def now(self) -> Snapshot:
        return self.transcript.now

    def since(self, after: int | None) -> list[Event] | None:
        """The events after one; None when they are not all remembered."""
        if after is None or not 0 <= after <= self.now.seq:
            return None
        if after == self.now.seq:
            return []
        if not self._recent or self._recent[0].seq > after + 1:
            return None
        return [event for event in self._recent if event.seq > after]

    def call(self, id: str) -> TranscriptCall | None:
        """A call by its id, as far as it is known."""
        calls = (entry for entry in reversed(self.now.entries) if isinstance(entry, TranscriptCall))
        return next((call for call in calls if call.id == id), None)

    def follow_if_resumed(self) -> None:
        """A session that has ended may have been resumed meanwhile: then follow it again."""
        if not self.live and (self._store.is_running(self.session) or self._journal() != self._ended_as):
            self.live, self.killed = True, False
            self._task = asyncio.ensure_future(self._follow())

    def update_attendance(self) -> None:
        """Have the host know whether the user attends. That is part of subscribing, so a change subscribes again."""
        attended = any(listener.attends for listener in self.listeners)
        if attended != self._attended and self.live:
            self._attended = attended
            self._task.cancel()
            self._task = asyncio.ensure_future(self._follow())

    def close(self) -> None:
        self._task.cancel()

    async def _follow(self) -> None:
        while self.live:
            after = self.now.seq if self._store.is_running(self.session) else self.now.seq or None
            frames = follow(self._store, self.session, after, attends=self._attended, on_attached=self._on_attached)
            try:
                async with aclosing(frames):
                    async for frame in frames:
                        self._take(frame)
                self._end()
            except (OSError, SightlineError):  # it is deleted, or its host does not answer or refuses us
                await self._show_stored()

    def _on_attached(self, attached: Client | StoredSession) -> None:
        self._attached = attached
        if isinstance(attached, Client):
            # A new host has no events and sends nothing: then the empty fold is the session's state.
            asyncio.get_running_loop().call_later(_SECONDS_OF_SILENCE, self._know_empty)

    def _know_empty(self) -> None:
        if self.live and not self.known.is_set():
            self._take([])

    async def _show_stored(self) -> None:
        if not self._store.is_running(self.session):
            self._end()
            return
        try:
            snapshot = await asyncio.to_thread(lambda: StoredSession(self._store, self.session).snapshot())
        except (OSError, SightlineError):  # not yet written
            snapshot = self.now
        if snapshot.seq != self.now.seq or not self.known.is_set():
            self._take(snapshot)
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)

    def _take(self, frame: Snapshot | list[Event]) -> None:
        if isinstance(frame, Snapshot):
            self.transcript = Transcript(frame)
            self._recent.clear()
            self._recent_characters = 0
        else:
            for event in frame:
                self.transcript.apply(event)
                self._remember(event)
        for listener in list(self.listeners):
            if isinstance(frame, Snapshot) or not self.known.is_set():
                listener.replaced()
            else:
                listener.happened(frame)
        self.known.set()

    def _remember(self, event: Event) -> None:
        recent = self._recent
        recent.append(event)
        if type(event) is ToolOutput:
            self._recent_characters += len(event.content)
        while len(recent) > _RECENT_EVENTS or self._recent_characters > _RECENT_CHARACTERS:
            old = recent.popleft()
            if type(old) is ToolOutput:
                self._recent_characters -= len(old.content)

    def _journal(self) -> object:
        return mark_of(self._store.folder(self.session) / "journal.jsonl")

    def _end(self) -> None:
        self.live = False
        if isinstance(self._attached, StoredSession):
            self.last, self.killed = self._attached.last, is_lost(self._store, self.session)
        self._ended_as = self._journal()
        self.known.set()
        for listener in list(self.listeners):
            listener.over()


class _OneLook:
    """Joins a watch to see its state once."""

    attends = False

    def happened(self, events: list[Event]) -> None: ...
    def replaced(self) -> None: ...
    def over(self) -> None: ...


class Watches:
    """The watches, by session."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watches: dict[str, Watch] = {}

    def join(self, session: str, listener: WatchListener) -> Watch:
        watch = self._watches.get(session)
        if watch is None:
            watch = self._watches[session] = Watch(self._store, session)
        if watch.expiry is not None:
            watch.expiry.cancel()
            watch.expiry = None
        watch.listeners.add(listener)
        watch.update_attendance()
        return watch

    def leave(self, watch: Watch, listener: WatchListener) -> None:
        watch.listeners.discard(listener)
        later = asyncio.get_running_loop().call_later
        if not watch.listeners:
            watch.expiry = later(_SECONDS_HELD, self._release, watch)
        elif listener.attends:
            later(_SECONDS_HELD, watch.update_attendance)

    @asynccontextmanager
    async def known(self, session: str) -> AsyncIterator[Watch]:
        """The watch of a session, once its state is known."""
        listener = _OneLook()
        watch = self.join(session, listener)
        try:
            await watch.known.wait()
            yield watch
        finally:
            self.leave(watch, listener)

    def close(self) -> None:
        for watch in list(self._watches.values()):
            self._release(watch)

    def _release(self, watch: Watch) -> None:
        if watch.expiry is not None:
            watch.expiry.cancel()
        self._watches.pop(watch.session, None)
        watch.close()
