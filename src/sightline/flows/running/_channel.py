"""From steps that run side by side to the one reader: batches in order, and a bound on how far ahead they run."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from sightline.events import Event
from sightline.events.stamping import of_source

FLOW = "flow"  # the source of what a flow itself does
_AHEAD_AT_MOST = 64  # batches; a batch may be a quarter of a megabyte of output


class EventChannel:
    """Many write, one reads. A slow reader slows the writers down, until `release`."""

    def __init__(self) -> None:
        self._batches: deque[list[Event]] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._released = False
        self._closed = False

    @property
    def full(self) -> bool:
        return len(self._batches) >= _AHEAD_AT_MOST and not self._released

    def publish(self, *events: Event) -> None:
        """What the flow itself does: added to the order now. For what is rare, or when a full channel was seen to."""
        self._add(of_source(FLOW, list(events)))

    async def put(self, events: list[Event]) -> None:
        """Add to the order now, then wait for the reader to have caught up."""
        if events:
            self._add(events)
        while self.full:
            self._room.clear()
            await self._room.wait()

    def _add(self, events: list[Event]) -> None:
        self._batches.append(events)
        self._news.set()

    def release(self) -> None:
        """Writers do not wait any more."""
        self._released = True
        self._room.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()

    async def batches(self) -> AsyncIterator[list[Event]]:
        while True:
            while self._batches:
                yield self._batches.popleft()
                if not self.full:
                    self._room.set()
            if self._closed:
                return
            self._news.clear()
            await self._news.wait()
