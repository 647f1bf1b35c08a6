"""Sessions without a host: shown from the journal, where what a killed host left open is ended."""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

import msgspec

from sightline.host.session._commands import Command, CommandReply
from sightline.host.session._subscription import Frame
from sightline.journal import Busy, JobRecord, Store
from sightline.transcript import Snapshot, Transcript

_AT_ONCE = 500  # events


class StoredSession:
    """A session that is over, used as a running one is."""

    def __init__(self, store: Store, session: str) -> None:
        self.session = session
        self.last = 0.0  # time of its last event, once it was read
        self._reader = store.read(session)

    def snapshot(self) -> Snapshot:
        transcript = Transcript()
        for event in self._reader.events():
            transcript.apply(event)
            self.last = event.time
        return transcript.now

    async def submit(self, command: Command) -> CommandReply:
        return CommandReply(False, error=f"session {self.session} has ended")

    def close(self) -> None:
        pass

    async def subscribe(self, after: int | None = None, *, attends: bool = False) -> AsyncIterator[Frame]:
        """The stored events, a part at a time, and then the end."""
        state = await asyncio.to_thread(self.snapshot)
        if after is None or after > state.seq:
            yield state
            return
        missed = (event for event in self._reader.events() if event.seq > after)
        while part := list(islice(missed, _AT_ONCE)):
            yield part


def recover(store: Store, session: str) -> bool:
    """Give what a killed host left open in a session its end. False while another process writes its journal."""
    try:
        writer, _ = store.reopen(session, whole=True)
    except Busy:
        return False
    except OSError:  # there is no such journal, or it may not be written
        return True
    writer.close()
    return True


def stored_jobs(store: Store) -> list[JobRecord]:
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
