"""From a task that makes something to the one that reads it, in order and once."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

T = TypeVar("T")

_MOST = 4  # items that wait: batches of events, or chunks of output


class ReaderQueue(Generic[T]):
    """A reader that is behind is waited for; not any more after `release`."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._ended = self._released = False

    async def put(self, item: T) -> None:
        self._items.append(item)
        self._changed.set()
        if len(self._items) >= _MOST and not self._released:
            self._room.clear()
        await self._room.wait()

    def release(self) -> None:
        self._released = True
        self._room.set()

    def end(self) -> None:
        """Nothing more is put."""
        self._ended = True
        self._changed.set()

    async def read(self) -> AsyncGenerator[T, None]:
        try:
            while self._items or not self._ended:
                if self._items:
                    yield self._items.popleft()
                    self._room.set()
                else:
                    self._changed.clear()
                    await self._changed.wait()
        finally:
            self.release()
