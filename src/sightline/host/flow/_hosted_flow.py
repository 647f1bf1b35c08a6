"""A flow in a session that this process hosts and shows."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from sightline.events import Event
from sightline.flows import STEPS_AT_ONCE, FlowOutcome
from sightline.host.flow._flow_session import FlowSession, FlowStart, flow_session
from sightline.host.session._reading import SessionEvents
from sightline.journal import Store


class HostedFlow:
    """Read its events to the end, then there is an outcome; `cancel` brings the end about."""

    def __init__(self, store: Store, start: FlowStart, *, steps_at_once: int = STEPS_AT_ONCE) -> None:
        self._store = store
        self._start = start
        self._steps_at_once = steps_at_once
        self._running: FlowSession | None = None
        self._cancelled = False

    @property
    def session(self) -> str:
        """The id of its session; empty before there is one."""
        return "" if self._running is None else self._running.session.id

    @property
    def outcome(self) -> FlowOutcome:
        assert self._running is not None, "there is no outcome before its events were read"
        return self._running.flow_run.outcome

    @property
    def exit_code(self) -> int:
        """A flow of which something could not be stored has failed, whatever it did."""
        assert self._running is not None
        return self.outcome.exit_code or int(self._running.session.lost_some)

    async def events(self) -> AsyncGenerator[list[Event], None]:
        async with flow_session(self._store, self._start, steps_at_once=self._steps_at_once) as running:
            self._running = running
            reading = SessionEvents(running.session, running.first, running.place)
            if self._cancelled:
                await running.flow_run.cancel()
            work = asyncio.get_running_loop().create_task(self._work(running, reading))
            try:
                async with aclosing(reading.batches()) as batches:
                    async for batch in batches:
                        yield batch
            finally:
                if not work.done():  # no reader is left
                    await running.flow_run.cancel()
                    await asyncio.wait([work])
            work.result()

    async def cancel(self) -> None:
        """Once: what runs is asked to end; done when it has. Again: it is killed."""
        if self._running is not None:
            if self._cancelled:
                self._running.session.hurry()
            self._cancelled = True
            await self._running.flow_run.cancel()
        self._cancelled = True

    async def _work(self, running: FlowSession, reading: SessionEvents) -> None:
        try:
            await running.run()
        finally:
            running.session.flush()
            reading.end()
