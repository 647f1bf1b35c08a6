"""How many agents work at once: one bound for a session, which may be changed while they work."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager


class Place:
    """The place of one agent that works."""

    def __init__(self, bound: "Bound") -> None:
        self._bound = bound
        self._held = True
        self._away = 0  # how many it waits for

    @contextmanager
    def given_away(self) -> Iterator[None]:
        """While the agent waits for another: it must not block those it waits for."""
        self._away += 1
        if self._held and self._away == 1:
            self._bound._leave()
        try:
            yield
        finally:
            self._away -= 1
            # Back at once, above the bound if need be: an agent that has what it waited for is not held up twice.
            if self._held and not self._away:
                self._bound._taken += 1

    def leave(self) -> None:
        held, self._held = self._held, False
        if held and not self._away:
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
