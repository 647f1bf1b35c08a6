"""One running command as a producer of events.

Rules:

- `tool_use`, then `tool_output` in order of arrival, then one `tool_result`. Nothing a command does raises.
- Every byte goes to the sink before it is published.
- The end is the end of the process, and what its pipes hold then; never the end of a pipe, which a child it leaves in
  the background may hold open. Such children are left alone, but their output is no longer read. Those of a sandboxed
  command end with it: it may act only while it is watched.
- A sandbox that cannot be set up is tried again, a few times: what it is made of may have changed meanwhile (`_setup`).
  What the program that sets it up wrote is the reason it failed, and no output of a command that never ran.
- Cancelling and the timeout end all descendants: TERM, 5 s, KILL. What was written until then is read and shown first.
- A slow receiver of every byte (`pass_on`) slows the command down, but no longer once it is being ended.
"""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.events import CommandFact, Event, Notice, ToolResult
from sightline.exceptions import SightlineError
from sightline.exec._output import OutputPublisher, tool_use
from sightline.exec._spec import CommandSpec, PassOn, Sink
from sightline.exec.process import _guard, _orphans
from sightline.exec.process._pipes import HELD_SECONDS, PIPE_CAPACITY, ExitWatch, Output
from sightline.exec.process._process import GRACE
from sightline.exec.process._spawn import CannotStart, Spawned, check_program, spawn
from sightline.exec.process._tree import ProcessTree, TreeEnd
from sightline.exec.sandbox._setup import SETUP_ATTEMPTS
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.exec.sandbox._sandbox import SandboxedCommand

_DRAIN_SECONDS = 0.5
_NOT_STARTED, _TIMED_OUT, _CANCELLED = 126, 124, 130


class Command:
    """Made, `run` once, and `cancel`led from anywhere in the same loop."""

    def __init__(
        self,
        id: str,
        spec: CommandSpec,
        sink: Sink,
        emit: Callable[[Event], None],
        *,
        artifact: str = "",
        pass_on: PassOn | None = None,
        grace: float = GRACE,
    ) -> None:
        self.id = id
        self._spec = spec
        self._sink = sink
        self._emit = emit
        self._artifact = artifact
        self._pass_on = pass_on
        self._grace = grace
        self._loop: asyncio.AbstractEventLoop
        self._spawned: Spawned | None = None
        self._outputs: list[Output] = []
        self._output: OutputPublisher
        self._began = 0.0
        self._soon: asyncio.TimerHandle | None = None  # what waits to be shown
        self._later: asyncio.TimerHandle | None = None  # silence, the timeout, the end of the drain
        self._exit_watch: ExitWatch | None = None
        self._drain_until: float | None = None  # None while the process runs
        self._drained: asyncio.Future[None]
        self._stopped = ""  # "cancelled" or "timeout"
        self._ending: TreeEnd | None = None
        self._end_task: asyncio.Task[None] | None = None
        self._box: SandboxedCommand | None = None
        self._attempts = 0
        self._launch_output: list[tuple[Output, bytes]] = []  # what came before its sandbox was known to be set up

    @property
    def pid(self) -> int | None:
        return None if self._spawned is None else self._spawned.process.pid

    async def run(self) -> ToolResult:
        self._loop = asyncio.get_running_loop()
        self._drained = self._loop.create_future()
        self._began = self._loop.time()
        self._output = OutputPublisher(self.id, self._sink, self._emit, self._began)
        self._emit(tool_use(self.id, self._spec))
        try:
            failed = None if self._stopped else self._started()
            return await self._finished() if failed is None else failed
        finally:
            if self._box is not None:
                await asyncio.to_thread(self._box.cleanup)

    def cancel(self, *, force: bool = False) -> None:
        """End it and everything it started, now (`force`) or after the grace. Once it has ended by itself, nothing."""
        if not self._stopped:
            self._stop("cancelled")
        if force:
            self._grace = 0.0
            if self._ending is not None:
                self._ending.hurry()

    def _started(self) -> ToolResult | None:
        """Start it; its result where that cannot be done."""
        try:
            self._start()
        except CannotStart as problem:
            return self._not_started(problem)
        except SightlineError as problem:
            return self._not_started(CannotStart(_NOT_STARTED, clean_line(problem.message), clean_line(problem.hint)))
        except Exception as problem:  # whatever it is, a call that began has its end
            if self._spawned is not None:
                self._spawned.process.kill()
            return self._not_started(CannotStart(_NOT_STARTED, clean_line(f"it could not be started: {problem}")))
        return None

    def _start(self) -> None:
        self._attempts += 1
        spec = self._spec
        argv, env = spec.argv, dict(os.environ if spec.env is None else spec.env)
        handover, descriptors = None, spec.descriptors
        if spec.sandbox is not None:
            from sightline.exec.sandbox._environment import filtered_environment
            from sightline.exec.sandbox._sandbox import sandboxed

            check_program(argv, spec.cwd, env)  # what wraps it would start, and report it only in its output
            box = self._box = sandboxed(argv, spec.cwd, spec.sandbox)
            allowed = filtered_environment(env, passed=spec.passed, sandboxed=True)
            argv, env, handover = box.argv, {**allowed, **box.env}, box.handover
            descriptors = (*descriptors, *box.descriptors)
            if box.message and self._attempts == 1:
                self._emit(Notice(box.message, "warning"))
        terminal = (spec.columns, spec.rows) if spec.pty else None
        self._spawned = spawn(
            argv,
            cwd=spec.cwd,
            exact_cwd=spec.exact_cwd,
            env=env,
            terminal=terminal,
            pass_fds=descriptors,
            handover=handover,
        )
        self._outputs = [Output(stream, fd, self._on_read) for stream, fd in self._spawned.outputs.items()]
        self._exit_watch = ExitWatch(self._spawned.process, self._on_exit)
        self._arm_later()

    async def _finished(self) -> ToolResult:
        """Waits for the end. When the task that waits is cancelled the command is, and its result still comes first."""
        cancelled: asyncio.CancelledError | None = None
        while self._spawned is not None and not self._is_over():
            waiting = self._end_task if self._end_task is not None and self._drained.done() else self._drained
            try:
                await asyncio.shield(waiting)
            except asyncio.CancelledError as error:
                if cancelled is not None:  # for the second time: no more patience
                    self.cancel(force=True)
                cancelled = error
                self.cancel()
            if self._is_over() and self._is_refused() and self._attempts < SETUP_ATTEMPTS:
                self._abandon()
                if (failed := self._started()) is not None:
                    return failed
        result = self._closed()
        if cancelled is not None:
            raise cancelled
        return result

    def _is_over(self) -> bool:
        return self._drained.done() and (self._end_task is None or self._end_task.done())

    # The sandbox

    def _is_set_up(self) -> bool:
        return self._box is None or self._box.is_set_up

    def _is_refused(self) -> bool:
        """Whether it ended by itself before its sandbox was set up."""
        returned = 0 if self._spawned is None else self._spawned.process.poll()
        return returned is not None and returned > 0 and not self._stopped and not self._is_set_up()

    def _abandon(self) -> None:
        """Release all of a start that came to nothing. Nothing ran, so the cleanup takes no time."""
        assert self._spawned is not None
        assert self._box is not None
        for output in self._outputs:
            output.close()
        _orphans.forget(self._spawned.process.pid)
        _orphans.collect()
        self._box.cleanup()
        self._spawned = self._box = self._drain_until = None
        self._launch_output.clear()
        self._drained = self._loop.create_future()

    def _refusal(self) -> str:
        words = b"".join(data for _, data in self._launch_output).decode("utf-8", "replace").split("\n")
        reason = next((line.strip() for line in reversed(words) if line.strip()), "it did not say why")
        return clean_line(f"the sandbox could not be set up: {reason} (tried {self._attempts} times)")

    # Output

    def _on_read(self, output: Output, data: bytes) -> None:
        if not data:
            self._take(output.stream, output.release(), self._loop.time())
            self._drain_further()
        elif self._is_set_up():
            self._forward_launch_output()
            self._forward(output, data)
        else:
            self._launch_output.append((output, data))

    def _forward_launch_output(self) -> None:
        """There was a sandbox after all: a warning, then."""
        held, self._launch_output = self._launch_output, []
        for output, data in held:
            self._forward(output, data)

    def _forward(self, output: Output, data: bytes) -> None:
        now = self._loop.time()
        if self._drain_until is not None:
            output.late += len(data)
        self._take(output.stream, output.whole(data, now), now)
        if self._pass_on is not None:
            takes_more = self._pass_on.offer(output.stream, data, lambda: self._resume(output))
            if not takes_more and not self._stopped:
                output.pause()
        if output.holds:
            self._arm_soon(output.held_since + HELD_SECONDS)
        if output.late >= PIPE_CAPACITY:
            self._drain_further()

    def _take(self, stream: str, data: bytes, now: float) -> None:
        self._output.take(stream, data, now)
        due = self._output.due()
        if due is not None:
            self._arm_soon(due)

    def _resume(self, output: Output) -> None:
        output.resume()
        self._drain_further()

    def _release_held(self, now: float) -> None:
        for output in self._outputs:
            if output.holds and now >= output.held_since + HELD_SECONDS:
                self._take(output.stream, output.release(), now)

    # Timers: one for what waits to be shown, one for everything that takes longer.

    def _arm_soon(self, when: float) -> None:
        if self._soon is not None:
            if self._soon.when() <= when + 0.001:
                return
            self._soon.cancel()
        self._soon = self._loop.call_at(when, self._on_soon)

    def _on_soon(self) -> None:
        self._soon = None
        now = self._loop.time()
        self._release_held(now)
        self._output.publish_due(now)
        times = [output.held_since + HELD_SECONDS for output in self._outputs if output.holds]
        due = self._output.due()
        if due is not None:
            times.append(due)
        if times:
            self._arm_soon(min(times))

    def _arm_later(self) -> None:
        if self._later is not None:
            self._later.cancel()
        if self._drain_until is not None:
            when = self._drain_until
        else:
            when = self._output.silent_until()
            if self._spec.timeout is not None and not self._stopped:
                when = min(when, self._began + self._spec.timeout)
        self._later = self._loop.call_at(when, self._on_later)

    def _on_later(self) -> None:
        self._later = None
        now = self._loop.time()
        if self._drain_until is not None:
            self._drain_further()
            return
        if self._spec.timeout is not None and not self._stopped and now >= self._began + self._spec.timeout:
            self._stop("timeout")
        if now >= self._output.silent_until():
            self._is_set_up()  # for what that removes: a command may write nothing for hours
            self._output.publish_silence(visible=not self._stopped)
        self._arm_later()

    # The end

    def _on_exit(self) -> None:
        assert self._spawned is not None
        if self._drain_until is not None or self._spawned.process.poll() is None:
            return
        self._close_exit_watch()
        _orphans.run_ends(self._spawned.process.pid)
        leaves_children = self._box is not None and self._box.leaves_children
        if leaves_children and self._end_task is None and _orphans.any_left():
            self._end_all(self._spawned, grace=0.0)
        elif not self._stopped:
            _guard.unwatch(self._spawned.mark)
        self._drain()

    def _close_exit_watch(self) -> None:
        if self._exit_watch is not None:
            self._exit_watch.close()

    def _drain(self) -> None:
        self._drain_until = self._loop.time() + _DRAIN_SECONDS
        self._arm_later()
        self._drain_further()

    def _drain_further(self) -> None:
        """After the process ended: whether all it wrote has been read. When the wait is over, only what is there."""
        if self._drain_until is None or self._drained.done():
            return
        for output in self._outputs:
            if output.late >= PIPE_CAPACITY:
                output.close()
            while self._loop.time() >= self._drain_until and not output.ended and not output.paused:
                if not output.read() or output.late >= PIPE_CAPACITY:
                    output.close()
        if all(output.ended for output in self._outputs) and not self._drained.done():
            self._drained.set_result(None)

    def _stop(self, why: str) -> None:
        """End all of it. What is still in the pipes is read, however slow the receiver is."""
        if self._drain_until is not None:
            if self._is_refused():  # it would be started again
                self._stopped = why
            self._drain_until = self._loop.time()
            self._drain_further()
            return
        self._stopped = why
        if self._spawned is None:
            return
        _orphans.run_ends(self._spawned.process.pid)  # now: of several ended at once, none must hold up another
        self._end_all(self._spawned, self._grace)
        for output in self._outputs:
            output.resume()

    def _end_all(self, spawned: Spawned, grace: float) -> None:
        self._ending = TreeEnd(ProcessTree(spawned.process.pid, spawned.mark, spawned.born), grace)
        self._end_task = self._loop.create_task(self._end(self._ending))

    async def _end(self, ending: TreeEnd) -> None:
        assert self._spawned is not None
        try:
            await ending.run()
        finally:
            self._on_exit()
            if self._spawned.process.poll() is not None:
                _guard.unwatch(self._spawned.mark)
            if self._drain_until is None:  # stuck in the kernel; it is not waited for
                self._close_exit_watch()
                self._drain()

    def _closed(self) -> ToolResult:
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()
        returned = None if self._spawned is None else self._spawned.process.poll()
        is_refused = self._is_refused()
        if self._is_set_up():
            self._forward_launch_output()
        for output in self._outputs:
            self._take(output.stream, output.release(), self._loop.time())
            output.close()
        if self._soon is not None:
            self._soon.cancel()
        if self._spawned is not None and returned is not None:
            _orphans.forget(self._spawned.process.pid)
        _orphans.collect()
        if is_refused:
            return self._not_started(CannotStart(_NOT_STARTED, self._refusal()))
        if self._stopped == "timeout":
            return self._result("timeout", _TIMED_OUT, f"timed out after {self._spec.timeout:g} s", returned)
        if self._stopped:
            return self._result("cancelled", _CANCELLED, "cancelled; output stored", returned)
        code = 1 if returned is None else returned if returned >= 0 else 128 - returned
        return self._result("exit", code, "", returned)

    def _not_started(self, why: CannotStart) -> ToolResult:
        return self._result("spawn", why.exit_code, why.text, problem=why.problem, hint=why.hint)

    def _result(
        self, ended: str, exit_code: int, text: str, returned: int | None = None, *, problem: str = "", hint: str = ""
    ) -> ToolResult:
        self._output.finish()
        if self._spec.sandbox is not None and self._spec.sandbox.entrance is not None:
            self._spec.sandbox.entrance.leave()  # before the end is published: nothing of a call follows that
        fact = CommandFact(
            ended=ended,
            problem=problem,
            hint=hint,
            outcome_lines=[text] if ended == "cancelled" else None,
            artifact=self._artifact,
            bytes=self._sink.size,
            stored=self._sink.stored,
            binary=self._output.is_binary,
            signal=-returned if returned is not None and returned < 0 else None,
        )
        result = ToolResult(
            self.id,
            text,
            fact.as_details(),
            is_error=exit_code != 0 and ended != "cancelled",
            exit_code=exit_code,
            duration=self._loop.time() - self._began,
        )
        self._emit(result)
        return result
