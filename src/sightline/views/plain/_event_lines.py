"""A job's events as NDJSON, as the session numbered them, none missing and none twice.

A reader that is too slow for the host is given a snapshot, which is no event. What it stands for is then read from the
journal, where every event is before anybody is sent it.
"""

from collections.abc import AsyncIterator, Iterator

from sightline.events import Event, encode_event
from sightline.host import Frame
from sightline.journal import Store, session_of
from sightline.transcript import Snapshot
from sightline.views.plain._ending import JobEnd, ending_in
from sightline.views.plain._output import write_patiently

_TOGETHER = 64 * 1024


async def pass_events(store: Store, frames: AsyncIterator[Frame], job: str) -> JobEnd | None:
    """Write them to stdout until the job ended."""
    last = 0
    async for frame in frames:
        events = _kept(store, job, last, frame.seq) if isinstance(frame, Snapshot) else iter(frame)
        data = b""
        for event in events:
            last = max(last, event.seq)
            if getattr(event, "id", job) == job:
                data += encode_event(event) + b"\n"
            if len(data) > _TOGETHER:
                await write_patiently(1, data)
                data = b""
        await write_patiently(1, data)
        ending = ending_in(frame, job)
        if ending is not None:
            return ending
    return None


def _kept(store: Store, job: str, after: int, last: int) -> Iterator[Event]:
    return (event for event in store.read(session_of(job)).events() if after < event.seq <= last)
