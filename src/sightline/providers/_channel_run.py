"""One prompt worked on through a channel: events from a queue that the channel fills, and an outcome.

Rules:

- The queue is bounded: a channel that is read faster than it is shown waits, and so does its provider. Its events are
  in the queue before it waits: nothing can be overtaken by the end.
- A run without a reader, or whose channel is being closed, does not make the channel wait.
- The run is over with its `run_ended`; a channel that breaks publishes an error and that.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from sightline.events import Error, Event, RunEnded, Text, encode_event
from sightline.events.stamping import of_source
from sightline.providers._provider import ProviderOutcome, ProviderWords

_BATCHES_AT_MOST = 256
_SECONDS_TO_STOP = 5.0


class ChannelRun:
    """Read its events to the end; then there is an outcome."""

    def __init__(
        self, provider: str, session: str, stop: Callable[[], Awaitable[None]], kill: Callable[[], Awaitable[None]]
    ) -> None:
        """`stop` requests that the provider ends the work; `kill` is for one that does not."""
        self._provider = provider
        self._session = session
        self._stop = stop
        self._kill = kill
        self._queue: asyncio.Queue[list[Event]] = asyncio.Queue()
        self._room = asyncio.Event()
        self._is_bounded = True
        self._words = ProviderWords()
        self._error: Error | None = None
        self._ended: asyncio.Future[RunEnded] = asyncio.get_running_loop().create_future()
        self._cancelled = False

    @property
    def over(self) -> bool:
        return self._ended.done()

    @property
    def outcome(self) -> ProviderOutcome:
        ended = self._ended.result()
        cancelled = self._cancelled or ended.stop_reason == "cancelled"
        failed = ended.is_error or self._error is not None
        return ProviderOutcome(
            exit_code=130 if cancelled else int(failed),
            session=self._session,
            text=self._words.text,
            left_out=self._words.left_out,
            cancelled=cancelled,
            error=None if cancelled else self._error,
        )

    def publish(self, events: list[Event]) -> None:
        """For the channel: add events without waiting for room."""
        if events and not self.over:
            for event in of_source(self._provider, events):
                self._note(event)
            self._queue.put_nowait(events)

    async def put(self, events: list[Event]) -> None:
        """For the channel: add events; returns when there is room for more."""
        self.publish(events)
        while self._is_bounded and not self.over and self._queue.qsize() >= _BATCHES_AT_MOST:
            self._room.clear()
            await self._room.wait()

    async def fail(self, error: Error) -> None:
        """For the channel: it broke; for a run that is being cancelled that is no failure."""
        if self._cancelled:
            await self.put([RunEnded(stop_reason="cancelled")])
        else:
            await self.put([error, RunEnded(is_error=True)])

    def unbind(self) -> None:
        """For a channel whose process has ended: what is left of it is taken, whether it is read or not."""
        self._is_bounded = False
        self._room.set()

    async def events(self) -> AsyncGenerator[list[Event], None]:
        try:
            while not (self.over and self._queue.empty()):
                batch = await self._queue.get()
                self._room.set()
                yield batch
        finally:
            self.unbind()
            if not self.over:
                await self.cancel()

    async def raw(self) -> AsyncGenerator[bytes, None]:
        """Channels speak in many forms: the lines of a run are our events."""
        async with aclosing(self.events()) as batches:
            async for batch in batches:
                yield b"".join([encode_event(event) + b"\n" for event in batch])

    async def cancel(self) -> None:
        """End the work on this prompt. Returns when it is over."""
        if self.over:
            return
        self._cancelled = True
        try:
            async with asyncio.timeout(_SECONDS_TO_STOP):
                await self._stop()
                await asyncio.shield(self._ended)
        except TimeoutError:
            await self._kill()
            self.publish([RunEnded(stop_reason="cancelled")])

    def _note(self, event: Event) -> None:
        if event.agent:
            return
        if isinstance(event, Text):
            self._words.add(event)
        elif isinstance(event, Error):
            self._error = event
        elif isinstance(event, RunEnded) and not self._ended.done():
            self._ended.set_result(event)
