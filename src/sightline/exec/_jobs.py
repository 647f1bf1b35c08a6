"""Jobs: work that outlives the turn that began it, as the agent's job tool and the host see it.

Rules:

- A job is `running` until its work returns (`completed`), raises (`failed`) or it is cancelled. Cancelling changes the
  status at once and for good; what the work still returns afterwards is stored, but is no second ending.
- A wait is over when the first of the running jobs it watches ends, or after its time. It never ends a job, however it
  ends itself.
- The end of a job is reported once: to those who watch it while it ends or acknowledge it, else through `deliver`,
  which is retried with growing pauses until it succeeds. A wait that is cancelled has reported nothing. A cancelled job
  is not delivered: its canceller knows.
- An ended job is stored for a while and then forgotten with everything known about it.
- How many may run at once is limited. One that was cancelled no longer counts, even while its work is winding up.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from sightline.exceptions import UserMistake

JobKind: TypeAlias = Literal["bash", "task"]
JobStatus: TypeAlias = Literal["running", "completed", "failed", "cancelled"]
CancelOutcome: TypeAlias = Literal["cancelled", "not_found", "already_completed"]
Work: TypeAlias = Callable[[], Awaitable[str]]

WAIT_SECONDS = 30.0
RETENTION_SECONDS = 300.0
MAX_RUNNING = 15
_MAX_RUNNING_BOUNDS = (1, 100)
_PROGRESS_SECONDS = 0.5
_RETRY_BASE, _RETRY_CAP, _RETRY_JITTER, _RETRY_DOUBLINGS = 0.5, 30.0, 0.2, 8
_SECONDS_TO_WIND_UP = 10.0  # at a shutdown: a process is killed after five


class JobSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a job at one moment."""

    id: str
    kind: JobKind
    status: JobStatus
    label: str
    duration_ms: int
    result_text: str | None = None
    error_text: str | None = None


class _Job:
    """One job's record; all that is known about it is here, so that forgetting it forgets everything."""

    def __init__(self, id: str, kind: JobKind, label: str, owner: str, started: float) -> None:
        self.id = id
        self.kind = kind
        self.label = label
        self.owner = owner
        self.started = started
        self.status: JobStatus = "running"
        self.ended: float | None = None
        self.result_text: str | None = None
        self.error_text: str | None = None
        self.forget_at = float("inf")
        self.settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.watchers = 0
        self.reported = False  # its end needs no delivery any more
        self.acknowledged = False  # and its reader has read it

    def snapshot(self, now: float) -> JobSnapshot:
        return JobSnapshot(
            id=self.id,
            kind=self.kind,
            status=self.status,
            label=self.label,
            duration_ms=round(((now if self.ended is None else self.ended) - self.started) * 1000),
            result_text=self.result_text,
            error_text=self.error_text,
        )


class Jobs:
    """The jobs of one session. Used from one event loop; `clock` and `sleep` are how it sees time."""

    def __init__(
        self,
        *,
        deliver: Callable[[JobSnapshot], Awaitable[None]] | None = None,
        max_running: int = MAX_RUNNING,
        retention: float = RETENTION_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        lowest, highest = _MAX_RUNNING_BOUNDS
        self._max_running = min(max(max_running, lowest), highest)
        self._retention = retention
        self._deliver = deliver
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._jobs: dict[str, _Job] = {}
        self._work: dict[str, asyncio.Task[str]] = {}  # until it has settled, the job forgotten or not
        self._deliveries: dict[str, asyncio.Task[None]] = {}
        self._count = 0
        self._closed = False
        self.on_change: Callable[[], None] = lambda: None  # one began or ended

    def register(self, kind: JobKind, label: str, start: Work, *, owner: str = "", id: str = "") -> str:
        """Begin work. `start` returns the result text and raises when it failed."""
        self._forget_old()
        self._make_sure_there_is_room()
        self._count += 1
        id = id or f"{kind}-{self._count}"
        if id in self._jobs or id in self._work:
            raise ValueError(f"there is already a job {id}")
        job = self._jobs[id] = _Job(id, kind, label, owner, self._clock())
        task = self._work[id] = asyncio.get_running_loop().create_task(_result(start))
        task.add_done_callback(lambda task: self._on_settled(job, task))
        self.on_change()
        return id

    def get(self, id: str) -> JobSnapshot | None:
        self._forget_old()
        job = self._jobs.get(id)
        return None if job is None else job.snapshot(self._clock())

    def snapshots(self, owner: str | None = None) -> list[JobSnapshot]:
        """Every job there is, oldest first, or those one agent began. Reading them reports nothing."""
        self._forget_old()
        return self._now(job for job in self._jobs.values() if owner is None or job.owner == owner)

    def cancel(self, id: str) -> CancelOutcome:
        """Ask a job's work to stop. Its end is not waited for."""
        self._forget_old()
        job = self._jobs.get(id)
        if job is None:
            return "not_found"
        if job.status != "running":
            return "already_completed"
        self._end(job, "cancelled")
        job.reported = True
        self._work[id].cancel()
        return "cancelled"

    def acknowledge(self, ids: Iterable[str]) -> None:
        """The ends of these were read: no delivery, also none that is queued."""
        for id in ids:
            job = self._jobs.get(id)
            if job is not None and job.status != "running":
                job.reported = job.acknowledged = True

    def acknowledged(self, id: str) -> bool:
        """Whether the end of a job was acknowledged: a delivery that still waits to be read can be dropped."""
        job = self._jobs.get(id)
        return job is not None and job.acknowledged

    @property
    def full(self) -> bool:
        """Whether as many are running as may."""
        return sum(job.status == "running" for job in self._jobs.values()) >= self._max_running

    @property
    def delivers(self) -> bool:
        """Whether the end of a job is being delivered."""
        return bool(self._deliveries)

    async def wait(
        self,
        ids: Iterable[str] | None = None,
        seconds: float = WAIT_SECONDS,
        *,
        owner: str | None = None,
        progress: Callable[[list[JobSnapshot]], None] | None = None,
    ) -> list[JobSnapshot]:
        """The watched jobs once one that was running has ended, or after `seconds`. None: all that run (of `owner`).

        Unknown ids are passed over. What has ended among what is returned counts as reported. `progress` gets the same
        jobs at once and then twice a second.
        """
        self._forget_old()
        watched = self._to_watch(ids, owner)
        for job in watched:
            job.watchers += 1
        try:
            await self._first_end(watched, seconds, progress)
            self._forget_old()
            self.acknowledge(job.id for job in watched)
            return self._now(self._remembered(watched))
        finally:
            for job in watched:
                job.watchers -= 1
                self._deliver_if_unreported(job)

    async def shutdown(self) -> None:
        """Cancel everything, deliver nothing more, and see the work wound up, within reason."""
        self._closed = True
        for job in list(self._jobs.values()):
            self.cancel(job.id)
        for delivery in self._deliveries.values():
            delivery.cancel()
        tasks = [*self._work.values(), *self._deliveries.values()]
        if tasks:
            enough = asyncio.ensure_future(self._sleep(_SECONDS_TO_WIND_UP))
            wound_up: asyncio.Future[Any] = asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.wait([wound_up, enough], return_when="FIRST_COMPLETED")
            enough.cancel()

    def _make_sure_there_is_room(self) -> None:
        if self._closed:
            raise RuntimeError("the session is ending")
        if self.full:
            raise UserMistake(
                f"{self._max_running} background jobs are running, which is the maximum",
                "wait for one of them to end, or cancel one",
            )

    def _to_watch(self, ids: Iterable[str] | None, owner: str | None) -> list[_Job]:
        if ids is not None:
            return [self._jobs[id] for id in dict.fromkeys(ids) if id in self._jobs]
        running = [job for job in self._jobs.values() if job.status == "running"]
        return [job for job in running if owner is None or job.owner == owner]

    async def _first_end(
        self, watched: list[_Job], seconds: float, progress: Callable[[list[JobSnapshot]], None] | None
    ) -> None:
        ends = [job.settled for job in watched if job.status == "running"]
        if not ends:
            return
        others = [asyncio.ensure_future(self._sleep(seconds))]
        if progress is not None:
            progress(self._now(watched))
            others.append(asyncio.ensure_future(self._report(watched, progress)))
        try:
            await asyncio.wait([*ends, *others], return_when="FIRST_COMPLETED")
        finally:
            for other in others:
                other.cancel()
        for other in others:
            if other.done():
                other.result()

    async def _report(self, watched: list[_Job], progress: Callable[[list[JobSnapshot]], None]) -> None:
        while True:
            await self._sleep(_PROGRESS_SECONDS)
            progress(self._now(self._remembered(watched)))

    def _on_settled(self, job: _Job, task: "asyncio.Task[str]") -> None:
        del self._work[job.id]
        status: JobStatus
        if task.cancelled():
            status = "cancelled"
        elif (error := task.exception()) is not None:
            status, job.error_text = "failed", str(error) or type(error).__name__
        else:
            status, job.result_text = "completed", task.result()
        self._end(job, status)
        self._deliver_if_unreported(job)

    def _end(self, job: _Job, status: JobStatus) -> None:
        """The first ending stands; each restarts the retention."""
        now = self._clock()
        job.forget_at = now + self._retention
        if job.status == "running":
            job.status = status
            job.ended = now
            job.settled.set_result(None)
            self.on_change()

    def _deliver_if_unreported(self, job: _Job) -> None:
        if self._deliver is None or self._closed or job.id in self._deliveries:
            return
        if job.status != "running" and not job.reported and not job.watchers:
            self._deliveries[job.id] = asyncio.get_running_loop().create_task(
                self._deliver_until_taken(job, self._deliver)
            )

    async def _deliver_until_taken(self, job: _Job, deliver: Callable[[JobSnapshot], Awaitable[None]]) -> None:
        """Until it succeeds, or a watcher takes over: its wait restarts this if it reported nothing."""
        failures = 0
        try:
            while not job.reported and not job.watchers:
                try:
                    await deliver(job.snapshot(self._clock()))
                    job.reported = True
                except Exception:
                    await self._sleep(self._pause(failures))
                    failures += 1
        finally:
            del self._deliveries[job.id]

    def _pause(self, failures: int) -> float:
        doubled = _RETRY_BASE * 2.0 ** min(failures, _RETRY_DOUBLINGS)
        return min(doubled, _RETRY_CAP) + self._chance() * _RETRY_JITTER

    def _now(self, jobs: Iterable[_Job]) -> list[JobSnapshot]:
        now = self._clock()
        return [job.snapshot(now) for job in jobs]

    def _remembered(self, jobs: Iterable[_Job]) -> list[_Job]:
        return [job for job in jobs if self._jobs.get(job.id) is job]

    def _forget_old(self) -> None:
        now = self._clock()
        for id in [job.id for job in self._jobs.values() if job.forget_at <= now]:
            del self._jobs[id]


async def _result(start: Work) -> str:
    return await start()
