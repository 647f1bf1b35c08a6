"""A running session: numbers, stores, folds and sends every event, and takes commands.

Rules:

- An event is in the journal before any view is sent it; so what a view has received is safe.
- Events of one turn of the event loop are stored with one write and sent as one batch.
- No view can slow the session: each has a bounded queue of its own.
"""

import asyncio
import time
from collections.abc import Callable, Container, Coroutine
from typing import TYPE_CHECKING, Protocol, TypeVar

from sightline.events import Error, Event, Request, RequestResolved, ToolOutput, ToolResult, ToolUse, encode_event
from sightline.events.stamping import in_place_of, stamp
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.exec import Command as RunningCommand
from sightline.exec import CommandSpec, Jobs, PassOn
from sightline.host.session._call_command import CallCommand
from sightline.host.session._commands import AgentCommand, CancelJob, Command, CommandReply, Start, Stop
from sightline.host.session._subscription import Recent, Subscription
from sightline.journal import (
    Artifact,
    ArtifactReader,
    Entry,
    EntryPlace,
    JobIndex,
    JobRecord,
    JournalWriter,
    SessionReader,
    job_began,
    job_ended,
    session_of,
    stored_calls,
)
from sightline.transcript import LeftOpen, Snapshot, Transcript, TranscriptCall

if TYPE_CHECKING:
    from sightline.actors import Actor
    from sightline.secrets import Secrets

T = TypeVar("T")

MOST_JOBS = 100  # running at once in one session


class Worker(Protocol):
    """The agent of a session, as the session sees it."""

    @property
    def busy(self) -> bool: ...

    async def submit(self, command: AgentCommand) -> CommandReply: ...

    async def stop(self) -> None:
        """End what it does and see it ended."""


class HostSession:
    """One running session. Made inside an event loop and used only there."""

    def __init__(
        self, writer: JournalWriter, index: JobIndex, *, last_seq: int = 0, clock: Callable[[], float] = time.time
    ) -> None:
        """`last_seq`: the number of the last event of a session that is resumed."""
        self.id = writer.folder.name
        self.folder = writer.folder
        self.worker: Worker | None = None
        self._writer = writer
        self._notes = Notes(index)
        self._index = index
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        # What was stored before is folded when a view needs it: a long session is resumed at once.
        self._transcript = Transcript() if not last_seq else None
        self._seq = self._stored_seq = last_seq
        self._pending: list[Event] = []
        self._recent = Recent()
        self._subscriptions: set[Subscription] = set()
        self._commands: dict[str, RunningCommand | CallCommand] = {}
        self._of_calls: dict[str, CallCommand] = {}
        self._tasks: set[asyncio.Task[object]] = set()
        self.jobs = Jobs(max_running=MOST_JOBS)
        # No call of before has a higher number than the events there were.
        self._started = self._first = last_seq
        self._block = self._request = 0
        self.agents: dict[str, int] = {}  # how many subagents of each path there have been
        self._last_job = 0 if not last_seq else None  # None: earlier jobs have not been counted yet
        self.shown_notices: set[str] = set()  # about the sandbox: shown once, not with each command
        self._storing_fails = False
        self.expects_user = False  # a user answers sooner or later, whether one is there now or not
        self.lost_some = False  # some event could not be stored
        self._stopping: asyncio.Task[None] | None = None
        self.on_idle: Callable[[], None] = lambda: None  # no job and no view is left
        self.on_attended: Callable[[], None] = lambda: None  # a user came who can answer
        self.on_left_alone: Callable[[], None] = lambda: None  # the last user who could answer has left
        self.on_stopped: Callable[[], None] = lambda: None
        self.on_published: Callable[[Event], object] | None = None  # called with each event, before it is sent

    @property
    def idle(self) -> bool:
        """Whether nothing runs, no view is attached and no request is open."""
        busy = self.worker is not None and self.worker.busy
        return not (self._tasks or self._subscriptions or self._notes.requests or busy)

    @property
    def stopping(self) -> bool:
        return self._stopping is not None

    @property
    def has_answers(self) -> bool:
        """Whether a user answers requests, now or later."""
        return self.expects_user or self.is_attended

    @property
    def is_attended(self) -> bool:
        """Whether a user is there now who can answer."""
        return any(subscription.attends for subscription in self._subscriptions)

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return self._seq

    @property
    def stored_seq(self) -> int:
        """The number of the last event that was stored and sent."""
        return self._stored_seq

    @property
    def waiting(self) -> int:
        """The number of open requests."""
        return len(self._notes.requests)

    @property
    def calls_made(self) -> bool:
        """Whether anything was run since it began, or was resumed."""
        return self._started > self._first

    @property
    def running(self) -> int:
        return len(self._commands)

    def actor(self, source: str, secrets: "Secrets | None" = None, path: str = "") -> "Actor":
        """The one way to publish in this session: as `source`, for the agent at `path`."""
        from sightline.actors import Actor
        from sightline.secrets import Secrets

        return Actor(self, source, secrets or Secrets({}), path)

    def append(self, event: Event) -> None:
        """For actors: give it its number and time; it is stored and sent at the end of this turn of the loop."""
        self._seq += 1
        if not self._pending:
            self._loop.call_soon(self.flush)
        self._pending.append(stamp(event, self._seq, self._clock()))
        if self.on_published is not None:
            self.on_published(event)

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        """Keep an entry of the tree, after the events that were published before it. None: the disk is full."""
        self.flush(entry)
        return self._writer.place_of(entry.id)

    def snapshot(self) -> Snapshot:
        if self._transcript is None:
            self._transcript = _folded(SessionReader(self._writer.folder), 0)[0]
        return self._transcript.snapshot()

    async def fold_stored(self) -> None:
        """Have what was kept before folded when the first view asks for it. That is not done in the loop."""
        while self._transcript is None:
            self.flush()
            found, left = await asyncio.to_thread(_folded, SessionReader(self._writer.folder), self._first)
            missed = self._recent.after(found.now.seq, self._stored_seq)
            if self._transcript is None and missed is not None:
                for event in missed:
                    found.apply(event)
                self._transcript = found
                for event in left.ends(stored_calls(self.folder, self._index)):  # of an earlier host: its actor is gone
                    self.append(event)

    def subscribe(
        self, after: int | None = None, snapshot: Callable[[], Snapshot] | None = None, *, attends: bool = False
    ) -> Subscription:
        """Everything after event `after`; None: a snapshot of now, and everything after that. `snapshot`: sent in its
        place, for a view that reads the journal instead. `attends`: a user is there who can answer."""
        missed = None if after is None else self._recent.after(after, self._stored_seq)
        subscription = Subscription(snapshot or self.snapshot, missed, self._left, attends=attends)
        self._subscriptions.add(subscription)
        if attends:
            self.on_attended()
        return subscription

    async def submit(self, command: Command) -> CommandReply:
        """Answers when the command is accepted, which is before it is done."""
        match command:
            case Start():
                return self.start(command.spec)
            case CancelJob():
                return self._cancel(command)
            case Stop() if command.unless_watched and sum(each.attends for each in self._subscriptions) > 1:
                watched = {"watched": True}
                return CommandReply(
                    False, error="another viewer is in this session", hint="it keeps running", data=watched
                )
            case Stop():
                self._stop_soon()
                return CommandReply(True)
            case _ if self.worker is not None:
                return await self.worker.submit(command)
            case _:
                return CommandReply(
                    False, error=f"session {self.id} has no agent", hint="start one with `sightline -p`"
                )

    def start(self, spec: CommandSpec, pass_on: PassOn | None = None) -> CommandReply:
        if self._stopping is not None:
            return CommandReply(
                False, error=f"session {self.id} is being stopped", hint="start the command in another session"
            )
        job = self._new_job()
        label = " ".join(spec.argv)
        try:
            self.jobs.register("bash", label, lambda: self._job_text(task), id=job)
        except UserMistake as mistake:
            self._last_job = (self._last_job or 1) - 1
            hint = f"{mistake.hint}: see `sightline jobs --session {self.id}`"
            return CommandReply(False, error=mistake.message, hint=hint)
        self._started += 1
        artifact, url = self._writer.artifact(job), f"artifact://{self.id}/{job}"
        command = RunningCommand(job, spec, artifact, self.actor("exec").relay, artifact=url, pass_on=pass_on)
        self._commands[job] = command
        task = self._track(self._loop.create_task(self._run(job, command)))
        return CommandReply(True, job)

    def track(self, work: Coroutine[object, object, None]) -> None:
        """Run this in the background: until it is done the session is neither idle nor over."""
        self._track(self._loop.create_task(work))

    def _track(self, task: "asyncio.Task[T]") -> "asyncio.Task[T]":
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self.report_if_idle())
        return task

    def new_call(self) -> str:
        """An id for a call of the agent's."""
        self._started += 1
        return f"{self.id}-c{self._started}"

    def new_block(self) -> int:
        """A number no other text block has, though nothing of the one before may have been published yet."""
        self._block = max(self._seq, self._block) + 1
        return self._block

    def new_request(self) -> str:
        self._request = max(self._seq, self._request) + 1
        return f"request-{self._request}"

    def new_agent(self, path: str) -> str:
        self.agents[path] = self.agents.get(path, 0) + 1
        return f"{path}-{self.agents[path]}"

    def start_command(self, actor: "Actor", call: str, spec: CommandSpec) -> CallCommand:
        """Run a command for a call of an actor."""
        command = self._of_calls[call] = CallCommand(self, actor, call, spec)
        self._track(command.task)
        return command

    def call_ended(self, call: str) -> None:
        """End a command that the call left running, unless it is a job."""
        command = self._of_calls.get(call)
        if command is not None:
            command.call_ended()

    def artifact_for(self, call: str) -> Artifact:
        return self._writer.artifact(call, self._clock)

    def read_artifact(self, call: str) -> ArtifactReader:
        return self._writer.read_artifact(call)

    def hurry(self) -> None:
        """End what is being ended without waiting any longer for it to end by itself."""
        for command in [*self._commands.values(), *self._of_calls.values()]:
            command.cancel(force=True)

    def forget_artifact(self, call: str) -> None:
        self._writer.forget_artifact(call)

    def adopt(self, call: str, command: CallCommand) -> str:
        """The command of a call continues as a job; returns the job's id."""
        job = self._new_job()
        self._started += 1
        self._writer.share_artifact(call, job)
        self._commands[job] = command
        return job

    def command_ended(self, call: str, job: str) -> None:
        self.flush()
        self._of_calls.pop(call, None)
        self._commands.pop(job, None)
        for name in (call, job):
            self._writer.forget_artifact(name)

    async def sync(self) -> None:
        """Have it on the disk, as well as the disk allows."""
        self.flush()
        try:
            await self._loop.run_in_executor(None, self._writer.sync)
        except OSError:
            pass

    async def stop(self) -> None:
        """Cancel what runs, wait for its end, and end every subscription. The journal is complete afterwards."""
        self._stop_soon()
        assert self._stopping is not None
        await asyncio.shield(self._stopping)

    async def wait(self) -> None:
        """Until no job is running."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _run(self, job: str, command: RunningCommand) -> ToolResult:
        try:
            result = await command.run()
        finally:
            self.flush()
            self._commands.pop(job, None)
            self._writer.forget_artifact(job)
        await self.sync()
        return result

    async def _job_text(self, task: "asyncio.Task[ToolResult]") -> str:
        """The result of a job as text. Cancelling the wait does not end the job."""
        result = await asyncio.shield(task)
        text = result.content or f"exit code {result.exit_code}"
        if result.is_error:
            raise OutsideFailure(text)
        return text

    def _cancel(self, command: CancelJob) -> CommandReply:
        running = self._commands.get(command.id)
        if running is None:
            known = self._notes.knows(command.id)
            return CommandReply(False, command.id, "it has already ended" if known else f"no job {command.id}")
        self.jobs.cancel(command.id)
        running.cancel(force=command.force)
        return CommandReply(True, command.id)

    def _stop_soon(self) -> None:
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._stop())

    async def _stop(self) -> None:
        if self.worker is not None:
            await self.worker.stop()
        for command in [*self._commands.values(), *self._of_calls.values()]:
            command.cancel()
        await self.wait()
        await self.jobs.shutdown()
        self.flush()
        for subscription in list(self._subscriptions):
            subscription.end()
        self.on_stopped()

    def _new_job(self) -> str:
        """The id of the next one: they are counted from 1, across resumes."""
        if self._last_job is None:
            mine = (job for job in self._index.jobs() if session_of(job) == self.id)
            self._last_job = max((int(job.rpartition("-")[2]) for job in mine), default=0)
        self._last_job += 1
        return f"{self.id}-{self._last_job}"

    def flush(self, entry: Entry | None = None) -> None:
        """Store and send what was published, now; `entry` is stored after it."""
        events, self._pending = self._pending, []
        if not events and entry is None:
            return
        try:
            stored = self._writer.append(events if entry is None else [*events, entry])
        except Exception:
            self._pending = [sound(event) for event in events]
            if entry is None and self._pending == events:
                raise
            self.flush()
            if entry is not None:
                raise  # the caller has to know that it is not stored
            return
        if not events:
            return
        if stored == self._storing_fails:
            self._report_storing(stored, events[0].seq)
        self._stored_seq = events[-1].seq
        for event in events:
            if self._transcript is not None:
                self._transcript.apply(event)
            if type(event) is not ToolOutput and self._notes.take(event, self._commands):
                self._loop.call_soon(self.report_if_idle)
        self._recent.add(events)
        for subscription in list(self._subscriptions):
            subscription.offer(events)

    def _report_storing(self, stored: bool, seq: int) -> None:
        """Published the first time storing fails: where room is short, short events fit and long ones do not. What was
        missed, and that it works again, is in the journal itself."""
        self._storing_fails = not stored
        if not stored and not self.lost_some:
            self.lost_some = True
            what = f"events from {seq} on are shown but not stored: {self._writer.problem}"
            self.append(Error(what, "free some disk space; the commands keep running"))

    def _left(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)
        if subscription.attends and not self.is_attended:
            self.on_left_alone()
        self.report_if_idle()

    def report_if_idle(self) -> None:
        if self.idle:
            self.on_idle()


def _folded(reader: SessionReader, last: int) -> tuple[Transcript, LeftOpen]:
    """The fold, and what is open after event `last`: nothing of that is looked for where the fold has nothing open."""
    transcript = Transcript()
    for event in reader.events():
        transcript.apply(event)
    now = transcript.now
    is_open = now.requests or any(agent.running for agent in now.agents.values())
    if last and (is_open or any(isinstance(entry, TranscriptCall) and entry.content is None for entry in now.entries)):
        return transcript, LeftOpen(event for event in reader.events() if event.seq <= last)
    return transcript, LeftOpen()


class Notes:
    """The jobs and open requests of one session. Jobs are recorded in the index, too."""

    def __init__(self, index: JobIndex) -> None:
        self._index = index
        self._records: dict[str, JobRecord] = {}
        self.requests: set[str] = set()  # those that are open

    def knows(self, job: str) -> bool:
        return job in self._records

    def take(self, event: Event, jobs: Container[str]) -> bool:
        """`jobs`: the ids of those that run. True when the last open request was resolved."""
        match event:
            case ToolUse() if event.id in jobs:
                self._record(job_began(event))
            case ToolResult() if event.id in self._records:
                self._record(job_ended(self._records[event.id], event))
            case Request():
                self.requests.add(event.id)
            case RequestResolved():
                self.requests.discard(event.id)
                return not self.requests
        return False

    def _record(self, record: JobRecord) -> None:
        self._records[record.id] = record
        self._index.add(record)


def sound(event: Event) -> Event:
    """The event, or an error in its place: what cannot be encoded must not take others with it."""
    try:
        encode_event(event)
    except Exception as error:
        what = f"a {type(event).__name__} could not be published: {type(error).__name__} (this is a bug in sightline)"
        return in_place_of(event, Error(what))
    return event
