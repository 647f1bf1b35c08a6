"""The rows of calls that are being viewed, held open between requests and shared by all of them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sightline.journal import Store
from sightline.secrets import MaskedArtifact, Secrets
from sightline.transcript import TranscriptCall
from sightline.views.web.rows._rows import ArtifactRows, FixedRows, FoundRows

_MOST_OPEN = 100
_MOST_TOTALS = 20_000
_MOST_RESULTS = 500
# More than this is counted in a thread; where the cursor moves up, interpreting is a hundred times the work.
_AT_ONCE = 128 * 1024
_AT_ONCE_DRAWN_OVER = 8 * 1024
_STEP = 32 * 1024 * 1024
_STEP_DRAWN_OVER = 256 * 1024
_COSTLY = 8 * 1024 * 1024  # to count anew


class JobRows:
    """One artifact's rows, for the event loop: what takes long is done in a thread, one thing at a time."""

    def __init__(self, rows: ArtifactRows) -> None:
        self._rows = rows
        self._lock = asyncio.Lock()
        self.users = 0
        self.used = 0.0

    @property
    def total(self) -> int:
        return self._rows.total

    @property
    def costly(self) -> bool:
        return self._rows.reader.size > _COSTLY

    @property
    def behind(self) -> bool:
        """Whether there is output that was not looked at, as far as it can be."""
        return self._rows.unseen > 64 or (self._rows.finished and not self._rows.looked_finished)

    @property
    def seen(self) -> tuple[int, bool]:
        """Up to where it was looked at, and whether that was the end."""
        return self._rows.reader.size - self._rows.unseen, self._rows.looked_finished

    def finish(self) -> None:
        """The call ended: what is there now is all."""
        self._rows.finished = True

    async def catch_up(self) -> None:
        """Look at everything that is there by now."""
        rows, end = self._rows, self._rows.reader.size
        while rows.reader.size - rows.unseen < end or (rows.finished and not rows.looked_finished):
            if not await self.step():
                return

    async def step(self) -> bool:
        """Look at some of what is new. False when that changed nothing."""
        async with self._lock:
            rows = self._rows
            before = rows.unseen, rows.looked_finished
            if rows.unseen <= (_AT_ONCE_DRAWN_OVER if rows.drawn_over else _AT_ONCE):
                rows.look()
            else:
                await asyncio.to_thread(rows.look, _STEP_DRAWN_OVER if rows.drawn_over else _STEP)
            return before != (rows.unseen, rows.looked_finished)

    async def newest(self) -> tuple[int, int, list[bytes]]:
        """How many rows there are, and the newest with the number of the first."""
        async with self._lock:
            first, rows = self._rows.newest()
            return self._rows.total, first, rows

    async def read(self, first: int, count: int) -> list[bytes]:
        async with self._lock:
            return await asyncio.to_thread(self._rows.read, first, count)

    async def find(self, text: str, first: int, limit: int) -> FoundRows:
        async with self._lock:
            return await asyncio.to_thread(self._rows.find, text, first, limit)

    async def last_part(self, most: int) -> tuple[int, int]:
        async with self._lock:
            return self._rows.last_part(most)

    def close(self) -> None:
        self._rows.close()


class RowCache:
    """Rows by job. The least recently used are closed first, those that were much work last."""

    def __init__(self, store: Store, secrets: Secrets) -> None:
        self._store = store
        self._secrets = secrets
        self._open: dict[str, JobRows] = {}
        self._totals: dict[str, int] = {}
        self._results: dict[tuple[str, int], FixedRows] = {}

    def result(self, call: TranscriptCall) -> FixedRows:
        """The rows of what a call returned that wrote no output of its own."""
        key = call.id, call.updates
        if key not in self._results:
            if len(self._results) >= _MOST_RESULTS:
                self._results.pop(next(iter(self._results)))
            self._results[key] = FixedRows(call)
        return self._results[key]

    def missing(self, job: str) -> bool:
        """Whether the output is not there (any more)."""
        with closing(self._store.artifact(job)) as reader:
            return reader.missing

    def total(self, job: str) -> int | None:
        """The number of rows of a call that ended, when it has been counted."""
        return self._totals.get(job)

    def total_so_far(self, job: str) -> int:
        held = self._open.get(job)
        return self._totals.get(job) or (0 if held is None else held.total)

    def count(self, job: str, total: int) -> None:
        if len(self._totals) >= _MOST_TOTALS:
            self._totals.pop(next(iter(self._totals)))
        self._totals[job] = total

    def forget(self, job: str) -> None:
        self._totals.pop(job, None)
        held = self._open.get(job)
        if held is not None and not held.users:
            self._open.pop(job).close()

    @contextmanager
    def rows(self, job: str, *, finished: bool) -> Iterator[JobRows]:
        held = self._open.get(job)
        if held is None:
            self._make_room()
            reader = MaskedArtifact(self._store.artifact_path(job), self._secrets)
            held = self._open[job] = JobRows(ArtifactRows(reader))
        if finished:
            held.finish()
        held.users += 1
        held.used = time.monotonic()
        try:
            yield held
        finally:
            held.users -= 1

    def _make_room(self) -> None:
        idle = [(held.costly, held.used, job) for job, held in self._open.items() if not held.users]
        for _, _, job in sorted(idle)[: max(len(self._open) - _MOST_OPEN + 1, 0)]:
            self._open.pop(job).close()

    def close(self) -> None:
        for held in self._open.values():
            held.close()
