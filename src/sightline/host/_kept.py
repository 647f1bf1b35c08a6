"""Sessions whose host is gone: shown from the journal, and brought to an end there if the host had no time to."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from itertools import islice

from sightline.events import Error, Event, Notice, ToolOutput, ToolResult, stamp
from sightline.host._subscription import Frame
from sightline.journal import Busy, JobRecord, JournalWriter, Store
from sightline.transcript import Call, Snapshot, fold

_AT_ONCE = 500  # events


class Kept:
    """A session that is over, with the `subscribe` of a running one."""

    def __init__(self, store: Store, session: str) -> None:
        self.session = session
        self._kept = store.read(session)

    def snapshot(self) -> Snapshot:
        return fold(self._kept.events())

    async def subscribe(self, after: int | None = None) -> AsyncIterator[Frame]:
        """What is there to be told, a part at a time, and then the end."""
        if after is None or after > (await asyncio.to_thread(self.snapshot)).seq:
            yield await asyncio.to_thread(self.snapshot)
            return
        missed = (event for event in self._kept.events() if event.seq > after)
        while part := list(islice(missed, _AT_ONCE)):
            yield part


def recover(store: Store, session: str) -> None:
    """Say in the journal of a session whose host was killed how its jobs ended. Nothing to do for any other."""
    try:
        writer = store.writer(session)
    except (Busy, OSError):
        return
    try:
        kept = store.read(session)
        state = fold(kept.events())
        if kept.torn_at is not None:
            writer.cut_to(kept.torn_at)
        endings = _endings(store, state, torn=kept.torn_at is not None)
        if endings:
            last = next(reversed(deque(kept.events(), maxlen=1)), None)
            _append(writer, endings, state.seq, 0.0 if last is None else last.time)
            store.index.add(*store.jobs_in(session))
    finally:
        writer.close()


def kept_jobs(store: Store) -> list[JobRecord]:
    """Every job, the newest first. Those whose host was killed are brought to an end on the way."""
    jobs = store.jobs()
    lost = {job.session for job in jobs if job.state == "running" and not store.is_running(job.session)}
    deleted = {session for session in lost if not store.folder(session).exists()}
    for session in lost - deleted:
        recover(store, session)
    if deleted:  # by hand
        store.index.rewrite(lambda known: [job for job in known.values() if job.session not in deleted])
    return store.jobs() if lost else jobs


def _endings(store: Store, state: Snapshot, *, torn: bool) -> list[Event]:
    endings: list[Event] = []
    if torn:
        endings.append(Notice("the last record was cut off when the host ended; it is left out", "warning"))
    open_calls = [entry for entry in state.entries if isinstance(entry, Call) and entry.content is None]
    for call in open_calls:
        endings += _ending(call, store.artifact(call.id).size)
    if open_calls:
        endings.append(Error("the host ended without warning; the commands it ran were ended with it"))
    return endings


def _ending(call: Call, size: int) -> list[Event]:
    """The end of a call nobody saw: what is known, and what is not."""
    size = max(size, call.received)
    events: list[Event] = []
    if size > call.received:
        events.append(ToolOutput(call.id, "", offset=size, dropped=size - call.received, source="exec"))
    details = {
        "ui": {"kind": "command"},
        "ended": "host",
        "artifact": f"artifact://{call.id.rpartition('-')[0]}/{call.id}",
        "bytes": size,
        "kept": size,
        "binary": False,
    }
    said = f"ended with its host; output is kept to byte {size}, its exit code is not known"
    events.append(ToolResult(call.id, said, details, is_error=True, source="exec"))
    return events


def _append(writer: JournalWriter, endings: list[Event], seq: int, time: float) -> None:
    """With the time of the last event: when exactly the host ended is not known either."""
    writer.append([stamp(event, seq + number, time) for number, event in enumerate(endings, 1)])
