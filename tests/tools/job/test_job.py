"""job.md: every input form, section, wait, error and note, with jobs that end when the test says so."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sightline.exec import Jobs, JobSnapshot
from sightline.tools import Outcome, ToolContext, ToolError, Workplace, parameters
from sightline.tools.job import JobTool
from tests.tools.support import Shelf, make_settings


class Clock:
    """Time that stands still unless it is set; who sleeps in it does not wake."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.get_running_loop().create_future()


class Place:
    """A workplace with jobs whose ends are given by name."""

    def __init__(self, folder: Path, **sections: dict[str, Any]) -> None:
        self.clock = Clock()
        self.delivered: list[str] = []
        self.jobs = Jobs(deliver=self._deliver, clock=self.clock, sleep=self.clock.sleep)
        self.workplace = Workplace(
            folder, settings=make_settings(**sections), artifacts=Shelf(folder), local=folder, jobs=self.jobs
        )
        self.updates: list[dict[str, Any]] = []
        self._ends: dict[str, asyncio.Future[str]] = {}

    def begin(self, id: str, owner: str = "") -> None:
        end = self._ends[id] = asyncio.get_running_loop().create_future()

        async def work() -> str:
            try:
                return await asyncio.shield(end)
            except asyncio.CancelledError:
                return "what it wrote until then"

        self.jobs.register("bash", f"run {id}", work, owner=owner, id=id)

    async def end(self, id: str, said: str | Exception = "fine") -> None:
        if isinstance(said, Exception):
            self._ends[id].set_exception(said)
        else:
            self._ends[id].set_result(said)
        await self.settled()

    async def settled(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def call(self, **args: Any) -> Outcome:
        context = ToolContext("c", self.workplace, update=self.updates.append)
        tool = JobTool()
        return await tool.execute(parameters(tool, args), context)

    async def _deliver(self, job: JobSnapshot) -> None:
        self.delivered.append(job.id)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    made.clock.sleep = lambda seconds: asyncio.sleep(0)  # type: ignore[method-assign]
    made.jobs._sleep = made.clock.sleep
    await made.jobs.shutdown()


def sections(outcome: Outcome) -> list[str]:
    return [line for line in outcome.text.split("\n") if line.startswith("## ")]


def statuses(outcome: Outcome) -> dict[str, str]:
    return {job["id"]: job["status"] for job in outcome.details["jobs"]}


async def four(place: Place) -> None:
    """`done` and `bad` have ended, `run` and `other` go on."""
    for id in ("done", "bad", "run", "other"):
        place.begin(id)
    await place.end("done", "the result")
    await place.end("bad", ValueError("the error"))
    place.delivered.clear()


@pytest.mark.parametrize(
    ("args", "heads", "jobs", "cancelled"),
    [
        pytest.param(
            {"poll": ["done", "bad"]},
            ["## Completed (2)"],
            {"done": "completed", "bad": "failed"},
            None,
            id="job.md/Flow/7 every watched job has ended",
        ),
        pytest.param(
            {"poll": ["done", "nope", "done"]},
            ["## Completed (1)"],
            {"done": "completed"},
            None,
            id="job.md/Errors/missing ids are dropped",
        ),
        pytest.param({"poll": ["nope", "neither"]}, [], {}, None, id="job.md/Errors/no id is known"),
        pytest.param(
            {"cancel": ["run"]},
            ["## Cancelled (1)", "## Completed (1)"],
            {"run": "cancelled"},
            [("run", "cancelled")],
            id="job.md/Modes / Variants/Cancel only",
        ),
        pytest.param(
            {"cancel": ["run", "done", "bad", "nope"]},
            ["## Cancelled (4)", "## Completed (3)"],
            {"run": "cancelled", "done": "completed", "bad": "failed"},
            [("run", "cancelled"), ("done", "already_completed"), ("bad", "already_completed"), ("nope", "not_found")],
            id="job.md/Inputs/cancel",
        ),
        pytest.param(
            {"cancel": ["nope"]},
            ["## Cancelled (1)"],
            {},
            [("nope", "not_found")],
            id="job.md/Errors/cancel of an unknown id",
        ),
        pytest.param(
            {"cancel": ["run"], "poll": ["done"]},
            ["## Cancelled (1)", "## Completed (2)"],
            {"run": "cancelled", "done": "completed"},
            [("run", "cancelled")],
            id="job.md/Modes / Variants/Cancel then poll",
        ),
        pytest.param(
            {"cancel": ["run"], "poll": ["run"]},
            ["## Cancelled (1)", "## Completed (1)"],
            {"run": "cancelled"},
            [("run", "cancelled")],
            id="job.md/Flow/3 cancelled first, then watched",
        ),
        pytest.param(
            {"cancel": ["run"], "poll": ["nope"]},
            ["## Cancelled (1)", "## Completed (1)"],
            {"run": "cancelled"},
            [("run", "cancelled")],
            id="job.md/Flow/6 nothing to watch but something cancelled",
        ),
        pytest.param(
            {"list": True},
            ["## Completed (2)", "## Still Running (2)"],
            {"done": "completed", "bad": "failed", "run": "running", "other": "running"},
            None,
            id="job.md/Modes / Variants/Read-only inspection",
        ),
        pytest.param(
            {"list": True, "poll": [], "cancel": []},
            ["## Completed (2)", "## Still Running (2)"],
            {"done": "completed", "bad": "failed", "run": "running", "other": "running"},
            None,
            id="job.md/Inputs/list with empty lists",
        ),
        pytest.param({"poll": []}, [], {}, None, id="job.md/Inputs/poll of nothing"),
    ],
)
async def test_what_is_answered_at_once(
    place: Place, args: dict[str, Any], heads: list[str], jobs: dict[str, str], cancelled: Any
) -> None:
    """No waiting, no progress; what has ended and was told is not delivered later."""
    await four(place)
    outcome = await asyncio.wait_for(place.call(**args), 60)
    assert sections(outcome) == heads
    assert statuses(outcome) == jobs
    told = outcome.details.get("cancelled")
    assert (told and [(row["id"], row["status"]) for row in told]) == cancelled
    assert not outcome.is_error
    assert not place.updates
    assert all(place.jobs.acknowledged(id) for id, status in jobs.items() if status != "running")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        pytest.param({"poll": ["x", "y"]}, "No matching jobs found for IDs: x, y", id="job.md/Flow/6 unknown ids"),
        pytest.param({}, "No running background jobs to wait for.", id="job.md/Flow/6 none runs"),
        pytest.param({"poll": []}, "No running background jobs to wait for.", id="job.md/Flow/6 empty poll"),
        pytest.param({"cancel": []}, "No running background jobs to wait for.", id="job.md/Flow/4 empty cancel"),
        pytest.param({"list": True}, "No background jobs.", id="job.md/Errors/list of none"),
    ],
)
async def test_with_no_jobs_it_is_said(place: Place, args: dict[str, Any], text: str) -> None:
    """Normal text, no error."""
    outcome = await place.call(**args)
    assert outcome.text == text
    assert outcome.details["jobs"] == []
    assert not outcome.is_error
    assert outcome.details.get("cancelled") == ([] if "cancel" in args else None)


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"list": True, "poll": ["a"]}, id="job.md/Inputs/list with poll"),
        pytest.param({"list": True, "cancel": ["a"]}, id="job.md/Inputs/list with cancel"),
    ],
)
async def test_list_goes_alone(place: Place, args: dict[str, Any]) -> None:
    """The model is told to call it once for each; nothing is cancelled."""
    place.begin("a")
    with pytest.raises(ToolError, match="list cannot be combined with poll or cancel"):
        await place.call(**args)
    assert place.jobs.get("a").status == "running"  # type: ignore[union-attr]


@pytest.mark.parametrize("args", [{}, {"list": True}, {"poll": ["a"]}, {"cancel": ["a"]}])
async def test_without_jobs_it_is_disabled(tmp_path: Path, args: dict[str, Any]) -> None:
    """job.md/Errors: said as normal text; with jobs left from before they can still be seen."""
    disabled = "Async execution is disabled; no background jobs are available."
    place = Place(tmp_path, jobs={"enabled": False})
    assert (await place.call(**args)).text == disabled
    place.begin("a")
    await place.end("a")
    assert (await place.call(**args)).text != disabled
    place.workplace.jobs = None
    outcome = await place.call(**args)
    assert (outcome.text, outcome.is_error) == (disabled, False)


@pytest.mark.parametrize(
    ("args", "watched", "ends"),
    [
        pytest.param({}, ["a", "b"], "b", id="job.md/Modes / Variants/Poll all running jobs"),
        pytest.param({"cancel": []}, ["a", "b"], "a", id="job.md/Flow/4 an empty cancel does not keep from waiting"),
        pytest.param({"poll": ["b"]}, ["b"], "b", id="job.md/Modes / Variants/Poll explicit ids"),
        pytest.param({"poll": ["theirs"]}, ["theirs"], "theirs", id="job.md/Flow/5 an explicit id of another agent's"),
        pytest.param({"poll": ["old", "a"]}, ["old", "a"], "a", id="job.md/Flow/8 of those that run"),
    ],
)
async def test_a_wait_is_over_with_the_first_end(place: Place, args: Any, watched: list[str], ends: str) -> None:
    """job.md/Notes: not for all; the rest is still running. The end was told: it is not delivered."""
    for id in ("old", "a", "b"):
        place.begin(id)
    await place.end("old")
    place.begin("theirs", owner="somebody")
    place.delivered.clear()
    waiting = asyncio.ensure_future(place.call(**args))
    await place.settled()
    assert not waiting.done()
    await place.end(ends, "the end")
    outcome = await asyncio.wait_for(waiting, 60)
    assert list(statuses(outcome)) == watched
    assert statuses(outcome)[ends] == "completed"
    assert "the end" in outcome.text
    running = [id for id, status in statuses(outcome).items() if status == "running"]
    assert (f"## Still Running ({len(running)})" in outcome.text) == bool(running)
    await place.settled()
    assert place.delivered == []


async def test_progress_is_told_at_once_and_twice_a_second(place: Place) -> None:
    """job.md/Outputs/Streaming behavior: fresh snapshots, first before the wait."""
    place.begin("a")
    waiting = asyncio.ensure_future(place.call())
    await place.settled()
    assert [[job["id"] for job in update["jobs"]] for update in place.updates] == [["a"]]
    assert place.updates[0]["ui"] == {"kind": "jobs"}
    assert sorted(place.clock.slept) == [0.5, 30.0]
    await place.end("a")
    await waiting


@pytest.mark.parametrize(("wait", "seconds"), [("5s", 5), ("10s", 10), ("30s", 30), ("1m", 60), ("5m", 300)])
async def test_a_wait_has_an_end(tmp_path: Path, wait: str, seconds: float) -> None:
    """job.md/Limits & Caps/poll wait: each value; the time being up is no error, the job goes on."""
    place = Place(tmp_path, jobs={"poll_wait": wait})

    async def sleep(wanted: float) -> None:
        place.clock.slept.append(wanted)
        if wanted == 0.5:
            await asyncio.get_running_loop().create_future()
        place.clock.now += wanted

    place.jobs._sleep = sleep
    place.begin("a")
    outcome = await asyncio.wait_for(place.call(), 60)
    assert outcome.text == f"## Still Running (1)\n- a (run a), {seconds:.1f} s"
    assert outcome.details["jobs"][0]["duration_ms"] == seconds * 1000
    assert not outcome.is_error
    assert place.jobs.get("a").status == "running"  # type: ignore[union-attr]
    await place.end("a")


async def test_giving_up_the_wait_leaves_the_jobs_alone(place: Place) -> None:
    """job.md/Errors/abort: a last snapshot is the result."""
    place.begin("a")
    waiting = asyncio.ensure_future(place.call())
    await place.settled()
    waiting.cancel()
    outcome = await asyncio.wait_for(waiting, 60)
    assert statuses(outcome) == {"a": "running"}
    await place.end("a")
    assert place.delivered == ["a"]


async def test_a_cancelled_job_keeps_what_it_said(place: Place) -> None:
    """job.md/Notes: cancelled at once, without waiting for it; what it says later is kept, the status stays."""
    place.begin("a")
    await place.settled()
    first = await place.call(cancel=["a"])
    assert "result_text" not in first.details["jobs"][0]
    await place.settled()
    second = await place.call(poll=["a"])
    assert statuses(second) == {"a": "cancelled"}
    assert "what it wrote until then" in second.text
    assert (await place.call(cancel=["a"])).details["cancelled"] == [{"id": "a", "status": "already_completed"}]
    assert place.delivered == []


async def test_what_is_forgotten_never_was(place: Place) -> None:
    """job.md/Notes/Retention: five minutes after its end."""
    await four(place)
    place.clock.now += 299
    assert statuses(await place.call(list=True)).keys() == {"done", "bad", "run", "other"}
    place.clock.now += 2
    assert statuses(await place.call(list=True)).keys() == {"run", "other"}
    assert (await place.call(poll=["done"])).text == "No matching jobs found for IDs: done"
    assert (await place.call(cancel=["done"])).details["cancelled"] == [{"id": "done", "status": "not_found"}]


async def test_list_is_of_ones_own(place: Place) -> None:
    """job.md/Inputs/list: jobs of the calling agent."""
    place.begin("mine")
    place.begin("theirs", owner="Explore-1")
    assert list(statuses(await place.call(list=True))) == ["mine"]


async def test_a_snapshot_has_all_there_is_to_know(place: Place) -> None:
    """job.md/Outputs/details.jobs."""
    await four(place)
    place.clock.now += 1.5
    rows = {row["id"]: row for row in (await place.call(list=True)).details["jobs"]}
    assert rows["done"] == {
        "id": "done",
        "type": "bash",
        "status": "completed",
        "label": "run done",
        "duration_ms": 0,
        "result_text": "the result",
    }
    assert rows["bad"]["error_text"] == "the error"
    assert "result_text" not in rows["bad"]
    assert rows["run"] == {"id": "run", "type": "bash", "status": "running", "label": "run run", "duration_ms": 1500}


async def test_much_output_of_many_jobs_is_shared_out(place: Place) -> None:
    """What a model reads and what views are told stays bounded; one job alone can be read whole."""
    for number in range(15):
        place.begin(f"j{number}")
        await place.end(f"j{number}", f"begin{number} " + "x" * 40_000 + f" end{number}")
    outcome = await place.call(list=True)
    assert len(outcome.text) < 160_000
    assert len(json.dumps(outcome.details)) < 64_000
    for number in range(15):
        assert f"end{number}" in outcome.text
        assert f"begin{number} " not in outcome.text
    assert "poll it alone for all of them" in outcome.text
    assert "begin3 " in (await place.call(poll=["j3"])).text
