"""Reading a session that this process hosts, event by event.

Everything that is read is in the journal first. A slow reader gets what it missed from there: nothing is left out
because it was not read in time. Only what the journal has no room for can be missed, and that is reported.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from itertools import islice, takewhile

from sightline.events import Error, Event
from sightline.host.session._session import HostSession
from sightline.journal import SessionReader
from sightline.transcript import Snapshot

_AT_ONCE = 500  # events


class SessionEvents:
    """Every event of a session after one, in order, once. `end` it when nothing more is to come."""

    def __init__(self, session: HostSession, last: int, place: int) -> None:
        """`last`: the number of the last event that is not read. `place`: the size of the journal then."""
        self._folder = session.folder
        self._frames = session.subscribe(last, lambda: Snapshot(session.stored_seq))
        self._last = last
        self._place = place
        self.lost_some = False  # what could not be stored, and was not read in time

    def end(self) -> None:
        self._frames.end()

    async def batches(self) -> AsyncGenerator[list[Event], None]:
        async for frame in self._frames:
            if isinstance(frame, Snapshot):
                missed = self._missed(frame.seq)
                while part := await asyncio.to_thread(_some, missed):
                    self.lost_some |= part[-1].seq - self._last > len(part)
                    self._last = part[-1].seq
                    yield part
                if self._last < frame.seq:
                    self.lost_some = True
                    yield [_not_shown(self._last + 1, frame.seq)]
                    self._last = frame.seq
            else:
                self._last = frame[-1].seq
                yield frame

    def _missed(self, last: int) -> Iterator[Event]:
        """What the reader missed, up to event `last`, from the journal."""
        place, after = self._place, self._last
        self._place = (self._folder / "journal.jsonl").stat().st_size
        stored = takewhile(lambda event: event.seq <= last, SessionReader(self._folder).events(place))
        return (event for event in stored if event.seq > after)


def _not_shown(first: int, last: int) -> Event:
    return Error(f"events {first} to {last} could not be stored and are not shown", "free some disk space", seq=last)


def _some(events: Iterator[Event]) -> list[Event]:
    """The next few; called in a thread, since a journal may be long."""
    return list(islice(events, _AT_ONCE))
