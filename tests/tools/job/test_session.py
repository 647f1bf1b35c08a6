"""Jobs of a whole session: begun by a command, polled, cancelled, and told once."""

import asyncio
import os
from pathlib import Path

from sightline.conversation import ToolMessage, UserMessage, text_of
from sightline.events import State, ToolResult, ToolUpdate, ToolUse, User
from sightline.host import CancelJob
from tests.agent.support import Lab, lab


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


def job(**args: object) -> dict[str, object]:
    return {"tool": "job", "args": args}


UNTIL_GO = "until [ -e go ]; do sleep 0.01; done"
IN_BACKGROUND = {"async": True}


def results(here: Lab, tool: str) -> list[ToolResult]:
    calls = [use.id for use in here.of(ToolUse) if use.native_name == tool]
    return [result for result in here.of(ToolResult) if result.id in calls]


async def gone(pid: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            await asyncio.sleep(0.01)


async def test_a_wait_shows_its_jobs_and_its_end_is_told_once(tmp_path: Path) -> None:
    """job.md/Flow/9 and 12: what was polled is not delivered as a message besides."""
    turns = [[bash(f"{UNTIL_GO}; echo finished", **IN_BACKGROUND)], [job()], [{"text": "done"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        await here.first(ToolUpdate, lambda event: event.details["ui"] == {"kind": "jobs"})
        (tmp_path / "work" / "go").touch()
        assert (await here.ended()).text == "done"
        (polled,) = results(here, "job")
        assert polled.content.startswith("## Completed (1)")
        assert "finished" in polled.content
        assert not [event for event in here.of(User) if event.source == "job"]


async def test_a_delivery_that_waits_is_dropped_when_the_model_polls(tmp_path: Path) -> None:
    """job.md/Flow/12: the job ended while another call ran, so that its end was queued before it was polled."""
    slow = bash("until [ -e seen ]; do sleep 0.01; done")
    turns = [[bash("true", **IN_BACKGROUND)], [slow], [job(list=True)], [{"text": "done"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        await here.first(State, lambda event: event.key == "queue" and bool(event.value))
        (tmp_path / "work" / "seen").touch()
        assert (await here.ended()).text == "done"
        assert results(here, "job")[0].content.startswith("## Completed (1)")
        assert not [m for m in here.messages if isinstance(m, UserMessage) and m.origin == "job"]


async def test_a_job_that_failed_is_told_as_one(tmp_path: Path) -> None:
    """job.md/Errors: the failure is stored on the job, with its words; the job tool does not fail."""
    turns = [[bash(f"{UNTIL_GO}; echo why; exit 3", **IN_BACKGROUND)], [job()], [{"text": "done"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        await here.first(ToolUpdate)
        (tmp_path / "work" / "go").touch()
        await here.ended()
        (result,) = results(here, "job")
        (row,) = result.details["jobs"]
        assert row["status"] == "failed"
        assert row["error_text"] == "why\n[exit code 3]"
        assert not result.is_error


async def test_cancelling_a_job_ends_its_processes_and_keeps_its_words(tmp_path: Path) -> None:
    """job.md/Notes: cancelled at once; what it wrote is read with the next look at it."""
    command = "echo half; sleep 60 & echo $! > pid; wait"
    wait = bash("until [ -s pid ]; do sleep 0.01; done")
    async with lab(tmp_path, [[bash(command, **IN_BACKGROUND)], [wait], [{"text": "begun"}]]) as here:
        await here.run()
        began = results(here, "bash")[0].details["job"]
        pid = int((tmp_path / "work" / "pid").read_text())
        jobs = here.agent.workplace.jobs
        assert jobs is not None
        work = jobs._work[began]
        assert jobs.cancel(began) == "cancelled"
        await gone(pid)
        await asyncio.wait([work], timeout=90)
        found = jobs.get(began)
        assert found is not None
        assert found.status == "cancelled"
        assert found.result_text == "half\n[cancelled; what it had done by then is not undone]"
        assert not [event for event in here.of(User) if event.source == "job"]


async def test_a_job_the_user_cancelled_starts_no_run(tmp_path: Path) -> None:
    """The user knows: no request is made for it. The model reads of it, as cancelled, with the next prompt."""
    turns = [[bash("sleep 60", **IN_BACKGROUND)], [{"text": "begun"}], [{"text": "heard"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        began = results(here, "bash")[0].details["job"]
        jobs = here.agent.workplace.jobs
        assert jobs is not None
        work = jobs._work[began]
        assert (await here.session.submit(CancelJob(began))).ok
        await asyncio.wait([work], timeout=90)
        ending = f"Background job {began} (sleep 60) has ended: cancelled."
        async with asyncio.timeout(30):
            while text_of(here.messages[-1]) != ending:  # noqa: ASYNC110, it is delivered without an event
                await asyncio.sleep(0.01)
        assert not here.agent.busy
        assert not [event for event in here.of(User) if event.source == "job"]
        assert (await here.run("and now?")).text == "heard"
        assert [text_of(message) for message in here.messages[-3:]] == [ending, "and now?", "heard"]


async def test_a_job_cancelled_while_the_agent_works_starts_no_turn(tmp_path: Path) -> None:
    """What waits for the model until it has answered does not make it answer again."""
    waits = bash("until [ -e go ]; do sleep 0.01; done")
    turns = [[bash("sleep 60", **IN_BACKGROUND)], [waits], [{"text": "done"}], [{"text": "never asked for"}]]
    async with lab(tmp_path, turns) as here:
        await here.agent.prompt("go")
        job = await here.first(ToolUse, lambda event: event.job)
        await here.first(ToolUse, lambda event: event.args == {"command": waits["args"]["command"]})
        assert (await here.session.submit(CancelJob(job.id))).ok
        await here.first(ToolResult, lambda event: event.id == job.id)
        (tmp_path / "work" / "go").touch()
        assert (await here.ended()).text == "done"
        assert len(here.requests) == 3
        assert any("has ended: cancelled" in text_of(message) for message in here.messages)


async def test_no_more_jobs_than_may_run(tmp_path: Path) -> None:
    """job.md/Limits & Caps/max jobs: one that is asked for is refused before it starts; one that takes long waits."""
    settings = {"jobs.max_jobs": "1", "bash.auto_background": "true", "bash.auto_background_ms": "1"}
    turns = [
        [bash(UNTIL_GO, **IN_BACKGROUND)],
        [bash("touch started", **IN_BACKGROUND)],
        [bash("sleep 0.1; echo waited for")],
        [{"text": "done"}],
    ]
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run()
        _, refused, waited = [m for m in here.messages if isinstance(m, ToolMessage)]
        assert "1 background jobs are running, which is the maximum" in text_of(refused)
        assert refused.is_error
        assert not (tmp_path / "work" / "started").exists()
        assert text_of(waited) == "waited for"


async def test_background_is_refused_where_it_is_disabled(tmp_path: Path) -> None:
    """job.md/Flow/2: said with what to do; nothing starts."""
    turns = [[bash("touch started", **IN_BACKGROUND), job()], [{"text": "done"}]]
    async with lab(tmp_path, turns, settings={"jobs.enabled": "false"}) as here:
        await here.run()
        refused, polled = [m for m in here.messages if isinstance(m, ToolMessage)]
        assert text_of(refused) == "background jobs are disabled here (jobs.enabled); run it without async"
        assert text_of(polled) == "Async execution is disabled; no background jobs are available."
        assert not (tmp_path / "work" / "started").exists()


async def test_the_label_is_one_short_line(tmp_path: Path) -> None:
    """A script of many lines is told by its beginning."""
    turns = [[bash("echo a\n" + "true\n" * 200, **IN_BACKGROUND)], [job(list=True)], [{"text": "done"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        (row,) = results(here, "job")[0].details["jobs"]
        assert row["label"].startswith("echo a true true")
        assert len(row["label"]) <= 120
