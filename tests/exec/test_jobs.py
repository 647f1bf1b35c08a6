"""Jobs: every rule about how they begin, end, are waited for, cancelled, told and forgotten. Time is played."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from sightline.exceptions import UserMistake
from sightline.exec import Jobs, JobSnapshot


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asked: list[float] = []
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, future))
        await future

    async def advance(self, seconds: float) -> None:
        """To the end, stopping wherever somebody wakes."""
        until = self.now + seconds
        await settle()
        while due := [entry for entry in self._sleepers if entry[0] <= until and not entry[1].done()]:
            self.now, future = min(due, key=lambda entry: entry[0])
            future.set_result(None)
            await settle()
        self.now = until


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Work:
    """Work that ends when told, one way or the other."""

    def __init__(self, *, last_words: str | Exception | None = None) -> None:
        self.end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.cancelled = False
        self._last_words = last_words

    async def __call__(self) -> str:
        try:
            return await asyncio.shield(self.end)
        except asyncio.CancelledError:
            self.cancelled = True
            if isinstance(self._last_words, Exception):
                raise self._last_words from None
            if self._last_words is None:
                raise
            return self._last_words


class Ear:
    """Hears deliveries; the first `deaf` of them fail."""

    def __init__(self, deaf: int = 0) -> None:
        self.heard: list[JobSnapshot] = []
        self.tries = 0
        self._deaf = deaf

    async def __call__(self, job: JobSnapshot) -> None:
        self.tries += 1
        if self.tries <= self._deaf:
            raise ConnectionError("nobody there")
        self.heard.append(job)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def jobs(clock: Clock, ear: Ear) -> Jobs:
    return made(clock, ear)


def made(clock: Clock, ear: Callable[[JobSnapshot], Awaitable[None]] | None = None, **settings) -> Jobs:
    return Jobs(deliver=ear, clock=lambda: clock.now, sleep=clock.sleep, **settings)


def begin(jobs: Jobs, **more) -> tuple[str, Work]:
    work = Work(**{name: more.pop(name) for name in ("last_words",) if name in more})
    return jobs.register("bash", "make test", work, **more), work


def statuses(snapshots: list[JobSnapshot]) -> dict[str, str]:
    return {job.id: job.status for job in snapshots}


async def test_a_job_runs_and_completes_with_what_it_says(jobs, clock):
    """With the time it took, running and afterwards."""
    id, work = begin(jobs)
    await clock.advance(1.5)
    assert jobs.get(id) == JobSnapshot(id=id, kind="bash", status="running", label="make test", duration_ms=1500)
    work.end.set_result("all green")
    await settle()
    await clock.advance(1)
    job = jobs.get(id)
    assert (job.status, job.result_text, job.error_text, job.duration_ms) == ("completed", "all green", None, 1500)


@pytest.mark.parametrize(
    ("error", "text"), [(ValueError("no such target"), "no such target"), (KeyError(), "KeyError")]
)
async def test_failing_work_is_kept_on_the_job_and_not_raised(jobs, error, text):
    """Status failed, and its words."""
    id, work = begin(jobs)
    work.end.set_exception(error)
    (job,) = await jobs.wait([id])
    assert (job.status, job.error_text, job.result_text) == ("failed", text, None)


async def test_work_that_cannot_even_begin_has_failed(jobs):
    """The factory itself raises."""

    def start() -> Awaitable[str]:
        raise OSError("no such folder")

    (job,) = await jobs.wait([jobs.register("task", "x", start)])
    assert (job.status, job.error_text) == ("failed", "no such folder")


async def test_jobs_are_listed_by_the_agent_that_began_them(jobs):
    """Running and ended; all of them without an owner; an empty list is no error."""
    assert jobs.snapshots() == []
    (a, work), (b, _) = begin(jobs, owner="Explore-1"), begin(jobs, owner="Explore-2")
    work.end.set_result("")
    await settle()
    assert statuses(jobs.snapshots("Explore-1")) == {a: "completed"}
    assert statuses(jobs.snapshots()) == {a: "completed", b: "running"}
    assert jobs.snapshots("nobody") == []


async def test_an_id_may_be_given_and_is_used_once(jobs):
    """Otherwise one is made."""
    assert begin(jobs, id="k3m9qz-1")[0] == "k3m9qz-1"
    assert begin(jobs)[0] != begin(jobs)[0]
    with pytest.raises(ValueError, match="k3m9qz-1"):
        begin(jobs, id="k3m9qz-1")


async def test_cancelling_an_unknown_job_is_not_found(jobs):
    """Not an exception."""
    assert jobs.cancel("none") == "not_found"


async def test_cancelling_what_has_ended_is_already_completed(jobs):
    """Whether it completed, failed or was cancelled."""
    (a, done), (b, failed), (c, _) = begin(jobs), begin(jobs), begin(jobs)
    done.end.set_result("")
    failed.end.set_exception(OSError("x"))
    jobs.cancel(c)
    await settle()
    assert [jobs.cancel(id) for id in (a, b, c)] == ["already_completed"] * 3
    assert list(statuses(jobs.snapshots()).values()) == ["completed", "failed", "cancelled"]


async def test_cancelling_changes_the_status_at_once(jobs):
    """Before the work has noticed; it is then asked to stop."""
    id, work = begin(jobs)
    await settle()
    assert jobs.cancel(id) == "cancelled"
    assert (jobs.get(id).status, work.cancelled) == ("cancelled", False)
    await settle()
    assert work.cancelled


@pytest.mark.parametrize(
    ("last_words", "result", "error"),
    [("half of it", "half of it", None), (OSError("torn"), None, "torn"), (None, None, None)],
)
async def test_a_cancelled_job_keeps_its_late_words_and_its_status(jobs, last_words, result, error):
    """However the work settles later."""
    id, _ = begin(jobs, last_words=last_words)
    await settle()
    jobs.cancel(id)
    await settle()
    job = jobs.get(id)
    assert (job.status, job.result_text, job.error_text) == ("cancelled", result, error)


async def test_a_job_cancelled_before_it_began_never_begins(jobs):
    """And is cancelled like any other."""
    id, work = begin(jobs)
    jobs.cancel(id)
    await settle()
    assert (jobs.get(id).status, work.cancelled) == ("cancelled", False)


async def test_a_cancelled_job_is_not_delivered(jobs, ear):
    """Who cancelled it knows."""
    id, _ = begin(jobs, last_words="half of it")
    await settle()
    jobs.cancel(id)
    await settle()
    assert ear.heard == []


async def test_a_wait_is_over_with_the_first_job_that_ends(jobs):
    """The others are reported as running, and go on."""
    (a, _), (b, work) = begin(jobs), begin(jobs)
    wait = asyncio.ensure_future(jobs.wait([a, b]))
    await settle()
    assert not wait.done()
    work.end.set_result("")
    assert statuses(await wait) == {a: "running", b: "completed"}


async def test_a_wait_without_ids_watches_all_that_run(jobs):
    """Not what has ended; of one agent when told whose."""
    (_, ended), (b, work), (c, _) = begin(jobs), begin(jobs, owner="A"), begin(jobs, owner="B")
    ended.end.set_result("")
    await settle()
    all_of_them, own = asyncio.ensure_future(jobs.wait()), asyncio.ensure_future(jobs.wait(owner="B"))
    await settle()
    work.end.set_result("")
    assert statuses(await all_of_them) == {b: "completed", c: "running"}
    assert not own.done()
    jobs.cancel(c)
    assert statuses(await own) == {c: "cancelled"}


async def test_unknown_ids_are_passed_over(jobs):
    """None left means nothing to wait for; twice the same is once."""
    assert await jobs.wait(["none"]) == []
    assert await jobs.wait() == []
    id, work = begin(jobs)
    work.end.set_result("")
    assert statuses(await jobs.wait(["none", id, id])) == {id: "completed"}


async def test_a_wait_for_what_has_ended_returns_at_once(jobs, clock):
    """Without any pause."""
    id, work = begin(jobs)
    work.end.set_result("x")
    await settle()
    assert statuses(await jobs.wait([id])) == {id: "completed"}
    assert clock.asked == []


async def test_what_has_ended_before_does_not_end_a_wait_for_what_runs(jobs):
    """It is reported along with it."""
    (a, ended), (b, work) = begin(jobs), begin(jobs)
    ended.end.set_result("")
    await settle()
    wait = asyncio.ensure_future(jobs.wait([a, b]))
    await settle()
    assert not wait.done()
    work.end.set_result("")
    assert statuses(await wait) == {a: "completed", b: "completed"}


async def test_a_wait_that_runs_out_is_no_error(jobs, clock):
    """30 seconds unless told otherwise; the job goes on."""
    id, _ = begin(jobs)
    for seconds, wait in ((30, jobs.wait([id])), (5, jobs.wait([id], 5))):
        waiting = asyncio.ensure_future(wait)
        await clock.advance(seconds - 0.001)
        assert not waiting.done()
        await clock.advance(0.001)
        assert statuses(await waiting) == {id: "running"}


async def test_cancelling_a_wait_never_cancels_a_job(jobs):
    """It goes on, and its end is still told."""
    id, work = begin(jobs)
    wait = asyncio.ensure_future(jobs.wait([id]))
    await settle()
    wait.cancel()
    await settle()
    assert (wait.cancelled(), work.cancelled, jobs.get(id).status) == (True, False, "running")


async def test_a_job_cancelled_while_it_is_watched_ends_the_wait(jobs):
    """At once, its work still winding up."""
    id, _ = begin(jobs)
    wait = asyncio.ensure_future(jobs.wait([id]))
    await settle()
    jobs.cancel(id)
    assert statuses(await wait) == {id: "cancelled"}


async def test_progress_comes_at_once_and_every_half_second(jobs, clock):
    """Fresh each time, until the wait is over."""
    id, work = begin(jobs)
    seen: list[int] = []
    wait = asyncio.ensure_future(jobs.wait([id], progress=lambda now: seen.append(now[0].duration_ms)))
    await settle()
    assert seen == [0]
    await clock.advance(1.2)
    assert seen == [0, 500, 1000]
    work.end.set_result("")
    await wait
    await clock.advance(5)
    assert seen == [0, 500, 1000]


async def test_the_end_of_a_job_nobody_watches_is_delivered_once(jobs, ear, clock):
    """Completed and failed alike."""
    (a, done), (b, failed) = begin(jobs), begin(jobs)
    done.end.set_result("x")
    failed.end.set_exception(OSError("y"))
    await clock.advance(600)
    assert [(job.id, job.result_text, job.error_text) for job in ear.heard] == [(a, "x", None), (b, None, "y")]


async def test_a_watched_job_is_not_delivered(jobs, ear, clock):
    """Who waits has been told."""
    id, work = begin(jobs)
    wait = asyncio.ensure_future(jobs.wait([id]))
    await settle()
    work.end.set_result("")
    await wait
    await clock.advance(600)
    assert ear.tries == 0


async def test_a_job_that_ends_after_its_wait_ran_out_is_delivered(jobs, ear, clock):
    """Watching is over with the wait."""
    id, work = begin(jobs)
    wait = asyncio.ensure_future(jobs.wait([id], 5))
    await clock.advance(5)
    await wait
    work.end.set_result("")
    await settle()
    assert [job.id for job in ear.heard] == [id]


async def test_what_a_cancelled_wait_saw_end_is_delivered_after_all(jobs, ear):
    """It ended while watched, but the wait never returned: nobody was told."""
    id, work = begin(jobs)
    wait = asyncio.ensure_future(jobs.wait([id]))
    await settle()
    work.end.set_result("x")
    while jobs.get(id).status == "running":  # noqa: ASYNC110, one turn of the loop later would be too late
        await asyncio.sleep(0)
    wait.cancel()
    await settle()
    assert wait.cancelled()
    assert [job.id for job in ear.heard] == [id]


async def test_as_long_as_one_of_two_waits_watches_nothing_is_delivered(jobs, ear, clock):
    """Each counts for itself."""
    id, work = begin(jobs)
    short, long = asyncio.ensure_future(jobs.wait([id], 5)), asyncio.ensure_future(jobs.wait([id], 20))
    await clock.advance(6)
    assert short.done()
    work.end.set_result("")
    assert statuses(await long) == {id: "completed"}
    assert ear.tries == 0


async def test_an_acknowledged_job_is_not_delivered_again(clock):
    """A delivery that is queued after a failure is dropped."""
    ear = Ear(deaf=1)
    jobs = made(clock, ear)
    id, work = begin(jobs)
    work.end.set_result("")
    await settle()
    assert ear.tries == 1
    jobs.acknowledge([id, "none"])
    await clock.advance(100)
    assert (ear.tries, ear.heard) == (1, [])


async def test_a_wait_takes_over_a_delivery_that_is_queued(clock):
    """What it returns is told."""
    ear = Ear(deaf=1)
    jobs = made(clock, ear)
    id, work = begin(jobs)
    work.end.set_result("")
    await settle()
    assert statuses(await jobs.wait([id])) == {id: "completed"}
    await clock.advance(100)
    assert ear.heard == []


async def test_acknowledging_a_running_job_does_not_silence_its_end(jobs, ear):
    """There was nothing to acknowledge yet."""
    id, work = begin(jobs)
    jobs.acknowledge([id])
    work.end.set_result("")
    await settle()
    assert [job.id for job in ear.heard] == [id]


async def test_listing_does_not_silence_a_delivery(clock):
    """A list is read-only."""
    ear = Ear(deaf=1)
    jobs = made(clock, ear)
    id, work = begin(jobs)
    work.end.set_result("")
    await settle()
    assert statuses(jobs.snapshots()) == {id: "completed"}
    await clock.advance(1)
    assert [job.id for job in ear.heard] == [id]


@pytest.mark.parametrize(("chance", "jitter"), [(0.0, 0.0), (0.999, 0.1998)])
async def test_a_delivery_is_repeated_with_growing_pauses(clock, chance, jitter):
    """Half a second, doubling, at most 30 seconds, and less than 200 ms by chance."""
    ear = Ear(deaf=12)
    jobs = made(clock, ear, chance=lambda: chance)
    _, work = begin(jobs)
    work.end.set_result("x")
    await clock.advance(1000)
    expected = [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30]
    assert clock.asked == pytest.approx([seconds + jitter for seconds in expected])
    assert (ear.tries, len(ear.heard)) == (13, 1)


async def test_a_delivery_goes_on_after_the_job_was_forgotten(clock):
    """What nobody heard is not lost."""
    ear = Ear(deaf=20)
    jobs = made(clock, ear)
    id, work = begin(jobs)
    work.end.set_result("x")
    await clock.advance(1000)
    assert jobs.get(id) is None
    assert [job.result_text for job in ear.heard] == ["x"]


async def test_an_ended_job_is_forgotten_after_five_minutes(jobs, clock):
    """From its end on, not from its beginning; afterwards it is as if it had never been."""
    (a, work), (b, _) = begin(jobs), begin(jobs)
    await clock.advance(1000)
    work.end.set_result("")
    await settle()
    await clock.advance(299.9)
    assert a in statuses(jobs.snapshots())
    await clock.advance(0.1)
    assert statuses(jobs.snapshots()) == {b: "running"}
    assert (jobs.get(a), jobs.cancel(a), await jobs.wait([a])) == (None, "not_found", [])


async def test_forgetting_forgets_that_it_was_acknowledged(jobs, ear, clock):
    """A new job of the same name is a new job."""
    id, work = begin(jobs, id="k3m9qz-1")
    wait = asyncio.ensure_future(jobs.wait([id]))
    await settle()
    work.end.set_result("first")
    await wait
    await clock.advance(300)
    _, work = begin(jobs, id="k3m9qz-1")
    work.end.set_result("second")
    await settle()
    assert [job.result_text for job in ear.heard] == ["second"]


async def test_a_job_forgotten_during_a_wait_is_not_in_its_result(jobs, clock):
    """The other one is."""
    (a, ended), (b, _) = begin(jobs), begin(jobs)
    ended.end.set_result("")
    await settle()
    wait = asyncio.ensure_future(jobs.wait([a, b], 600))
    await clock.advance(600)
    assert statuses(await wait) == {b: "running"}


async def test_a_cancelled_job_is_kept_five_minutes_after_its_last_words(jobs, clock):
    """They would else be gone before anybody could read them."""
    release = asyncio.Event()

    async def slow_to_stop() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await release.wait()
        return "late"

    id = jobs.register("bash", "x", slow_to_stop)
    await settle()
    jobs.cancel(id)
    await clock.advance(200)
    release.set()
    await clock.advance(299)
    assert jobs.get(id).result_text == "late"
    await clock.advance(1)
    assert jobs.get(id) is None


async def test_only_so_many_run_at_once(clock):
    """15 unless told otherwise; the error says what to do, and one that ended makes room."""
    jobs = made(clock)
    ids = [begin(jobs)[0] for _ in range(15)]
    with pytest.raises(UserMistake, match="15 background jobs") as caught:
        begin(jobs)
    assert caught.value.hint == "wait for one of them to end, or cancel one"
    jobs.cancel(ids[0])
    begin(jobs)
    await jobs.shutdown()


@pytest.mark.parametrize(("asked", "given"), [(0, 1), (-5, 1), (1, 1), (100, 100), (1000, 100)])
async def test_the_limit_is_between_1_and_100(clock, asked, given):
    """Whatever was asked for."""
    jobs = made(clock, max_running=asked)
    for _ in range(given):
        begin(jobs)
    with pytest.raises(UserMistake):
        begin(jobs)
    await jobs.shutdown()


async def test_a_shutdown_cancels_all_and_delivers_nothing(clock):
    """It returns when the work has wound up; nothing can begin afterwards."""
    ear = Ear(deaf=1000)
    jobs = made(clock, ear)
    (_, done), (b, work) = begin(jobs), begin(jobs, last_words="half of it")
    done.end.set_result("")
    await settle()
    tries = ear.tries
    await jobs.shutdown()
    assert (jobs.get(b).status, jobs.get(b).result_text, work.cancelled) == ("cancelled", "half of it", True)
    await clock.advance(100)
    assert ear.tries == tries
    with pytest.raises(RuntimeError):
        begin(jobs)


async def test_a_shutdown_does_not_wait_for_ever(jobs, clock):
    """Work that does not stop is left behind after ten seconds."""
    stuck = asyncio.Event()

    async def stubborn() -> str:
        while not stuck.is_set():
            try:
                await stuck.wait()
            except asyncio.CancelledError:
                continue
        return ""

    jobs.register("bash", "x", stubborn)
    await settle()
    shutdown = asyncio.ensure_future(jobs.shutdown())
    await clock.advance(9.9)
    assert not shutdown.done()
    await clock.advance(0.1)
    assert shutdown.done()
    stuck.set()
    await settle()
