"""The one connection a tab holds: the list, the entries of the session it shows, and the newest rows of what runs.

Rules:

- Everything may be sent twice: an entry is identified by the event it began with, a row by its number.
- The `id` of an event is a seq up to which all changes of entries have been sent; while some are pending, there is
  none. A tab that reconnects with one gets the entries that changed since, where these are known, else all of them, and
  in any case the newest rows of running calls.
- Rows are sent at once, then at most every 50 ms for each call.
- The rows of ended calls are counted in a task of their own, which never delays live output.
"""

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from sightline.events import call_ending
from sightline.transcript import TranscriptCall
from sightline.views.web._sse import KEEP_ALIVE, KEEP_ALIVE_SECONDS, event, rows_json, set_in_time
from sightline.views.web.page._catalog import Catalog
from sightline.views.web.page._entries import Outputs, entry_body
from sightline.views.web.page._facts import facts_of
from sightline.views.web.page._mail import changed_mail, last_mail
from sightline.views.web.page._pending import MissedEvents, PendingUpdates
from sightline.views.web.page._recordings import Recording
from sightline.views.web.page._watch import Watch, Watches
from sightline.views.web.rows._row_cache import RowCache

_SECONDS_BETWEEN_ROWS = 0.05
_SENT_TOGETHER = 64 * 1024

_encode = msgspec.json.Encoder().encode


async def list_only(catalog: Catalog) -> AsyncGenerator[bytes, None]:
    """For a tab that shows no session, or a recording that was sent."""
    changed = asyncio.Event()
    catalog.listen(changed.set)
    try:
        await catalog.refresh()
        while True:
            changed.clear()
            yield event("list", catalog.encoded)
            while not await set_in_time(changed):
                yield KEEP_ALIVE
    finally:
        catalog.leave(changed.set)


async def recording_page(catalog: Catalog, recording: Recording) -> AsyncGenerator[bytes, None]:
    bodies = [entry_body(n, entry, recording, live=False) for n, entry in enumerate(recording.snapshot.entries)]
    sent = False
    async for part in list_only(catalog):
        yield part
        if not sent:
            sent = True
            yield event(
                "facts", _encode({**facts_of(recording.snapshot, live=False), "resumable": False, "lost": None})
            )
            yield event("entries", _encode({"reset": True, "entries": bodies}), recording.snapshot.seq)


class PageTab:
    """A tab that shows a session. `after`: the last event it received before its connection was lost."""

    def __init__(self, catalog: Catalog, watches: Watches, cache: RowCache, session: str, after: int | None) -> None:
        self._catalog, self._watches, self._cache = catalog, watches, cache
        self._wake = asyncio.Event()
        self._to_count = asyncio.Event()
        self._pending = PendingUpdates(self._changed, lambda: self._watch.now, self._missed)
        self._after = after
        self._session = session
        self._watch: Watch
        self._outputs: Outputs = _ArtifactOutputs(cache)
        self._list = True
        self._sent_live = True
        self._due: dict[str, float] = {}  # when a call's rows may be sent next
        self._sent_rows: dict[str, tuple[int, bool]] = {}  # how far each call's rows were sent
        self._sent_totals: dict[object, object] = {}  # the number of rows sent for each call
        self._counting = False

    async def events(self) -> AsyncGenerator[bytes, None]:
        self._watch = self._watches.join(self._session, self._pending)
        if self._watch.known.is_set():  # else the watch calls `replaced`
            self._pending.replaced()
            if not self._watch.live:
                self._pending.over()
        self._catalog.listen(self._list_changed, self._session, lambda: not self._watch.live)
        counting = asyncio.ensure_future(self._count())
        try:
            await self._catalog.refresh()
            while True:
                self._wake.clear()
                if part := self._immediate():
                    yield part
                async for part in self._rows():
                    yield part
                if part := self._statuses():
                    yield part
                if not await self._wait_for_updates():
                    yield KEEP_ALIVE
        finally:
            counting.cancel()
            self._catalog.leave(self._list_changed)
            self._watches.leave(self._watch, self._pending)

    def _changed(self) -> None:
        self._wake.set()
        if self._pending.ended:
            self._to_count.set()

    def _missed(self) -> MissedEvents | None:
        after, self._after = self._after, None  # only the first fold continues the one the tab knew
        events = self._watch.since(after)
        return None if after is None or events is None else MissedEvents(events, after)

    def _sent_up_to(self) -> int | None:
        pending = self._pending
        incomplete = pending.whole or pending.entries or pending.ended or self._counting
        return None if incomplete else self._watch.now.seq

    def _list_changed(self) -> None:
        self._list = True
        self._watch.follow_if_resumed()
        self._pending.facts = self._pending.facts or self._watch.live != self._sent_live
        self._wake.set()

    def _immediate(self) -> bytes:
        parts: list[bytes] = []
        pending = self._pending
        if self._list:
            self._list = False
            parts.append(event("list", self._catalog.encoded))
        if pending.facts and self._watch.known.is_set():
            pending.facts, self._sent_live = False, self._watch.live
            watch = self._watch
            facts = facts_of(watch.now, live=watch.live, killed=watch.killed, last=watch.last)
            parts.append(event("facts", _encode(facts)))
        if pending.whole or pending.entries:
            parts.append(self._entries())
        if pending.all_mail or pending.mail:
            parts.append(self._mail())
        if pending.gone:
            pending.gone = False
            parts.append(event("gone", b"{}"))
        return b"".join(parts)

    def _statuses(self) -> bytes:
        """Sent after the rows: a status means that there is no newer output."""
        statuses = self._pending.take_statuses().items()
        return b"".join([event("status", _encode({"id": job, "text": text})) for job, text in statuses])

    def _entries(self) -> bytes:
        pending, now = self._pending, self._watch.now
        whole, pending.whole = pending.whole, False
        entries = now.shown if whole else sorted(pending.entries.values(), key=lambda entry: entry.seq)
        pending.entries = {}
        if now.branched and not whole:
            shown = set(map(id, now.shown))
            entries = [entry for entry in entries if id(entry) in shown]
        bodies = [entry_body(entry.seq, entry, self._outputs, live=self._watch.live) for entry in entries]
        self._sent_totals.update({body["id"]: body["total"] for body in bodies if body["kind"] == "call"})
        return event("entries", _encode({"reset": whole, "entries": bodies}), self._sent_up_to())

    def _mail(self) -> bytes:
        pending, now = self._pending, self._watch.now
        all_mail, ids = pending.all_mail, pending.mail
        pending.all_mail, pending.mail = False, set()
        mail = last_mail(now) if all_mail else changed_mail(now, ids)
        return event("mail", _encode({"reset": all_mail, "total": mail.total, "messages": mail.messages}))

    async def _rows(self) -> AsyncGenerator[bytes, None]:
        """The rows that are due, those of many calls together."""
        loop = asyncio.get_running_loop()
        parts: list[bytes] = []
        for job in [job for job in self._pending.rows if self._due.get(job, 0.0) <= loop.time()]:
            self._pending.rows.discard(job)
            parts.append(await self._rows_of(job))
            self._due[job] = loop.time() + _SECONDS_BETWEEN_ROWS
            if sum(map(len, parts)) > _SENT_TOGETHER:
                yield b"".join(parts)
                parts = []
        if any(parts):
            yield b"".join(parts)

    async def _rows_of(self, job: str) -> bytes:
        with self._cache.rows(job, finished=self._is_over(job)) as rows:
            await rows.step()
            if rows.behind:
                self._pending.rows.add(job)
            reached = rows.seen
            if self._sent_rows.get(job) == reached:
                return b""
            self._sent_rows[job] = reached
            total, first, newest = await rows.newest()
        return event("rows", rows_json(newest, id=job, total=total, first=first), self._sent_up_to())

    async def _wait_for_updates(self) -> bool:
        """Wait for something to send; False when a keep-alive is due first."""
        now = asyncio.get_running_loop().time()
        waits = [max(self._due.get(job, 0.0) - now, 0.0) for job in self._pending.rows]
        return await set_in_time(self._wake, min(waits, default=KEEP_ALIVE_SECONDS)) or bool(waits)

    async def _count(self) -> None:
        """Count the rows of the calls that ended, the newest first."""
        while True:
            await self._to_count.wait()
            self._to_count.clear()
            self._counting = True
            while self._pending.ended:
                await self._count_one(self._pending.ended.pop(0))
            self._counting = False

    async def _count_one(self, job: str) -> None:
        if self._cache.missing(job) or self._is_binary(job):
            return
        if self._cache.total(job) is None:
            with self._cache.rows(job, finished=True) as rows:
                await rows.catch_up()
                self._cache.count(job, rows.total)
        elif self._sent_totals.get(job) == self._cache.total(job):  # another tab may have counted after it was sent
            return
        call = self._pending.calls.get(job)
        if call is not None:
            self._pending.add(call)
            if job in self._pending.watched:
                self._pending.rows.add(job)
            self._wake.set()

    def _is_over(self, job: str) -> bool:
        call = self._pending.calls.get(job)
        return call is not None and (call.content is not None or not self._watch.live)

    def _is_binary(self, job: str) -> bool:
        call = self._pending.calls.get(job)
        return call is not None and bool(call_ending(call.details).binary)


class _ArtifactOutputs:
    def __init__(self, cache: RowCache) -> None:
        self._cache = cache

    def call_id(self, number: int, call: TranscriptCall) -> str:
        return call.id

    def total(self, number: int, call: TranscriptCall) -> int:
        counted = self._cache.total_so_far(call.id)
        returned = not counted and call.content and self._cache.missing(call.id)
        return self._cache.result(call).total if returned else counted

    def missing(self, number: int, call: TranscriptCall) -> bool:
        return self._cache.missing(call.id)
