"""One prompt for a chat completions server, as a run: events or bytes for a reader, then an outcome.

The work is done by a task of its own, so that cancelling or a timeout ends it at once, wherever it waits. Giving up the
iteration ends it too. What happens between us and the server is in `_chat_work`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from sightline.events import Error, Event, RunEnded
from sightline.events.stamping import of_source
from sightline.exceptions import SightlineError
from sightline.providers._provider import ProviderOutcome, ProviderPrompt
from sightline.providers.openai_compatible._source import ChatSource
from sightline.providers.openai_compatible._work import ChatWork
from sightline.text import clean_text

# Batches the work may be ahead of its reader.
_AHEAD = 32


class ChatRun:
    """A run. `sleep` and `now` are for tests: the wait before a retry, and the time a date is compared with."""

    def __init__(
        self,
        ask: ProviderPrompt,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._ask = ask
        self._work = ChatWork(ask, self._pass_on, sleep=sleep, now=now)
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._queue: asyncio.Queue[list[Event] | bytes | None] = asyncio.Queue()
        self._room = asyncio.Event()
        self._outcome: ProviderOutcome | None = None

    @property
    def outcome(self) -> ProviderOutcome:
        if self._outcome is None:
            raise RuntimeError("the run has no outcome before its events or its bytes were read to the end")
        return self._outcome

    async def events(self) -> AsyncGenerator[list[Event], None]:
        async for item in self._items():
            if isinstance(item, list):
                yield of_source(ChatSource.provider, item)

    async def raw(self) -> AsyncGenerator[bytes, None]:
        self._work.raw = True
        async for item in self._items():
            if isinstance(item, bytes):
                yield item

    async def cancel(self) -> None:
        """End the run. Returns when its connection is closed."""
        if self._task is None:
            self._cancelled = True
        elif not self._task.done():
            self._cancelled = True
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _items(self) -> AsyncIterator[list[Event] | bytes]:
        task = self._task = asyncio.ensure_future(self._in_time())
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        if self._cancelled:
            task.cancel()
        try:
            while (item := await self._queue.get()) is not None:
                self._room.set()
                yield item
            if last := self._end(task):
                yield last
        finally:
            task.cancel()
            await asyncio.wait({task})
            if self._outcome is None:
                self._cancelled = True
                self._end(task)

    async def _in_time(self) -> None:
        async with asyncio.timeout(self._ask.timeout):
            await self._work.run()

    async def _pass_on(self, item: list[Event] | bytes) -> None:
        self._queue.put_nowait(item)
        if self._queue.qsize() >= _AHEAD:
            self._room.clear()
            await self._room.wait()

    def _end(self, task: "asyncio.Task[None]") -> list[Event]:
        """Settle the outcome; returns the events that are still to be told about it."""
        turns = self._work.source.turns
        problem = None if task.cancelled() else task.exception()
        if self._cancelled:
            self._settle(130)
            return turns.stop("cancelled", 130)
        if problem is None:
            self._settle(1 if turns.failed else 0)
            return []
        if isinstance(problem, TimeoutError):
            code, reason = 124, "timeout"
            error = Error(f"no answer within {self._ask.timeout:g} s", "allow more time, or ask for less")
        elif isinstance(problem, SightlineError):
            code, reason = problem.exit_code, "error"
            error = Error(clean_text(problem.message), clean_text(problem.hint))
        else:
            raise problem
        turns.failed = True
        self._settle(code, error)
        closing = turns.stop(reason, code) or [RunEnded(None, None, reason, True, code)]
        return [error, *closing]

    def _settle(self, exit_code: int, error: Error | None = None) -> None:
        lines = [] if error is None else [f"error: {error.text}", f"hint: {error.hint}" if error.hint else ""]
        self._outcome = ProviderOutcome(
            exit_code=exit_code,
            session=self._work.session,
            text="".join(self._work.words),
            stderr="\n".join(lines).strip(),
            timed_out=exit_code == 124,
            cancelled=exit_code == 130,
        )
