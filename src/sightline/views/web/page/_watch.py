"""Sessions somebody watches: one connection to each host, however many tabs, and the fold of what it says.

Rules:

- A host that is killed is no error: what is kept of its session says how it ended, and takes the place of the fold.
- A watch nobody listens to is let go of after a moment; a tab that reloads finds it still there.
- A listener is told that the fold changed, never made to wait; how much it remembers is its own affair.
- The host hears that somebody attends while a page is open, and for a moment longer; a program that reads is nobody.
"""

import asyncio
from collections import deque
from contextlib import aclosing
from typing import Protocol

from sightline.events import Event, ToolOutput
from sightline.exceptions import SightlineError
from sightline.host import Client, StoredSession, follow, is_lost
from sightline.journal import Store
from sightline.transcript import Snapshot, Transcript, TranscriptCall
from sightline.views.web.page._hosts import mark_of

_SECONDS_KEPT = 10.0  # longer than a page that lost its connection waits before it tries again
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_OF_SILENCE = 0.1
_RECENT_EVENTS = 2000
_RECENT_CHARACTERS = 1024 * 1024


class WatchListener(Protocol):
    """Called on the event loop, after the fold has changed. `attends`: a person who can answer sees it."""

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
        self.killed = False  # its host ended without a word
        self.last = 0.0  # when the last event was that is stored
        self.known = asyncio.Event()  # set once the fold is that of the session
        self.listeners: set[WatchListener] = set()
        self._store = store
        self._recent: deque[Event] = deque()
        self._recent_characters = 0
        self._attended = False
        self._attached: Client | StoredSession | None = None
        self._ended_as: object = None  # its journal then
        self._task = asyncio.ensure_future(self._follow())
        self.letting_go: asyncio.TimerHandle | None = None

    @property
    def now(self) -> Snapshot:
        return self.transcript.now

    def since(self, after: int | None) -> list[Event] | None:
        """The events after one; None when only the whole state can tell."""
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

    def look_again(self) -> None:
        """A session that has ended may have been resumed: then there is more, or more comes."""
        if not self.live and (self._store.is_running(self.session) or self._journal() != self._ended_as):
            self.live, self.killed = True, False
            self._task = asyncio.ensure_future(self._follow())

    def tell_who_is_there(self) -> None:
        """Have the host know whether somebody attends. It is said when subscribing, so a change subscribes again."""
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
            # A host that has said nothing yet says nothing now: then the empty fold is that of the session.
            asyncio.get_running_loop().call_later(_SECONDS_OF_SILENCE, self._know)

    def _know(self) -> None:
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


class Watches:
    """All that are watched, by session."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watches: dict[str, Watch] = {}

    def join(self, session: str, listener: WatchListener) -> Watch:
        watch = self._watches.get(session)
        if watch is None:
            watch = self._watches[session] = Watch(self._store, session)
        if watch.letting_go is not None:
            watch.letting_go.cancel()
            watch.letting_go = None
        watch.listeners.add(listener)
        watch.tell_who_is_there()
        return watch

    def leave(self, watch: Watch, listener: WatchListener) -> None:
        watch.listeners.discard(listener)
        later = asyncio.get_running_loop().call_later
        if not watch.listeners:
            watch.letting_go = later(_SECONDS_KEPT, self._let_go, watch)
        elif listener.attends:
            later(_SECONDS_KEPT, watch.tell_who_is_there)

    def close(self) -> None:
        for watch in list(self._watches.values()):
            self._let_go(watch)

    def _let_go(self, watch: Watch) -> None:
        if watch.letting_go is not None:
            watch.letting_go.cancel()
        self._watches.pop(watch.session, None)
        watch.close()
