"""Sessions for tests: in this process, or as a host of its own that is ended by its id."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from sightline.events import Event, ToolResult
from sightline.exec import CommandSpec
from sightline.host import HostSession
from sightline.journal import JournalWriter, Store
from sightline.transcript import Snapshot, Transcript

DEADLINE = 90.0


def shell(script: str, **more: Any) -> CommandSpec:
    return CommandSpec(argv=("sh", "-c", script), **more)


async def until(condition: Callable[[], Any], what: str = "") -> Any:
    """Wait for a condition, with a deadline."""
    async with asyncio.timeout(DEADLINE):
        while not (found := condition()):  # noqa: ASYNC110, others' processes and files tell nobody
            await asyncio.sleep(0.005)
    return found


@asynccontextmanager
async def a_session(store: Store) -> AsyncIterator[tuple[HostSession, JournalWriter]]:
    writer = store.create(cwd="/")
    session = HostSession(writer, store.index)
    try:
        yield session, writer
    finally:
        await session.stop()
        writer.close()


async def frames_until_result(frames: Any, job: str) -> list[Any]:
    """Everything a subscription yields, up to the frame that has the end of a job."""
    seen = []
    async with asyncio.timeout(DEADLINE):
        async for frame in frames:
            seen.append(frame)
            if not isinstance(frame, Snapshot) and any(isinstance(e, ToolResult) and e.id == job for e in frame):
                break
            if isinstance(frame, Snapshot) and any(
                getattr(e, "id", "") == job and e.content is not None for e in frame.entries
            ):
                break
    return seen


def state_after(frames: list[Any]) -> Snapshot:
    """What a view knows that took these frames."""
    transcript = Transcript()
    for frame in frames:
        if isinstance(frame, Snapshot):
            transcript = Transcript(frame)
        else:
            for event in frame:
                transcript.apply(event)
    return transcript.now


def events_in(frames: list[Any]) -> list[Event]:
    return [event for frame in frames if not isinstance(frame, Snapshot) for event in frame]


def detached(store_folder: Path, script: str) -> str:
    """A job in a host process of its own, started the way a person does; its id."""
    environment = {**os.environ, "SIGHTLINE_HOME": str(store_folder)}
    command = [sys.executable, "-m", "sightline", "exec", "-d", "--", "sh", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=True)
    return done.stdout.strip()


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
