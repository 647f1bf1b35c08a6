"""Python cells: code the user types, run in one process that remembers what was run before.

Rules:

- One cell at a time; those that come meanwhile wait. What a cell writes is published live, as a command's output is.
- The process is started with the first cell and ends with the session, or with us, however we end. When it has died,
  the next cell starts another and a notice reports that its variables are lost.
- Cancelling interrupts the cell (SIGINT) and leaves the process its variables; a cell that continues all the same is
  ended with everything it started.
- What is written between two cells (by a thread, by something left in the background) is shown with the next one.
"""

import asyncio
from collections.abc import Callable, Mapping

from sightline.events import CommandFact, Event, Notice, ToolResult
from sightline.exec._output import OutputPublisher
from sightline.exec._spec import Sink
from sightline.exec.cells._process import CellProcess
from sightline.exec.process._spawn import CannotStart

_SECONDS_TO_STOP = 2.0  # between interrupting a cell and ending its process
_CANCELLED, _DIED = 130, 1
_STORED = "cancelled; output stored"


class Cells:
    """The one process of a session, and the cells that were run in it. Used in one event loop."""

    def __init__(self, cwd: str, env: Mapping[str, str], *, seconds_to_stop: float = _SECONDS_TO_STOP) -> None:
        self._cwd = cwd
        self._env = dict(env)
        self._seconds_to_stop = seconds_to_stop
        self._child: CellProcess | None = None
        self._died = False  # one that there was before
        self._turn = asyncio.Lock()
        self._now = ""  # the cell that runs
        self._cancelled: set[str] = set()
        self._stopping: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, id: str, code: str, sink: Sink, emit: Callable[[Event], None]) -> ToolResult:
        """Run a cell to its end. Its output is emitted; nothing it does raises."""
        async with self._turn:
            loop = asyncio.get_running_loop()
            began = loop.time()
            output = _TimedOutput(OutputPublisher(id, sink, emit, began), loop)
            ended, exit_code, text, lines = "cancelled", _CANCELLED, "", None
            self._now = id
            try:
                if id not in self._cancelled and not self._closed:
                    ended, exit_code, text = await self._run(code, output, emit)
            except CannotStart as problem:
                ended, exit_code, text = "spawn", problem.exit_code, problem.text
            finally:
                self._now = ""
                output.finish()
            if id in self._cancelled:
                self._cancelled.discard(id)
                ended, exit_code = "cancelled", _CANCELLED
                if not text:
                    text, lines = _STORED, [_STORED]
            failed = exit_code != 0 and ended != "cancelled"
            fact = CommandFact(ended=ended, outcome_lines=lines, bytes=sink.size, stored=sink.stored)
            return ToolResult(id, text, fact.as_details(), failed, exit_code, loop.time() - began)

    def cancel(self, id: str, *, force: bool = False) -> None:
        """Interrupt a cell, or remove one that waits."""
        again = id in self._cancelled
        self._cancelled.add(id)
        if self._now != id or self._child is None:
            return
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop(self._child))
        if force or again:
            self._child.hurry.set()

    async def close(self) -> None:
        """End the process and everything it started. No cell is run any more."""
        self._closed = True
        await self._end_child()

    async def _run(self, code: str, output: "_TimedOutput", emit: Callable[[Event], None]) -> tuple[str, int, str]:
        if self._child is not None and self._child.is_gone:
            await self._lose()
        if self._closed or self._now in self._cancelled:  # meanwhile
            return "cancelled", _CANCELLED, ""
        if self._child is None:
            if self._died:
                text = "the Python process had ended: a new one was started, without its variables"
                emit(Notice(text, "warning"))
            self._child, self._died = CellProcess(self._cwd, self._env), False
        child = self._child
        answer = await child.run(code, output.take)
        if self._stopping is not None:
            self._stopping.cancel()
            await asyncio.wait([self._stopping])
            self._stopping = None
        if answer is not None and answer.ended != "exit":
            return answer.ended, answer.code, ""
        left = child.exit_code if answer is None else answer.code
        await self._lose()
        what = "the Python process ended" if answer is None else "the Python process ended with exit()"
        code_left = _DIED if left is None else left if left >= 0 else 128 - left
        return "exit", code_left, f"{what}; its variables are lost"

    async def _lose(self) -> None:
        self._died = True
        await self._end_child()

    async def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()
            await child.close()

    async def _stop(self, child: "CellProcess") -> None:
        child.interrupt()
        try:
            await asyncio.wait_for(child.hurry.wait(), self._seconds_to_stop)
        except TimeoutError:
            pass
        await child.end(now=True)


class _TimedOutput:
    """The output of a cell, published at the pace of a command's output."""

    def __init__(self, publisher: OutputPublisher, loop: asyncio.AbstractEventLoop) -> None:
        self._publisher = publisher
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    def take(self, stream: str, data: bytes) -> None:
        self._publisher.take(stream, data, self._loop.time())
        self._arm()

    def finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._publisher.finish()

    def _arm(self) -> None:
        due = self._publisher.due()
        if due is not None and self._timer is None:
            self._timer = self._loop.call_at(due, self._publish_due)

    def _publish_due(self) -> None:
        self._timer = None
        self._publisher.publish_due(self._loop.time())
        self._arm()
