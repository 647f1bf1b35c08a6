"""The session host: numbers every event, keeps it, folds it, fans it out, and takes commands.

Rules:

- An event is in the journal before any view is sent it; so what a view has received is safe.
- Events of one turn of the loop are kept with one write and sent as one batch.
- No view can slow the session: each has a bounded queue of its own.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from sightline.events import Error, Event, ToolOutput, ToolResult, ToolUse, stamp
from sightline.exec import Command as RunningCommand
from sightline.exec import CommandSpec, PassOn
from sightline.host._commands import Cancel, Command, Reply, Start, Stop
from sightline.host._subscription import Subscription
from sightline.journal import JobIndex, JobRecord, JournalWriter, job_began, job_ended
from sightline.transcript import Snapshot, Transcript

MOST_JOBS = 100  # running at once in one session

# What a view that lost its connection can be told event by event; past this it gets a snapshot.
_RECENT_EVENTS = 4000
_RECENT_CHARACTERS = 1024 * 1024


class Session:
    """One running session. Made inside an event loop and used only there."""

    def __init__(self, writer: JournalWriter, index: JobIndex, *, clock: Callable[[], float] = time.time) -> None:
        self.id = writer.folder.name
        self._writer = writer
        self._index = index
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._transcript = Transcript()
        self._seq = 0
        self._pending: list[Event] = []
        self._recent: deque[Event] = deque()
        self._recent_characters = 0
        self._subscriptions: set[Subscription] = set()
        self._commands: dict[str, RunningCommand] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._records: dict[str, JobRecord] = {}
        self._started = 0
        self._complaining = False
        self._stopping: asyncio.Task[None] | None = None
        self.on_idle: Callable[[], None] = lambda: None  # no job and no view is left
        self.on_stopped: Callable[[], None] = lambda: None

    @property
    def idle(self) -> bool:
        return not self._tasks and not self._subscriptions

    @property
    def running(self) -> int:
        return len(self._commands)

    def publish(self, event: Event) -> None:
        """Give it its number and time; it is kept and sent at the end of this turn of the loop."""
        self._seq += 1
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(stamp(event, self._seq, self._clock()))

    def snapshot(self) -> Snapshot:
        return self._transcript.snapshot()

    def subscribe(self, after: int | None = None) -> Subscription:
        """Everything after event `after`; None: a snapshot of now, and everything after that."""
        subscription = Subscription(self.snapshot, self._missed(after), self._left)
        self._subscriptions.add(subscription)
        return subscription

    async def submit(self, command: Command) -> Reply:
        """Answers when the command is accepted, which is before it is done."""
        match command:
            case Start():
                return self.start(command.spec)
            case Cancel():
                return self._cancel(command)
            case Stop():
                self._stop_soon()
                return Reply(True)

    def start(self, spec: CommandSpec, pass_on: PassOn | None = None) -> Reply:
        if self._stopping is not None:
            return Reply(False, error=f"session {self.id} is being stopped", hint="start the command in another")
        if len(self._commands) >= MOST_JOBS:
            hint = f"wait for one to end, or cancel one: see `sightline jobs --session {self.id}`"
            return Reply(False, error=f"{MOST_JOBS} jobs are running in session {self.id}", hint=hint)
        self._started += 1
        job = f"{self.id}-{self._started}"
        artifact = self._writer.artifact(job)
        url = f"artifact://{self.id}/{job}"
        command = RunningCommand(job, spec, artifact, self.publish, artifact=url, pass_on=pass_on)
        self._commands[job] = command
        task = self._loop.create_task(self._run(job, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._tell_if_idle())
        return Reply(True, job)

    async def stop(self) -> None:
        """Cancel what runs, see it ended, say goodbye to every view. The journal is complete afterwards."""
        self._stop_soon()
        assert self._stopping is not None
        await asyncio.shield(self._stopping)

    async def wait(self) -> None:
        """Until no job is running."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _run(self, job: str, command: RunningCommand) -> None:
        try:
            await command.run()
        finally:
            self._flush()
            self._commands.pop(job, None)
            self._writer.forget_artifact(job)
        try:
            await self._loop.run_in_executor(None, self._writer.sync)
        except OSError:  # kept as well as the disk allows
            pass

    def _cancel(self, command: Cancel) -> Reply:
        running = self._commands.get(command.id)
        if running is None:
            known = command.id in self._records
            return Reply(False, command.id, "it has already ended" if known else f"no job {command.id}")
        running.cancel(force=command.force)
        return Reply(True, command.id)

    def _stop_soon(self) -> None:
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._stop())

    async def _stop(self) -> None:
        for command in list(self._commands.values()):
            command.cancel()
        await self.wait()
        self._flush()
        for subscription in list(self._subscriptions):
            subscription.end()
        self.on_stopped()

    def _flush(self) -> None:
        events, self._pending = self._pending, []
        if not events:
            return
        kept = self._writer.append(events)
        if kept == self._complaining:
            self._complain(kept, events[0].seq)
        for event in events:
            self._transcript.apply(event)
            self._note(event)
        self._recent.extend(events)
        self._forget_old()
        for subscription in list(self._subscriptions):
            subscription.offer(events)

    def _complain(self, kept: bool, seq: int) -> None:
        """Said once when keeping begins to fail; that it works again is in the journal itself."""
        self._complaining = not kept
        if not kept:
            what = f"events from {seq} on are shown but not kept: {self._writer.problem}"
            self.publish(Error(what, "make room on the disk; the commands go on"))

    def _note(self, event: Event) -> None:
        """What lists of jobs, and the memory of what was said lately, have to know of it."""
        kind = type(event)
        if kind is ToolOutput:
            self._recent_characters += len(event.content)
        elif isinstance(event, ToolUse) and event.id in self._commands:
            self._records[event.id] = job_began(event)
            self._index.add(self._records[event.id])
        elif isinstance(event, ToolResult) and event.id in self._records:
            self._records[event.id] = job_ended(self._records[event.id], event)
            self._index.add(self._records[event.id])

    def _forget_old(self) -> None:
        recent = self._recent
        while len(recent) > _RECENT_EVENTS or self._recent_characters > _RECENT_CHARACTERS:
            old = recent.popleft()
            if type(old) is ToolOutput:
                self._recent_characters -= len(old.content)

    def _missed(self, after: int | None) -> list[Event] | None:
        """What a view that knows events up to `after` has not seen; None when it needs a snapshot."""
        known = self._transcript.now.seq
        if after is None or after > known or after < 0:
            return None
        first_kept = self._recent[0].seq if self._recent else known + 1
        if after + 1 < first_kept:
            return None
        return [event for event in self._recent if event.seq > after]

    def _left(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)
        self._tell_if_idle()

    def _tell_if_idle(self) -> None:
        if self.idle:
            self.on_idle()
