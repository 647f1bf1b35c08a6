"""One prompt for our own agent without a console: a run like any provider's, in a session like any other.

Rules:

- Everything that is shown is in the journal first, and a slow reader misses nothing (`SessionEvents`).
- When the run is over, jobs it left running are ended, and that is reported: no user is there to wait for them.
- A limit that is reached is an error of the session's agent; then the run is stopped, as by a cancel, and has failed.
- An answer that does not fit its schema is sent back once, as a prompt of the same session.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from sightline.agent import (
    Agent,
    AgentSpec,
    HeadlessRun,
    RunOutcome,
    agent_spec,
    headless_commands,
    skill_named,
)
from sightline.agent.loop._command_run import named
from sightline.events import Error, Event, Notice, encode_event
from sightline.exceptions import UserMistake
from sightline.host.native._working import NativeSession, working
from sightline.host.session._answer_schema import AnswerSchema
from sightline.host.session._commands import AgentCommand, CommandReply
from sightline.host.session._reading import SessionEvents
from sightline.host.session._run_limits import LimitWatch, RunLimits
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.providers import ProviderOutcome, ProviderPrompt
from sightline.settings import StartOptions
from sightline.text import clean_line, clean_text, cut_graphemes, first_line

_TITLE = 80
_ANSWERED = (0, 3)  # exit codes of a run that came to its end


class NativeRun:
    """Read its events, or them as lines, to the end; then there is an outcome."""

    def __init__(
        self,
        store: Store,
        spec: AgentSpec,
        prompt: str,
        *,
        timeout: float | None = None,
        attended: bool = False,
        listed: bool = True,
        limits: RunLimits | None = None,
        schema: AnswerSchema | None = None,
    ) -> None:
        """`attended`, `listed`: as in `working`."""
        title = cut_graphemes(clean_line(first_line(prompt)), _TITLE)
        self._store = store
        self._spec = replace(spec, options=replace(spec.options, title=title))
        self._prompt = prompt
        self._timeout = timeout
        self._attended = attended
        self._listed = listed
        self._schema = schema
        self._watch = LimitWatch(limits or RunLimits(), self._session_id)
        self._working: NativeSession | None = None
        self._cancelled = self._timed_out = False
        self._outcome: ProviderOutcome | None = None

    @property
    def outcome(self) -> ProviderOutcome:
        if self._outcome is None:
            raise RuntimeError("the run has no outcome before its events were read to the end")
        return self._outcome

    async def submit(self, command: AgentCommand) -> CommandReply:
        """A command of a user while it works."""
        if self._working is None or not self._working.agent.busy:
            return CommandReply(False, error="it is not working")
        return await self._working.worker.submit(command)

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
        async with working(self._store, self._spec, attended=self._attended, listed=self._listed) as running:
            self._working = running
            running.session.on_published = self._see
            running.agent.model_requests.on_request = self._before_turn
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
            ours = headless_commands(HeadlessRun(agent, self._store, running.worker.reviews.run))
            if self._schema is not None and (name := self._command_name()) in {*ours} - {*agent.commands}:
                hint = "leave out the schema; --output-format events has what happens as data"
                raise UserMistake(f"/{name} has no answer that could fit a schema", hint)
            agent.commands = {**ours, **agent.commands}
            await agent.prompt(self._prompt_of(agent))
            if self._cancelled:
                agent.stop()
            if self._timeout is not None:
                timer = asyncio.get_running_loop().call_later(self._timeout, self._time_out, running)
            ended = await self._all_done(running)
            if self._schema is not None and (found := self._misfits(self._schema, ended)):
                await agent.prompt(self._schema.repair(found), origin="schema")
                ended = await self._all_done(running)
                if found := self._misfits(self._schema, ended):
                    failure = self._schema.failure(found)
                    agent.actor.publish(failure)
                    self._settle(running, replace(ended, exit_code=1, stop_reason="error", error=failure.text))
            await self._end_jobs(running)
        finally:
            if timer is not None:
                timer.cancel()
            running.session.flush()
            reading.end()

    def _prompt_of(self, agent: Agent) -> str:
        """With what the answer has to be. The words after a command's name are the command's: it is beside them."""
        if self._schema is None:
            return self._prompt
        if agent.file_commands is None or agent.file_commands.named(self._prompt) is None:
            return self._schema.prompt_with(self._prompt)
        agent.add_unshown_message(self._schema.request, "schema")
        return self._prompt

    async def _all_done(self, running: NativeSession) -> RunOutcome:
        """The agent's run and those it begins by itself, and all its agents, to their ends."""
        agent, directory = running.agent, running.worker.team.directory
        first = await agent.wait()
        assert first is not None
        ended = first
        self._settle(running, ended)
        while not self._is_stopped and (agent.busy or directory.busy or agent.delivers):
            if not agent.busy:  # agents in the background: what they return is answered
                await directory.settled()
                await asyncio.sleep(0)
            elif more := await agent.wait():  # a command had a prompt of its own, or a job ended
                ended = more if more.exit_code or not first.exit_code else first
                self._settle(running, ended)
        if self._timed_out and not ended.exit_code:  # its own run was over; agents beside it were not
            ended = replace(ended, exit_code=124, stop_reason="timeout")
        if self._watch.reached is not None:
            ended = replace(ended, exit_code=1, stop_reason="limit", error=self._watch.reached.text)
        self._settle(running, ended)
        return ended

    def _command_name(self) -> str:
        """Of the prompt; empty where the model answers it."""
        return "" if skill_named(self._prompt)[0] else named(self._prompt)[0]

    def _session_id(self) -> str:
        return "" if self._working is None else self._working.session.id

    @property
    def _is_stopped(self) -> bool:
        return self._cancelled or self._timed_out or self._watch.reached is not None

    def _misfits(self, schema: AnswerSchema, ended: RunOutcome) -> list[str]:
        """What is wrong with the answer of a run that came to its end."""
        return schema.problems() if ended.exit_code in _ANSWERED and not self._is_stopped else []

    def _see(self, event: Event) -> None:
        if self._schema is not None:
            self._schema.see(event)
        if not self._is_stopped:
            self._stop_at(self._watch.see(event))

    def _before_turn(self) -> None:
        if not self._is_stopped:
            self._stop_at(self._watch.before_turn())

    def _stop_at(self, limit: Error | None) -> None:
        """Nothing more is asked of a model, from here on."""
        if limit is not None and self._working is not None:
            self._working.agent.actor.publish(limit)
            self._working.agent.stop("limit")
            self._working.worker.team.directory.stop_all()

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
