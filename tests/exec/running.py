"""Running a command for a test: what it kept in memory, what it told, and a check of what must always hold."""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from sightline.events import Event, ToolOutput, ToolResult, ToolUse
from sightline.exec import Command, CommandSpec, Sandboxed, _orphans
from sightline.text import clean_output


class Memory:
    """A sink that keeps everything, up to a limit if it is given one."""

    def __init__(self, limit: int = sys.maxsize) -> None:
        self.data = bytearray()
        self.writes: list[tuple[str, int]] = []
        self.size = 0
        self.problem = ""
        self.closed = False
        self._limit = limit

    @property
    def kept(self) -> int:
        return len(self.data)

    def write(self, stream: str, data: bytes) -> None:
        assert not self.closed
        self.size += len(data)
        self.writes.append((stream, len(data)))
        if self.size > self._limit:
            self.problem = "no space left on device"
        else:
            self.data += data

    def close(self) -> None:
        self.closed = True


class Ran:
    """A command that is running or has run."""

    def __init__(self, *argv: str, sink: Memory | None = None, pass_on=None, grace: float = 5.0, **spec) -> None:
        self.events: list[Event] = []
        self.times: list[float] = []
        self.sink = sink or Memory()
        self.command = Command(
            "k3m9qz-1",
            CommandSpec(argv=argv, **spec),
            self.sink,
            self._on_event,
            artifact="artifact://k3m9qz/k3m9qz-1",
            pass_on=pass_on,
            grace=grace,
        )

    def _on_event(self, event: Event) -> None:
        self.events.append(event)
        self.times.append(time.monotonic())

    async def run(self, seconds: float = 90.0) -> "Ran":
        async with asyncio.timeout(seconds):
            result = await self.command.run()
        assert result is self.events[-1]
        self.check()
        return self

    def start(self) -> "asyncio.Task[Ran]":
        return asyncio.create_task(self.run())

    async def until(self, condition: Callable[["Ran"], object], seconds: float = 90.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition(self):  # noqa: ASYNC110, not everything that is waited for is an event
                await asyncio.sleep(0.002)

    @property
    def use(self) -> ToolUse:
        return self.events[0]

    @property
    def result(self) -> ToolResult:
        assert isinstance(self.events[-1], ToolResult)
        return self.events[-1]

    @property
    def outputs(self) -> list[ToolOutput]:
        return [event for event in self.events if isinstance(event, ToolOutput)]

    @property
    def pieces(self) -> list[ToolOutput]:
        return [event for event in self.outputs if event.size]

    @property
    def statuses(self) -> list[str]:
        return [event.content for event in self.outputs if event.stream == "status"]

    def text(self, stream: str | None = None) -> str:
        return "".join(piece.content for piece in self.pieces if stream in (None, piece.stream))

    def check(self) -> None:
        """What holds for every command that was run."""
        assert isinstance(self.events[0], ToolUse)
        assert [event for event in self.events if isinstance(event, ToolResult)] == [self.result]
        end = 0
        for event in self.outputs:
            assert event.offset == end + event.dropped
            end = event.offset + event.size
            if event.size and end <= self.sink.kept:
                kept = bytes(self.sink.data[event.offset : end])
                assert event.content == clean_output(kept.decode("utf-8", "replace"))
                assert self._stream_of(event.offset, end) == {event.stream}
        assert end == self.sink.size == self.result.details["bytes"]
        assert self.result.details["kept"] == self.sink.kept
        assert self.sink.closed

    def _stream_of(self, start: int, end: int) -> set[str]:
        streams, offset = set(), 0
        for stream, size in self.sink.writes:
            if offset < end and offset + size > start:
                streams.add(stream)
            offset += size
        return streams


def how_to_start(box: Sandboxed, environment: Mapping[str, str]) -> dict[str, Any]:
    """The environment and the descriptors that a process is made with which runs in a sandbox."""
    if box.handover is None:
        return {"env": {**environment, **box.env}}
    given = box.handover.fill({**environment, **box.env})
    return {"env": given, "pass_fds": (box.handover.descriptor,)}


def sh(script: str, **spec) -> Ran:
    return Ran("sh", "-c", script, **spec)


def python(script: str, **spec) -> Ran:
    return Ran(sys.executable, "-ISc", script, **spec)


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_for(condition: Callable[[], object], what: str, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {seconds:g} s")
        time.sleep(0.005)


def noted(folder: Path, name: str) -> int:
    """The process id a test's command wrote into a file, once it is there."""
    file = folder / name
    wait_for(lambda: file.exists() and file.read_text().strip().isdecimal(), f"{name} written")
    return int(file.read_text())


def children_of_ours() -> set[psutil.Process]:
    _orphans.collect()
    return set(psutil.Process().children(recursive=True))
