"""One prompt for our own agent, without a screen: as a run like any provider's, in a session like any other.

Rules:

- Everything that is shown is in the journal first. A reader that is slow is told from there what it missed, one event
  after the other: nothing is left out because nobody read it in time.
- When the run is over, jobs it left running are ended, and that is said. Nobody is there to wait for them.
"""

import asyncio
from collections.abc import AsyncGenerator

from sightline.agent import RunOutcome, Wanted
from sightline.events import Error, Event, Notice, encode_event
from sightline.host._subscription import Subscription
from sightline.host._working import Working, working
from sightline.journal import KeptSession, Store
from sightline.providers import Outcome
from sightline.text import clean_line, clean_text, cut_graphemes, first_line
from sightline.transcript import Snapshot

_TITLE = 80
_AT_ONCE = 500  # events


class NativeRun:
    """Read its events, or them as lines, to the end; then there is an outcome."""

    def __init__(
        self, store: Store, wanted: Wanted, prompt: str, *, resume: str = "", timeout: float | None = None
    ) -> None:
        self._store = store
        self._wanted = wanted
        self._prompt = prompt
        self._resume = resume
        self._timeout = timeout
        self._working: Working | None = None
        self._cancelled = False
        self._last = 0  # number of the last event that was passed on
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        if self._outcome is None:
            raise RuntimeError("the run has no outcome before its events were read to the end")
        return self._outcome

    async def cancel(self) -> None:
        self._cancelled = True
        if self._working is not None:
            self._working.agent.stop()
            await self._working.agent.wait()

    async def raw(self) -> AsyncGenerator[bytes, None]:
        """Our own lines are our events."""
        async for batch in self.events():
            yield b"".join([encode_event(event) + b"\n" for event in batch])

    async def events(self) -> AsyncGenerator[list[Event], None]:
        title = cut_graphemes(clean_line(first_line(self._prompt)), _TITLE)
        async with working(self._store, self._wanted, resume=self._resume, title=title) as running:
            self._working = running
            self._last = running.first
            frames = running.session.subscribe(self._last)
            work = asyncio.get_running_loop().create_task(self._work(running, frames))
            try:
                async for frame in frames:
                    if isinstance(frame, Snapshot):
                        for part in self._missed(running.session.id, frame.seq):
                            yield part
                    else:
                        self._last = frame[-1].seq
                        yield frame
            finally:
                running.agent.stop()
                await asyncio.wait([work])
            work.result()

    async def _work(self, running: Working, frames: Subscription) -> None:
        agent = running.agent
        timer = None
        try:
            await agent.prompt(self._prompt)
            if self._cancelled:
                agent.stop()
            if self._timeout is not None:
                timer = asyncio.get_running_loop().call_later(self._timeout, agent.stop, "timeout")
            ended = await agent.wait()
            while agent.busy:  # a command had a prompt of its own
                ended = await agent.wait()
            assert ended is not None
            self._settle(running.session.id, ended)
            await self._end_jobs(running)
        finally:
            if timer is not None:
                timer.cancel()
            running.session.flush()
            frames.end()

    async def _end_jobs(self, running: Working) -> None:
        jobs = running.agent.workplace.jobs
        left = [job for job in jobs.snapshots() if job.status == "running"] if jobs is not None else []
        for job in left:
            text = f"job {job.id} ({clean_line(job.label)}) was still running and is ended with the run"
            running.session.publish(Notice(text, "warning", "ask the agent to wait for it", source="agent"))
        if jobs is not None:
            await jobs.shutdown()

    def _missed(self, session: str, last: int) -> "list[list[Event]]":
        """What there was since the reader stopped reading, from where it is kept."""
        kept = KeptSession(self._store.folder(session))
        missed = [event for event in kept.events() if self._last < event.seq <= last]
        self._last = last
        return [missed[start : start + _AT_ONCE] for start in range(0, len(missed), _AT_ONCE)]

    def _settle(self, session: str, ended: RunOutcome) -> None:
        self._outcome = Outcome(
            exit_code=ended.exit_code,
            session=session,
            text=ended.text,
            stderr=ended.error,
            timed_out=ended.exit_code == 124,
            cancelled=ended.exit_code == 130,
            error=Error(clean_text(ended.error), source="agent") if ended.error else None,
        )
