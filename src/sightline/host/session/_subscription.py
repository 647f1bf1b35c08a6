"""One view's place in a session's events: a bounded queue that overflows into a new snapshot, never into loss."""

import asyncio
from collections.abc import Callable
from typing import Union

from sightline.events import Event, ToolOutput
from sightline.transcript import Snapshot

Frame = Union[Snapshot, list[Event]]

# How far a view may be behind before it is brought up to date by a snapshot instead.
_MOST_EVENTS = 2000
_MOST_CHARACTERS = 1024 * 1024


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
        """`missed`: what the view has not seen yet; None when only a snapshot can tell it."""
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
