"""Cancelling a flow: exit code 130, the whole step list, and no process left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.flows.conftest import hosted

from sightline.events import Event, Notice, Text, ToolOutput
from sightline.flows import load

TWO_TREES = """
    name: trees
    steps:
      - id: tree
        run: |
          setsid sh -c 'echo $$ >> pids; sleep 600' &
          echo $$ >> pids
          sleep 600 &
          echo $! >> pids
          while [ "$(wc -l < pids)" -lt 3 ]; do sleep 0.01; done
          echo ready
          wait
      - id: after
        needs: tree
        run: touch ran
"""


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_ready(event: Event) -> bool:
    return type(event) is ToolOutput and "ready" in event.content


def test_cancelling_ends_every_process_also_those_that_left_the_group(
    run_and_cancel: Callable[..., Any], tmp_path: Path
) -> None:
    """Exit code 130; the running step is an error that says cancelled, the rest was not run."""
    ran = run_and_cancel(TWO_TREES, is_ready)

    assert ran.exit_code == 130
    assert ran.progress() == [
        "tree=running after=pending",
        "tree=error after=pending",
        "tree=error after=pending",
    ]
    assert ran.final() == {"tree": ("error", "cancelled"), "after": ("pending", "not run: cancelled")}
    assert (ran.ended().exit_code, ran.ended().stop_reason) == (130, "cancelled")
    assert ran.outcome.steps["tree"].output == "ready", "what was said is kept"
    assert len(pids(tmp_path)) == 3
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to whom it is told to")
def test_cancelling_ends_orphans_that_nothing_connects_to_their_step(
    run_and_cancel: Callable[..., Any], tmp_path: Path
) -> None:
    """Its own session, a clean environment, its parent gone at once, and another step beside it."""
    ran = run_and_cancel(
        """
        name: orphans
        steps:
          - id: a
            run: |
              (setsid env -i sh -c 'echo $$ > pids; exec sleep 600' < /dev/null > /dev/null 2>&1 &)
              while [ ! -s pids ]; do sleep 0.01; done
              echo ready
              sleep 600
          - id: b
            run: sleep 600
        """,
        is_ready,
    )

    assert ran.exit_code == 130
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


def test_cancelling_an_agent_step_ends_its_cli(
    run_and_cancel: Callable[..., Any], made_up: Any, tmp_path: Path
) -> None:
    """The provider's process is ended like any other; its words until then are kept."""
    ran = run_and_cancel(
        "name: a\nsteps:\n  - id: ask\n    provider: made_up\n    prompt: say nothing for ever\n",
        lambda event: type(event) is Text,
    )

    assert ran.exit_code == 130
    assert ran.progress() == ["ask=running", "ask=error"]
    assert ran.final() == {"ask": ("error", "cancelled")}
    assert ran.outcome.steps["ask"].output == "thinking "
    script = str(tmp_path / "made_up_cli.py")
    assert [process for process in psutil.process_iter(["cmdline"]) if script in (process.info["cmdline"] or ())] == []


def test_cancelling_ends_the_wait_for_another_attempt(run_and_cancel: Callable[..., Any]) -> None:
    """Nobody waits an hour for a retry that will not come."""
    ran = run_and_cancel(
        "name: r\nsteps:\n  - id: a\n    run: exit 1\n    retry: {attempts: 2, delay: 3600}\n",
        lambda event: type(event) is Notice,
    )

    assert ran.exit_code == 130
    assert ran.final() == {"a": ("error", "cancelled")}


def test_a_reader_that_goes_away_takes_the_flow_with_it(write: Callable[..., Path], tmp_path: Path) -> None:
    """Closing the iteration cancels: no process is left, and nothing waits for a reader that is gone."""

    async def read_a_little() -> None:
        run = hosted(load(write(TWO_TREES)), {}, tmp_path)
        events = run.events()
        async for batch in events:
            if any(map(is_ready, batch)):
                break
        await events.aclose()
        assert run.exit_code == 130

    asyncio.run(asyncio.wait_for(read_a_little(), 20))

    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


def test_a_command_that_never_stops_writing_is_ended_though_nobody_reads(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    """It waits for room that will never come; cancelling must not wait with it."""

    async def stop_reading() -> None:
        run = hosted(load(write("name: y\nsteps:\n  - id: a\n    run: echo $$ > pids; exec yes\n")), {}, tmp_path)
        events = run.events()
        await anext(events)
        while not (tmp_path / "pids").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await events.aclose()
        assert run.exit_code == 130

    asyncio.run(asyncio.wait_for(stop_reading(), 20))

    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


def test_cancelling_the_task_that_reads_ends_every_process(write: Callable[..., Path], tmp_path: Path) -> None:
    """asyncio's own cancellation is passed on, after everything was ended."""

    async def cancel_the_reader() -> None:
        run = hosted(load(write(TWO_TREES)), {}, tmp_path)
        ready = asyncio.Event()

        async def read() -> None:
            async for batch in run.events():
                if any(map(is_ready, batch)):
                    ready.set()

        task = asyncio.create_task(read())
        await ready.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancel_the_reader(), 20))

    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


def test_ctrl_c_leaves_no_child(write: Callable[..., Path], tmp_path: Path) -> None:
    """The real program, a real SIGINT: exit code 130 and every process of the flow gone."""
    path = write(TWO_TREES)
    program = [sys.executable, "-c", "from sightline.cli import main; raise SystemExit(main())"]
    process = subprocess.Popen(
        [*program, "flow", "run", str(path), "-v"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        while b"ready" not in process.stdout.readline():
            assert process.poll() is None
        children = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=90)
    finally:
        process.kill()

    assert process.returncode == 130, err
    assert "cancelled" in out.decode()
    deadline = time.monotonic() + 5  # the guard that watches over each process is told to go last
    while [child for child in children if alive(child.pid)] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [child for child in children if alive(child.pid)] == []
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []
