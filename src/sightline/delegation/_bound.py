"""How many agents work at once: one bound for a session, which may be changed while they work.

No one waits here while holding a place, so each that waits gets one when another ends or waits for something itself.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Place:
    """The place of one agent that works."""

    def __init__(self, bound: "Bound") -> None:
        self._bound = bound
        self._held = True
        self._left = False
        self._away = 0  # how many it waits for

    @asynccontextmanager
    async def given_away(self) -> AsyncIterator[None]:
        """While the agent waits for another: it must not block those it waits for. After that it waits for a place like
        any other; meanwhile it holds none, so that no two can wait for each other's."""
        self._away += 1
        self._release()
        try:
            yield
        except BaseException:  # it is being stopped: that does not wait for others
            self._away -= 1
            self._take()
            raise
        self._away -= 1
        if self._is_missing:
            await self._return()

    def leave(self) -> None:
        self._left = True
        self._release()

    @property
    def _is_missing(self) -> bool:
        """Whether the agent works, and has no place. Of several calls that wait at once only the last returns."""
        return not (self._held or self._left or self._away)

    async def _return(self) -> None:
        try:
            await self._bound._enter()
        except asyncio.CancelledError:
            self._take()
            raise
        if self._is_missing:
            self._held = True
        else:  # it ended meanwhile, waits again, or another call of it was faster
            self._bound._leave()

    def _take(self) -> None:
        """At once, above the bound if need be."""
        if self._is_missing:
            self._held = True
            self._bound._taken += 1

    def _release(self) -> None:
        if self._held:
            self._held = False
            self._bound._leave()


class Bound:
    """Places for agents that work. One that waits gets in when another leaves, or when the `limit` has grown."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def taken(self) -> int:
        return self._taken

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Place]:
        """Wait for a place, and have it until the end of the block."""
        await self._enter()
        place = Place(self)
        try:
            yield place
        finally:
            place.leave()

    def refresh(self) -> None:
        """The limit may have changed."""
        while self._waiting and self._taken < max(self._limit(), 1):
            future = self._waiting.popleft()
            if not future.done():
                self._taken += 1
                future.set_result(None)

    async def _enter(self) -> None:
        if not self._waiting and self._taken < max(self._limit(), 1):
            self._taken += 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():  # it was let in and is gone
                self._leave()
            elif future in self._waiting:
                self._waiting.remove(future)
            raise

    def _leave(self) -> None:
        self._taken -= 1
        self.refresh()
