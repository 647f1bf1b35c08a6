"""Running a command for a test: what it kept in memory, what it told, and a check of what must always hold."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

from sightline.events import Event, ToolOutput, ToolResult, ToolUse
from sightline.exec import SETUP_ATTEMPTS, Command, CommandSpec, SandboxedCommand, SandboxSpec, sandboxed
from sightline.exec.process import _orphans
from sightline.text import clean_output

_CURRENT_TEST = "PYTEST_CURRENT_TEST"  # "NAME (PHASE)"


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
    def stored(self) -> int:
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
            if event.size and end <= self.sink.stored:
                kept = bytes(self.sink.data[event.offset : end])
                assert event.content == clean_output(kept.decode("utf-8", "replace"))
                assert self._stream_of(event.offset, end) == {event.stream}
        assert end == self.sink.size == self.result.details["bytes"]
        assert self.result.details["kept"] == self.sink.stored
        assert self.sink.closed

    def _stream_of(self, start: int, end: int) -> set[str]:
        streams, offset = set(), 0
        for stream, size in self.sink.writes:
            if offset < end and offset + size > start:
                streams.add(stream)
            offset += size
        return streams


def how_to_start(box: SandboxedCommand, environment: Mapping[str, str]) -> dict[str, Any]:
    """The environment and the descriptors that a process is made with which runs in a sandbox."""
    if box.handover is None:
        return {"env": {**environment, **box.env}}
    given = box.handover.fill({**environment, **box.env})
    return {"env": given, "pass_fds": (box.handover.descriptor, *box.descriptors)}


def run_boxed(
    argv: Sequence[str],
    spec: SandboxSpec,
    *,
    cwd: Path | str,
    environment: Mapping[str, str] = os.environ,
    kind: Literal["bubblewrap", "landlock"] | None = None,
    **options: Any,
) -> "subprocess.CompletedProcess[Any]":
    """Run it in the sandbox to its end. As with any command, one more time when a socket that was to be covered is
    gone: other tests have some."""
    process, box = start_boxed(argv, spec, cwd=cwd, environment=environment, kind=kind, **options)
    try:
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(box.argv, process.returncode, output, errors)
    finally:
        process.kill()
        process.wait()
        box.cleanup()


def start_boxed(
    argv: Sequence[str],
    spec: SandboxSpec,
    *,
    cwd: Path | str,
    environment: Mapping[str, str] = os.environ,
    kind: Literal["bubblewrap", "landlock"] | None = None,
    **options: Any,
) -> "tuple[subprocess.Popen[Any], SandboxedCommand]":
    """The same, returned when its sandbox is set up or cannot be; its streams are pipes."""
    attempts = SETUP_ATTEMPTS
    while True:
        attempts -= 1
        box = sandboxed(argv, str(cwd), spec, _kind=kind)
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options, **how_to_start(box, environment)}
        process = subprocess.Popen(box.argv, cwd=cwd, **given)
        wait_for(lambda box=box, process=process: box.is_set_up or process.poll() is not None, "the sandbox")
        if box.is_set_up or not attempts:
            return process, box
        process.communicate()
        box.cleanup()


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
            pytest.fail(f"{what}: not within {seconds:g} s; below this process are:\n{_processes()}")
        time.sleep(0.005)


def _processes() -> str:
    """What each of them is and waits for: a process that is left over may be gone when somebody comes to look."""
    rows = []
    for process in descendants():
        with contextlib.suppress(psutil.Error, OSError):
            waits = Path(f"/proc/{process.pid}/wchan").read_text() if sys.platform == "linux" else ""
            words = " ".join(process.cmdline())[:100].replace("\n", " ")
            rows.append(f"{process.pid} below {process.ppid()}, {process.status()} {waits}: {words}")
    return "\n".join(sorted(rows))


def noted(folder: Path, name: str) -> int:
    """The process id a test's command wrote into a file, once it is there."""
    file = folder / name
    wait_for(lambda: file.exists() and file.read_text().strip().isdecimal(), f"{name} written")
    return int(file.read_text())


def descendants() -> set[psutil.Process]:
    """All there are below this process, whichever test started them."""
    return set(psutil.Process().children(recursive=True))


def started_since(before: set[psutil.Process]) -> set[psutil.Process]:
    """What was started by this test, and all below that. A browser or an emulator that stays for the tests that need
    one starts processes of its own at any time: those are below one that was there before. One of them that lost its
    parent comes to us, and is known by the name of the test that its environment has."""
    _orphans.collect()
    found: set[psutil.Process] = set()
    for child in psutil.Process().children():
        if child not in before and not _is_of_another_test(child):
            found |= {child, *_below(child)}
    return found


def _is_of_another_test(process: psutil.Process) -> bool:
    """By what pytest itself says in the environment; without that it may be any test's, and counts as this one's."""
    try:
        its = process.environ().get(_CURRENT_TEST, "")
    except psutil.Error:
        return False
    return bool(its) and _without_phase(its) != _without_phase(os.environ[_CURRENT_TEST])


def _without_phase(test: str) -> str:
    return test.rpartition(" ")[0]


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
