"""A run of our own agent without a screen, as the command line uses it."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from sightline.agent import AgentSpec
from sightline.events import Event, ToolOutput
from sightline.exec import GRACE
from sightline.host import NativeRun
from sightline.journal import JournalWriter
from sightline.settings import Policy, StartOptions, load
from tests.agent.support import store_in, write_script

DEADLINE = 90.0


def native(folder: Path, turns: list[Any]) -> NativeRun:
    work = folder / "work"
    work.mkdir()
    spec = AgentSpec(
        cwd=work,
        settings=load(work, flags={"permissions.sandbox": "false"}, environ={}).settings,
        policy=Policy("auto", ["exec"], [], work),
        options=StartOptions(model=write_script(folder, turns)),
    )
    return NativeRun(store_in(folder), spec, "go")


async def read(run: NativeRun, on_event: Callable[[Event], None] = lambda event: None) -> None:
    async with aclosing(run.events()) as batches:
        async for batch in batches:
            for event in batch:
                on_event(event)


@pytest.mark.parametrize("full", [True, False])
async def test_a_run_that_could_not_be_kept_has_not_gone_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """The agent does its work and says so; the exit code says that it is not all kept."""
    run = native(tmp_path, [[{"text": "done"}]])
    write = JournalWriter.write_lines

    def on_a_full_disk(self: JournalWriter, data: bytes) -> None:
        if full and b"run_started" in data:
            raise OSError(28, "No space left on device")
        write(self, data)

    monkeypatch.setattr(JournalWriter, "write_lines", on_a_full_disk)
    await asyncio.wait_for(read(run), DEADLINE)
    assert run.outcome.text == "done"
    assert run.outcome.exit_code == int(full)


async def test_cancelled_twice_it_does_not_wait(tmp_path: Path) -> None:
    """A command that will not end is killed before the time it is given for that is over."""
    command = "trap '' INT TERM; echo up; sleep 60"
    run = native(tmp_path, [[{"tool": "bash", "args": {"command": command}}]])
    up = asyncio.Event()
    reading = asyncio.create_task(read(run, lambda event: up.set() if isinstance(event, ToolOutput) else None))
    await asyncio.wait_for(up.wait(), DEADLINE)
    first = asyncio.create_task(run.cancel())
    await asyncio.sleep(0)
    await asyncio.wait_for(asyncio.gather(first, run.cancel()), GRACE - 0.5)
    await asyncio.wait_for(reading, DEADLINE)
    assert run.outcome.exit_code == 130
