"""One view's place in a session's events: a bounded queue that overflows into a new snapshot, never into loss; and the
recent events, for views that reconnect."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Union

from sightline.events import Event, ToolOutput
from sightline.transcript import Snapshot

Frame = Union[Snapshot, list[Event]]

# How far a view may be behind before it is brought up to date by a snapshot instead.
_MOST_EVENTS = 2000
_MOST_CHARACTERS = 1024 * 1024
_RECENT_EVENTS = 4000


class Subscription:
    """`async for frame in subscription`: a snapshot, which replaces everything, or the next events, in order, once."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        missed: list[Event] | None,
        on_close: "Callable[[Subscription], None]",
        *,
        attends: bool = False,
    ) -> None:
        """`missed`: what the view has not seen yet; None when it needs a snapshot."""
        self.attends = attends
        self._snapshot = snapshot
        self._behind = missed is None
        self._queue: list[Event] = list(missed or ())
        self._characters = 0
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None
        self._on_close = on_close

    def offer(self, events: list[Event]) -> None:
        """Called by the session, which never waits for a view."""
        if self._behind:
            return
        self._queue += events
        for event in events:
            if type(event) is ToolOutput:
                self._characters += len(event.content)
        if len(self._queue) > _MOST_EVENTS or self._characters > _MOST_CHARACTERS:
            self._behind = True
            self._queue = []
        self._wake()

    def end(self) -> None:
        """Nothing follows: the session is over. What is queued is still delivered."""
        self._ended = True
        self._wake()

    def close(self) -> None:
        """The view is gone."""
        self.end()
        self._on_close(self)

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Frame:
        while not (self._queue or self._behind):
            if self._ended:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        queue, self._queue, self._characters = self._queue, [], 0
        if self._behind:
            self._behind = False
            return self._snapshot()
        return queue

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Recent:
    """The last events, for a view that lost its connection. Bounded in number and size; the oldest go first."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._characters = 0

    def add(self, events: list[Event]) -> None:
        self._events.extend(events)
        for event in events:
            if isinstance(event, ToolOutput):
                self._characters += len(event.content)
        while len(self._events) > _RECENT_EVENTS or self._characters > _MOST_CHARACTERS:
            old = self._events.popleft()
            if isinstance(old, ToolOutput):
                self._characters -= len(old.content)

    def after(self, seq: int, last: int) -> list[Event] | None:
        """Everything after `seq`, up to `last`, which was the last; None when some of that is no longer here."""
        oldest = self._events[0].seq if self._events else last + 1
        if not oldest - 1 <= seq <= last:
            return None
        return [event for event in self._events if event.seq > seq]
