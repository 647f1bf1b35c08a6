"""Sessions whose host is gone: shown from the journal, and brought to an end there if the host had no time to."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from itertools import islice

import msgspec

from sightline.events import Error, Event, Notice, ToolOutput, ToolResult, stamp
from sightline.host._commands import Command, Reply
from sightline.host._subscription import Frame
from sightline.journal import RECOVERY, Busy, JobRecord, JournalWriter, Store
from sightline.transcript import Call, Snapshot, fold

_AT_ONCE = 500  # events
_ENDED = {"cancelled": "cancelled", "timed_out": "timeout"}


class Kept:
    """A session that is over, used as a running one is."""

    def __init__(self, store: Store, session: str) -> None:
        self.session = session
        self._kept = store.read(session)

    def snapshot(self) -> Snapshot:
        return fold(self._kept.events())

    async def submit(self, command: Command) -> Reply:
        return Reply(False, error=f"session {self.session} has ended")

    def close(self) -> None:
        pass

    async def subscribe(self, after: int | None = None, *, attends: bool = False) -> AsyncIterator[Frame]:
        """What is there to be told, a part at a time, and then the end."""
        state = await asyncio.to_thread(self.snapshot)
        if after is None or after > state.seq:
            yield state
            return
        missed = (event for event in self._kept.events() if event.seq > after)
        while part := list(islice(missed, _AT_ONCE)):
            yield part


def recover(store: Store, session: str) -> bool:
    """Say in the journal of a session whose host was killed how its jobs ended. False when somebody is writing it."""
    try:
        writer = store.writer(session)
    except Busy:
        return False
    except OSError:  # there is no such journal, or it may not be written
        return True
    try:
        kept = store.read(session)
        state = fold(kept.events())
        if kept.torn_at is not None:
            writer.cut_to(kept.torn_at)
        last = next(reversed(deque(kept.events(), maxlen=1)), None)
        ended = 0.0 if last is None else last.time
        endings = _endings(store, state, ended, torn=kept.torn_at is not None)
        if endings:
            _append(writer, endings, state.seq, ended)
            store.index.add(*store.jobs_in(session))
    finally:
        writer.close()
    return True


def kept_jobs(store: Store) -> list[JobRecord]:
    """Every job, the newest first. Those whose host was killed are brought to an end on the way."""
    jobs = store.jobs()
    lost = {job.session for job in jobs if job.state == "running" and not store.is_running(job.session)}
    deleted = {session for session in lost if not store.folder(session).exists()}
    for session in lost - deleted:
        recover(store, session)
    if deleted:  # by hand
        store.index.rewrite(lambda known: [job for job in known.values() if job.session not in deleted])
    if lost:
        jobs = store.jobs()
        stale = [job for job in jobs if job.session in lost and job.state == "running"]
        if ended := [end for job in stale if (end := _end_of(store, job)) is not None]:
            store.index.add(*ended)
            jobs = store.jobs()
    return jobs


def _end_of(store: Store, job: JobRecord) -> JobRecord | None:
    """Of a job whose end the index missed: as the journal has it. One the journal does not know is lost."""
    if store.is_running(job.session):
        return None
    known = {record.id: record for record in store.jobs_in(job.session)}
    found = known.get(job.id, msgspec.structs.replace(job, state="lost", duration=0.0))
    return None if found.state == "running" else found


def _endings(store: Store, state: Snapshot, ended: float, *, torn: bool) -> list[Event]:
    endings: list[Event] = []
    if torn:
        endings.append(Notice("the last record was cut off when the session ended; it is left out", "warning"))
    open_calls = [entry for entry in state.entries if isinstance(entry, Call) and entry.content is None]
    listed = store.index.jobs().values() if open_calls else ()
    seen = {job.id: job for job in listed if job.exit_code is not None}  # by a host whose disk was full
    for call in open_calls:
        endings += _ending(call, store.artifact(call.id).size, seen.get(call.id), ended)
    if any(isinstance(end, ToolResult) and end.exit_code is None for end in endings):
        endings.append(Error("the session ended unexpectedly; what was running ended with it", source=RECOVERY))
    return endings


def _ending(call: Call, kept: int, seen: JobRecord | None, ended: float) -> list[Event]:
    """The end of a call the journal does not have: what is known, and what is not."""
    size = max(kept, call.received, 0 if seen is None else seen.bytes)
    events: list[Event] = []
    if size > call.received:
        events.append(ToolOutput(call.id, "", offset=size, dropped=size - call.received, source="exec"))
    details = {
        "ui": {"kind": "command"},
        "ended": "host" if seen is None else _ENDED.get(seen.state, "exit"),
        "artifact": f"artifact://{call.id.rpartition('-')[0]}/{call.id}",
        "bytes": size,
        "kept": kept,
        "binary": False,
    }
    if seen is None:
        said = f"lost: the session ended while this was running; {kept} bytes of output are stored"
        result = ToolResult(call.id, said, details, is_error=True, duration=round(call.elapsed(ended), 4))
    else:
        failed = seen.state in ("failed", "timed_out")
        result = ToolResult(call.id, "", details, failed, exit_code=seen.exit_code, duration=seen.duration)
    return [*events, msgspec.structs.replace(result, source="exec")]


def _append(writer: JournalWriter, endings: list[Event], seq: int, time: float) -> None:
    """With the time of the last event: when exactly the host ended is not known either."""
    writer.append([stamp(event, seq + number, time) for number, event in enumerate(endings, 1)])
