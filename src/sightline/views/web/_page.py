"""The one connection a tab holds: the list, the entries of the session it shows, and the newest rows of what runs.

Rules:

- All of it can be said twice: entries have a position, rows a number. So a tab that comes back is told everything.
- Rows go out at once, then at most every 50 ms for each call.
- Counting the rows of calls that ended is done beside it, and never holds up what is live.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from sightline.transcript import Call
from sightline.views.web._catalog import Catalog
from sightline.views.web._entries import Outputs, entry_body
from sightline.views.web._recordings import Recording
from sightline.views.web._shelf import Shelf
from sightline.views.web._sse import KEEP_ALIVE, KEEP_ALIVE_SECONDS, event, rows_json
from sightline.views.web._unsaid import Unsaid
from sightline.views.web._watch import Watch, Watches

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
            yield event("entries", _encode({"reset": True, "entries": bodies}), recording.snapshot.seq)


class Page:
    """A tab that shows a session."""

    def __init__(self, catalog: Catalog, watches: Watches, shelf: Shelf, session: str) -> None:
        self._catalog, self._watches, self._shelf = catalog, watches, shelf
        self._wake = asyncio.Event()
        self._to_count = asyncio.Event()
        self._unsaid = Unsaid(self._changed, lambda: self._watch.now)
        self._session = session
        self._watch: Watch
        self._outputs: Outputs = _ArtifactOutputs(shelf)
        self._list = True
        self._due: dict[str, float] = {}  # when a call's rows may be said next
        self._sent: dict[str, tuple[int, bool]] = {}  # up to where a call's rows were said

    async def events(self) -> AsyncIterator[bytes]:
        self._watch = self._watches.join(self._session, self._unsaid)
        self._catalog.listen(self._list_changed)
        counting = asyncio.ensure_future(self._count())
        try:
            await self._catalog.refresh()
            if self._watch.known.is_set():
                self._unsaid.replaced()
                if not self._watch.live:
                    self._unsaid.over()
            while True:
                self._wake.clear()
                if part := self._said_at_once():
                    yield part
                async for part in self._rows():
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

    def _list_changed(self) -> None:
        self._list = True
        self._wake.set()

    def _said_at_once(self) -> bytes:
        parts: list[bytes] = []
        unsaid = self._unsaid
        if self._list:
            self._list = False
            parts.append(event("list", self._catalog.encoded))
        if unsaid.whole or unsaid.entries:
            parts.append(self._entries())
        for job, text in unsaid.take_statuses().items():
            parts.append(event("status", _encode({"id": job, "text": text})))
        if unsaid.gone:
            unsaid.gone = False
            parts.append(event("gone", b"{}"))
        return b"".join(parts)

    def _entries(self) -> bytes:
        unsaid, entries = self._unsaid, self._watch.now.entries
        whole, unsaid.whole = unsaid.whole, False
        numbers = range(len(entries)) if whole else sorted(unsaid.entries)
        unsaid.entries = set()
        bodies = [entry_body(n, entries[n], self._outputs, live=self._watch.live) for n in numbers]
        return event("entries", _encode({"reset": whole, "entries": bodies}), self._watch.now.seq)

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
        return event("rows", rows_json(newest, id=job, total=total, first=first), self._watch.now.seq)

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
            while self._unsaid.ended:
                await self._count_one(self._unsaid.ended.pop(0))

    async def _count_one(self, job: str) -> None:
        if self._shelf.total(job) is not None or self._shelf.missing(job):
            return
        with self._shelf.rows(job, finished=True) as rows:
            await rows.catch_up()
            self._shelf.count(job, rows.total)
        place = self._unsaid.places.get(job)
        if place is not None:
            self._unsaid.entries.add(place)
            if job in self._unsaid.watched:
                self._unsaid.rows.add(job)
            self._wake.set()

    def _is_over(self, job: str) -> bool:
        place = self._unsaid.places.get(job)
        entry: Any = self._watch.now.entries[place] if place is not None else None
        return isinstance(entry, Call) and (entry.content is not None or not self._watch.live)


class _ArtifactOutputs:
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def call_id(self, number: int, call: Call) -> str:
        return call.id

    def total(self, number: int, call: Call) -> int:
        return self._shelf.total_so_far(call.id)

    def missing(self, number: int, call: Call) -> bool:
        return self._shelf.missing(call.id)


async def _set_in_time(happened: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await happened.wait()
    except TimeoutError:
        return False
    return True
