"""Bad weather for hosts and what they keep: a disk that is really full, deleted output, many jobs, many at once."""

import asyncio
import os
import shutil
import subprocess
import sys

import pytest

from sightline.events import Error, Notice, ToolOutput, ToolResult, decode_event
from sightline.exec import CommandSpec
from sightline.host import Start, Stop, attach, connect, stored_jobs
from sightline.journal import JobRecord, Store
from sightline.paths import data_folder
from sightline.transcript import Snapshot
from tests.host.support import DEADLINE, detached, events_in, until

PRINTER = "import sys, time\nfor i in range(30):\n    print(sys.argv[1], i, flush=True)\n    time.sleep(0.1)\n"


@pytest.fixture
def store():
    return Store(data_folder())


def on_a_small_disk(folder, *argv):
    """Run with `SIGHTLINE_HOME` on a file system of two megabytes."""
    folder.mkdir()
    small = ["bwrap", "--dev-bind", "/", "/", "--size", "2000000", "--tmpfs", str(folder), *argv]
    return subprocess.run(
        small,
        env={**os.environ, "SIGHTLINE_HOME": str(folder)},
        capture_output=True,
        timeout=60,
        start_new_session=True,
    )


@pytest.mark.needs("bubblewrap")
def test_on_a_full_disk_the_command_goes_on_and_it_is_said(tmp_path):
    """Every byte still passes, the exit code too; the result says how much was kept."""
    program = [sys.executable, "-m", "sightline", "exec"]
    script = "seq 1 600000; echo the end; exit 5"
    whole = ("".join(f"{i}\n" for i in range(1, 600_001)) + "the end\n").encode()
    piped = on_a_small_disk(tmp_path / "a", *program, "--", "sh", "-c", script)
    assert piped.stdout == whole
    assert piped.returncode == 5
    assert b"Traceback" not in piped.stderr
    events = on_a_small_disk(tmp_path / "b", *program, "--output-format", "events", "--", "sh", "-c", script)
    seen = [decode_event(line) for line in events.stdout.splitlines()]
    result = next(event for event in seen if isinstance(event, ToolResult))
    assert (result.exit_code, result.details["bytes"]) == (5, len(whole))
    assert 0 < result.details["kept"] < 2_000_000
    assert "the end" in "".join(event.content for event in seen if isinstance(event, ToolOutput))
    said = " ".join(event.text for event in seen if isinstance(event, Error | Notice))
    assert "No space left on device" in said


async def test_deleted_output_is_said_not_an_error(store):
    """The list, the state and the exit code are still there."""
    job = detached(data_folder(), "echo something")
    await until(lambda: store.jobs() and store.jobs()[0].state == "ok" and not store.is_running(job[:6]))
    shutil.rmtree(store.folder(job[:6]) / "artifacts")
    kept = await attach(store, job[:6])
    (frame,) = [frame async for frame in kept.subscribe()]
    assert (frame.entries[0].exit_code, frame.entries[0].output) == (0, "")
    assert store.artifact(job).missing


def test_ten_thousand_finished_jobs_are_a_list_like_any_other(store):
    """Listed newest first, without opening a single journal."""
    store.index.add(
        *(
            JobRecord(id=f"abcdef-{number}", session="abcdef", command=f"echo {number}", state="ok", started=number)
            for number in range(1, 10_001)
        )
    )
    jobs = stored_jobs(store)
    assert [job.id for job in jobs[:2]] == ["abcdef-10000", "abcdef-9999"]
    assert len(jobs) == 10_000


def test_a_host_that_vanished_with_its_folder_leaves_the_list(store):
    """Somebody deleted the folder by hand: the list does not go on about it."""
    store.index.add(JobRecord(id="abcdef-1", session="abcdef"), JobRecord(id="abcdeg-1", session="abcdeg", state="ok"))
    assert [job.id for job in stored_jobs(store)] == ["abcdeg-1"]


@pytest.mark.slow
async def test_two_hundred_jobs_at_once_lose_and_mix_nothing(store):
    """Two sessions of a hundred, ten lines a second each: every line once, under its own call, in order."""

    async def a_hundred(name: str) -> dict[str, str]:
        session = detached(data_folder(), "sleep 1000").rpartition("-")[0]
        watcher, starter = await connect(session), await connect(session)
        frames = watcher.subscribe(0)
        spec = [CommandSpec(argv=(sys.executable, "-I", "-S", "-c", PRINTER, f"{name}{n}")) for n in range(99)]
        watching = asyncio.ensure_future(_all_said(frames, 99))
        names = {(await starter.submit(Start(one))).id: one.argv[-1] for one in spec}
        said = await watching
        await starter.submit(Stop())
        for client in (watcher, starter):
            client.close()
        await until(lambda: not store.is_running(session))
        assert {names[job]: text for job, text in said.items()} == {
            word: "".join(f"{word} {i}\n" for i in range(30)) for word in names.values()
        }
        kept = [event.seq for event in store.read(session).events()]
        assert kept == list(range(1, len(kept) + 1))
        return said

    done = await asyncio.gather(a_hundred("a"), a_hundred("b"))
    assert [len(said) for said in done] == [99, 99]


async def _all_said(frames, jobs: int) -> dict[str, str]:
    said: dict[str, str] = {}
    ended, last = 0, 0
    async with asyncio.timeout(4 * DEADLINE):
        async for frame in frames:
            assert not isinstance(frame, Snapshot), "a view that reads must never be behind"
            for event in events_in([frame]):
                assert event.seq == last + 1
                last = event.seq
                if isinstance(event, ToolOutput) and event.stream != "status":
                    said[event.id] = said.get(event.id, "") + event.content
                ended += isinstance(event, ToolResult)
            if ended == jobs:
                return said
    raise AssertionError("the session ended early")
