"""Facts about a session's events without their fold: its jobs and its open requests."""

from collections.abc import Container

from sightline.events import Error, Event, Request, RequestResolved, ToolResult, ToolUse, encode_event
from sightline.events.stamping import in_place_of
from sightline.journal import JobIndex, JobRecord, job_began, job_ended


class Notes:
    """The jobs and open requests of one session. Jobs are recorded in the index, too."""

    def __init__(self, index: JobIndex) -> None:
        self._index = index
        self._records: dict[str, JobRecord] = {}
        self.requests: set[str] = set()  # those that are open

    def knows(self, job: str) -> bool:
        return job in self._records

    def take(self, event: Event, jobs: Container[str]) -> bool:
        """`jobs`: the ids of those that run. True when the last open request was resolved."""
        match event:
            case ToolUse() if event.id in jobs:
                self._record(job_began(event))
            case ToolResult() if event.id in self._records:
                self._record(job_ended(self._records[event.id], event))
            case Request():
                self.requests.add(event.id)
            case RequestResolved():
                self.requests.discard(event.id)
                return not self.requests
        return False

    def _record(self, record: JobRecord) -> None:
        self._records[record.id] = record
        self._index.add(record)


def sound(event: Event) -> Event:
    """The event, or an error in its place: what cannot be encoded must not take others with it."""
    try:
        encode_event(event)
    except Exception as error:
        what = f"a {type(event).__name__} could not be published: {type(error).__name__} (this is a bug in sightline)"
        return in_place_of(event, Error(what))
    return event
