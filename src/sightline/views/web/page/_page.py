"""The one connection a tab holds: the list, the entries of the session it shows, and the newest rows of what runs.

Rules:

- All of it can be said twice: entries have a place of their own (the event they began with), rows a number.
- The `id` of an event is a seq up to which everything about entries has been said; where something is still to come,
  there is none. A tab that comes back with one is told the entries that changed since, where that is known, else all of
  them; and the newest rows of what runs, whatever it knew.
- Rows go out at once, then at most every 50 ms for each call.
- Counting the rows of calls that ended is done beside it, and never holds up what is live.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from sightline.events import call_ending
from sightline.transcript import Entry, TranscriptCall
from sightline.views.web._sse import KEEP_ALIVE, KEEP_ALIVE_SECONDS, event, rows_json
from sightline.views.web.page._catalog import Catalog
from sightline.views.web.page._entries import Outputs, entry_body
from sightline.views.web.page._facts import facts_of
from sightline.views.web.page._pending import MissedEvents, PendingUpdates
from sightline.views.web.page._recordings import Recording
from sightline.views.web.page._watch import Watch, Watches
from sightline.views.web.rows._shelf import RowCache

_SECONDS_BETWEEN_ROWS = 0.05
_SENT_TOGETHER = 64 * 1024

_encode = msgspec.json.Encoder().encode


async def list_only(catalog: Catalog) -> AsyncIterator[bytes]:
    """For a tab that shows no session, or a recording that has been said."""
    changed = asyncio.Event()
    catalog.listen(changed.set)
    try:
        await catalog.refresh()
        while True:
            changed.clear()
            yield event("list", catalog.encoded)
            while not await _set_in_time(changed, KEEP_ALIVE_SECONDS):
                yield KEEP_ALIVE
    finally:
        catalog.leave(changed.set)


async def recording_page(catalog: Catalog, recording: Recording) -> AsyncIterator[bytes]:
    bodies = [entry_body(n, entry, recording, live=False) for n, entry in enumerate(recording.snapshot.entries)]
    said = False
    async for part in list_only(catalog):
        yield part
        if not said:
            said = True
            yield event(
                "facts", _encode({**facts_of(recording.snapshot, live=False), "resumable": False, "lost": None})
            )
            yield event("entries", _encode({"reset": True, "entries": bodies}), recording.snapshot.seq)


class PageTab:
    """A tab that shows a session. `after`: up to where it was told before its connection was lost."""

    def __init__(self, catalog: Catalog, watches: Watches, shelf: RowCache, session: str, after: int | None) -> None:
        self._catalog, self._watches, self._shelf = catalog, watches, shelf
        self._wake = asyncio.Event()
        self._to_count = asyncio.Event()
        self._unsaid = PendingUpdates(self._changed, lambda: self._watch.now, self._missed)
        self._after = after
        self._session = session
        self._watch: Watch
        self._outputs: Outputs = _ArtifactOutputs(shelf)
        self._list = True
        self._said_live = True
        self._due: dict[str, float] = {}  # when a call's rows may be said next
        self._sent: dict[str, tuple[int, bool]] = {}  # up to where a call's rows were said
        self._told: dict[str, int] = {}  # how many rows a call was said to have
        self._counting = False

    async def events(self) -> AsyncIterator[bytes]:
        self._watch = self._watches.join(self._session, self._unsaid)
        if self._watch.known.is_set():  # else the watch says so
            self._unsaid.replaced()
            if not self._watch.live:
                self._unsaid.over()
        self._catalog.listen(self._list_changed, self._session)
        counting = asyncio.ensure_future(self._count())
        try:
            await self._catalog.refresh()
            while True:
                self._wake.clear()
                if part := self._said_at_once():
                    yield part
                async for part in self._rows():
                    yield part
                if part := self._statuses():
                    yield part
                if not await self._something_to_say():
                    yield KEEP_ALIVE
        finally:
            counting.cancel()
            self._catalog.leave(self._list_changed)
            self._watches.leave(self._watch, self._unsaid)

    def _changed(self) -> None:
        self._wake.set()
        if self._unsaid.ended:
            self._to_count.set()

    def _missed(self) -> MissedEvents | None:
        after, self._after = self._after, None  # a fold that takes the place of this one is not the one it knew
        events = self._watch.since(after)
        return None if after is None or events is None else MissedEvents(events, after)

    def _said_up_to(self) -> int | None:
        unsaid = self._unsaid
        pending = unsaid.whole or unsaid.entries or unsaid.ended or self._counting
        return None if pending else self._watch.now.seq

    def _list_changed(self) -> None:
        self._list = True
        self._watch.look_again()
        self._unsaid.facts = self._unsaid.facts or self._watch.live != self._said_live
        self._wake.set()

    def _said_at_once(self) -> bytes:
        parts: list[bytes] = []
        unsaid = self._unsaid
        if self._list:
            self._list = False
            parts.append(event("list", self._catalog.encoded))
        if unsaid.facts and self._watch.known.is_set():
            unsaid.facts, self._said_live = False, self._watch.live
            watch = self._watch
            facts = facts_of(watch.now, live=watch.live, killed=watch.killed, last=watch.last)
            parts.append(event("facts", _encode(facts)))
        if unsaid.whole or unsaid.entries:
            parts.append(self._entries())
        if unsaid.gone:
            unsaid.gone = False
            parts.append(event("gone", b"{}"))
        return b"".join(parts)

    def _statuses(self) -> bytes:
        """After the rows: a status says that no more came."""
        statuses = self._unsaid.take_statuses().items()
        return b"".join([event("status", _encode({"id": job, "text": text})) for job, text in statuses])

    def _entries(self) -> bytes:
        unsaid, now = self._unsaid, self._watch.now
        whole, unsaid.whole = unsaid.whole, False
        entries = now.shown if whole else sorted(unsaid.entries.values(), key=_place)
        unsaid.entries = {}
        if now.branched and not whole:
            shown = set(map(id, now.shown))
            entries = [entry for entry in entries if id(entry) in shown]
        bodies = [entry_body(entry.seq, entry, self._outputs, live=self._watch.live) for entry in entries]
        self._told.update({body["id"]: body["total"] for body in bodies if body["kind"] == "call"})
        return event("entries", _encode({"reset": whole, "entries": bodies}), self._said_up_to())

    async def _rows(self) -> AsyncIterator[bytes]:
        """The rows that are due, those of many calls together."""
        loop = asyncio.get_running_loop()
        parts: list[bytes] = []
        for job in [job for job in self._unsaid.rows if self._due.get(job, 0.0) <= loop.time()]:
            self._unsaid.rows.discard(job)
            parts.append(await self._rows_of(job))
            self._due[job] = loop.time() + _SECONDS_BETWEEN_ROWS
            if sum(map(len, parts)) > _SENT_TOGETHER:
                yield b"".join(parts)
                parts = []
        if any(parts):
            yield b"".join(parts)

    async def _rows_of(self, job: str) -> bytes:
        with self._shelf.rows(job, finished=self._is_over(job)) as rows:
            await rows.step()
            if rows.behind:
                self._unsaid.rows.add(job)
            reached = rows.seen
            if self._sent.get(job) == reached:
                return b""
            self._sent[job] = reached
            total, first, newest = await rows.newest()
        return event("rows", rows_json(newest, id=job, total=total, first=first), self._said_up_to())

    async def _something_to_say(self) -> bool:
        """Wait for something; False when nothing came up for as long as a connection may be silent."""
        now = asyncio.get_running_loop().time()
        waits = [max(self._due.get(job, 0.0) - now, 0.0) for job in self._unsaid.rows]
        return await _set_in_time(self._wake, min(waits, default=KEEP_ALIVE_SECONDS)) or bool(waits)

    async def _count(self) -> None:
        """Find out how many rows the calls that ended have, the newest first."""
        while True:
            await self._to_count.wait()
            self._to_count.clear()
            self._counting = True
            while self._unsaid.ended:
                await self._count_one(self._unsaid.ended.pop(0))
            self._counting = False

    async def _count_one(self, job: str) -> None:
        if self._shelf.missing(job) or self._is_binary(job):
            return
        if self._shelf.total(job) is None:
            with self._shelf.rows(job, finished=True) as rows:
                await rows.catch_up()
                self._shelf.count(job, rows.total)
        elif self._told.get(job) == self._shelf.total(job):  # another tab may have counted after this one was told
            return
        call = self._unsaid.calls.get(job)
        if call is not None:
            self._unsaid.say(call)
            if job in self._unsaid.watched:
                self._unsaid.rows.add(job)
            self._wake.set()

    def _is_over(self, job: str) -> bool:
        call = self._call(job)
        return call is not None and (call.content is not None or not self._watch.live)

    def _is_binary(self, job: str) -> bool:
        call = self._call(job)
        return call is not None and bool(call_ending(call.details).binary)

    def _call(self, job: str) -> TranscriptCall | None:
        return self._unsaid.calls.get(job)


class _ArtifactOutputs:
    def __init__(self, shelf: RowCache) -> None:
        self._shelf = shelf

    def call_id(self, number: int, call: TranscriptCall) -> str:
        return call.id

    def total(self, number: int, call: TranscriptCall) -> int:
        counted = self._shelf.total_so_far(call.id)
        returned = not counted and call.content and self._shelf.missing(call.id)
        return self._shelf.result(call).total if returned else counted

    def missing(self, number: int, call: TranscriptCall) -> bool:
        return self._shelf.missing(call.id)


def _place(entry: Entry) -> int:
    return entry.seq


async def _set_in_time(happened: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await happened.wait()
    except TimeoutError:
        return False
    return True
