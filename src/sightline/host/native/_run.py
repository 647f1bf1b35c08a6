"""One prompt for our own agent without a console: a run like any provider's, in a session like any other.

Rules:

- Everything that is shown is in the journal first, and a slow reader misses nothing (`SessionEvents`).
- When the run is over, jobs it left running are ended, and that is reported: no user is there to wait for them.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from msgspec.structs import replace

from sightline.agent import AgentSpec, RunOutcome, agent_spec, headless_commands
from sightline.events import Error, Event, Notice, encode_event
from sightline.host.native._working import NativeSession, working
from sightline.host.session._reading import SessionEvents
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.providers import ProviderOutcome, ProviderPrompt
from sightline.settings import StartOptions
from sightline.text import clean_line, clean_text, cut_graphemes, first_line

_TITLE = 80


class NativeRun:
    """Read its events, or them as lines, to the end; then there is an outcome."""

    def __init__(self, store: Store, spec: AgentSpec, prompt: str, *, timeout: float | None = None) -> None:
        title = cut_graphemes(clean_line(first_line(prompt)), _TITLE)
        self._store = store
        self._spec = replace(spec, options=replace(spec.options, title=title))
        self._prompt = prompt
        self._timeout = timeout
        self._working: NativeSession | None = None
        self._cancelled = self._timed_out = False
        self._outcome: ProviderOutcome | None = None

    @property
    def outcome(self) -> ProviderOutcome:
        if self._outcome is None:
            raise RuntimeError("the run has no outcome before its events were read to the end")
        return self._outcome

    async def cancel(self) -> None:
        """Once: what runs is asked to end. Again: it is killed."""
        if self._cancelled and self._working is not None:
            self._working.session.hurry()
        self._cancelled = True
        if self._working is not None:
            self._working.agent.stop()
            self._working.worker.team.directory.stop_all()
            await self._working.agent.wait()

    async def raw(self) -> AsyncGenerator[bytes, None]:
        """The events as lines: our own format."""
        async with aclosing(self.events()) as batches:
            async for batch in batches:
                yield b"".join([encode_event(event) + b"\n" for event in batch])

    async def events(self) -> AsyncGenerator[list[Event], None]:
        async with working(self._store, self._spec) as running:
            self._working = running
            reading = SessionEvents(running.session, running.first, running.place)
            work = asyncio.get_running_loop().create_task(self._work(running, reading))
            try:
                async with aclosing(reading.batches()) as batches:
                    async for batch in batches:
                        yield batch
            finally:
                running.agent.stop()
                if not running.agent.busy:
                    work.cancel()  # a hook, or a job that winds up: the session sees to that
                await asyncio.wait([work])
                problem = None if work.cancelled() else work.exception()
            if problem is not None:
                raise problem

    async def _work(self, running: NativeSession, reading: SessionEvents) -> None:
        agent = running.agent
        timer = None
        try:
            agent.commands = {**headless_commands(agent, self._store), **agent.commands}
            await agent.prompt(self._prompt)
            if self._cancelled:
                agent.stop()
            if self._timeout is not None:
                timer = asyncio.get_running_loop().call_later(self._timeout, self._time_out, running)
            ended = await agent.wait()
            assert ended is not None
            self._settle(running, ended)
            directory = running.worker.team.directory
            while not (self._cancelled or self._timed_out) and (agent.busy or directory.busy or agent.delivers):
                if not agent.busy:  # agents in the background: what they return is answered
                    await directory.settled()
                    await asyncio.sleep(0)
                elif more := await agent.wait():  # a command had a prompt of its own, or a job ended
                    self._settle(running, more if more.exit_code or not ended.exit_code else ended)
            if self._timed_out and not ended.exit_code:  # its own run was over; agents beside it were not
                self._settle(running, msgspec.structs.replace(ended, exit_code=124, stop_reason="timeout"))
            await self._end_jobs(running)
        finally:
            if timer is not None:
                timer.cancel()
            running.session.flush()
            reading.end()

    def _time_out(self, running: NativeSession) -> None:
        self._timed_out = True
        running.agent.stop("timeout")
        running.worker.team.directory.stop_all()

    async def _end_jobs(self, running: NativeSession) -> None:
        jobs = running.agent.workplace.jobs
        left = [job for job in jobs.snapshots() if job.status == "running"] if jobs is not None else []
        for job in left:
            text = f"job {job.id} ({clean_line(job.label)}) was still running and was ended with the run"
            running.agent.actor.publish(Notice(text, "warning", "ask the agent to wait for it"))
        if jobs is not None:
            await jobs.shutdown()

    def _settle(self, running: NativeSession, ended: RunOutcome) -> None:
        """Set the outcome. A run of which something could not be stored has failed, whatever it did."""
        self._outcome = ProviderOutcome(
            exit_code=ended.exit_code or int(running.session.lost_some),
            session=running.session.id,
            text=ended.text,
            stderr=ended.error,
            timed_out=ended.exit_code == 124,
            cancelled=ended.exit_code == 130,
            error=Error(clean_text(ended.error)) if ended.error else None,
        )


def native_run(ask: ProviderPrompt) -> NativeRun:
    """One prompt for our own agent, requested as of any provider. `auto`: the level of the settings."""
    level = "" if ask.approval == "auto" else ask.approval
    options = StartOptions(cwd=ask.cwd or ".", resume=ask.resume, model=ask.model, approval=level)
    return NativeRun(Store(data_folder()), agent_spec(options), ask.prompt, timeout=ask.timeout)
