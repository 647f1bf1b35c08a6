"""One running command as a producer of events.

Rules:

- `tool_use`, then `tool_output` in order of arrival, then one `tool_result`. Nothing a command does raises.
- Every byte goes to the sink before anybody hears of it.
- The end is the end of the process, and what its pipes hold then; never the end of a pipe, which a child it leaves in
  the background may hold open. Such children are left alone, but nobody listens to them any more. Those of a sandboxed
  command end with it: what it may do, it may do while it is watched.
- Cancelling and the timeout end all descendants: TERM, 5 s, KILL. What was written until then is read and shown first.
- Somebody who wants every byte slows the command down when he is slow. He no longer does once it is being ended.
"""

import asyncio
import os
from collections.abc import Callable

from sightline.events import Event, Notice, ToolResult
from sightline.exceptions import SightlineError
from sightline.exec import _guard, _orphans
from sightline.exec._pipes import HELD_SECONDS, PIPE_CAPACITY, Output
from sightline.exec._process import GRACE
from sightline.exec._spawn import CannotStart, Spawned, check_program, spawn
from sightline.exec._spec import CommandSpec, PassOn, Sink
from sightline.exec._telling import Telling, tool_use
from sightline.exec._tree import Ending, ProcessTree
from sightline.text import clean_line

_DRAIN_SECONDS = 0.5
_TIMED_OUT, _CANCELLED = 124, 130


class Command:
    """Made, `run` once, and `cancel`led by anybody in the same loop."""

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
        self._telling: Telling
        self._began = 0.0
        self._soon: asyncio.TimerHandle | None = None  # what waits to be shown
        self._later: asyncio.TimerHandle | None = None  # silence, the timeout, the end of the drain
        self._pidfd = -1
        self._drain_until: float | None = None  # None while the process runs
        self._drained: asyncio.Future[None]
        self._stopped = ""  # "cancelled" or "timeout"
        self._ending: Ending | None = None
        self._end_task: asyncio.Task[None] | None = None
        self._cleanup: Callable[[], None] | None = None
        self._children_end = False  # with it, and it takes us to do that

    @property
    def pid(self) -> int | None:
        return None if self._spawned is None else self._spawned.process.pid

    async def run(self) -> ToolResult:
        self._loop = asyncio.get_running_loop()
        self._drained = self._loop.create_future()
        self._began = self._loop.time()
        self._telling = Telling(self.id, self._sink, self._emit, self._began)
        self._emit(tool_use(self.id, self._spec))
        try:
            if not self._stopped:
                self._start()
        except CannotStart as problem:
            return self._result("spawn", problem.exit_code, problem.text)
        except SightlineError as problem:
            text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
            return self._result("spawn", 126, clean_line(text))
        except Exception as problem:  # whatever it is, a call that began has its end
            if self._spawned is not None:
                self._spawned.process.kill()
            return self._result("spawn", 126, clean_line(f"it could not be started: {problem}"))
        try:
            return await self._finished()
        finally:
            if self._cleanup is not None:
                await asyncio.to_thread(self._cleanup)

    def cancel(self, *, force: bool = False) -> None:
        """End it and everything it started, now or after having asked. Once it has ended by itself, nothing."""
        if not self._stopped:
            self._stop("cancelled")
        if force:
            self._grace = 0.0
            if self._ending is not None:
                self._ending.hurry()

    def _start(self) -> None:
        spec = self._spec
        argv, env = spec.argv, dict(os.environ if spec.env is None else spec.env)
        handover = None
        if spec.sandbox is not None:
            from sightline.exec._environment import filtered_environment
            from sightline.exec._sandbox import sandboxed

            check_program(argv, spec.cwd, env)  # what wraps it would start, and only say so in its output
            wrapped = sandboxed(argv, spec.cwd, spec.sandbox)
            self._cleanup = wrapped.cleanup
            self._children_end = wrapped.leaves_children
            allowed = filtered_environment(env, passed=spec.passed, sandboxed=True)
            argv, env, handover = wrapped.argv, {**allowed, **wrapped.env}, wrapped.handover
            if wrapped.message:
                self._emit(Notice(wrapped.message, "warning", source="exec"))
        terminal = (spec.columns, spec.rows) if spec.pty else None
        self._spawned = spawn(
            argv,
            cwd=spec.cwd,
            exact_cwd=spec.exact_cwd,
            env=env,
            terminal=terminal,
            pass_fds=spec.descriptors,
            handover=handover,
        )
        self._outputs = [Output(stream, fd, self._on_read) for stream, fd in self._spawned.outputs.items()]
        self._notice_end(self._spawned)
        self._arm_later()

    def _notice_end(self, spawned: Spawned) -> None:
        try:
            self._pidfd = os.pidfd_open(spawned.process.pid)
        except (AttributeError, OSError):  # not Linux, or an old one
            self._loop.run_in_executor(None, spawned.process.wait).add_done_callback(lambda _: self._on_exit())
        else:
            self._loop.add_reader(self._pidfd, self._on_exit)

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
        result = self._closed()
        if cancelled is not None:
            raise cancelled
        return result

    def _is_over(self) -> bool:
        return self._drained.done() and (self._end_task is None or self._end_task.done())

    # Output

    def _on_read(self, output: Output, data: bytes) -> None:
        now = self._loop.time()
        if not data:
            self._take(output.stream, output.release(), now)
            self._drain_further()
            return
        if self._drain_until is not None:
            output.late += len(data)
        self._take(output.stream, output.whole(data, now), now)
        if self._pass_on is not None:
            wants_more = self._pass_on.offer(output.stream, data, lambda: self._resume(output))
            if not wants_more and not self._stopped:
                output.pause()
        if output.holds:
            self._arm_soon(output.held_since + HELD_SECONDS)
        if output.late >= PIPE_CAPACITY:
            self._drain_further()

    def _take(self, stream: str, data: bytes, now: float) -> None:
        self._telling.take(stream, data, now)
        due = self._telling.due()
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
        self._telling.tell_due(now)
        times = [output.held_since + HELD_SECONDS for output in self._outputs if output.holds]
        due = self._telling.due()
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
            when = self._telling.silent_until()
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
        if now >= self._telling.silent_until():
            self._telling.tell_silence(aloud=not self._stopped)
        self._arm_later()

    # The end

    def _on_exit(self) -> None:
        assert self._spawned is not None
        if self._drain_until is not None or self._spawned.process.poll() is None:
            return
        self._close_pidfd()
        _orphans.run_ends(self._spawned.process.pid)
        if self._children_end and self._end_task is None and _orphans.any_left():
            self._end_all(self._spawned, grace=0.0)
        elif not self._stopped:
            _guard.unwatch(self._spawned.mark)
        self._drain()

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
        """End all of it. What is still in the pipes is read, however slow whoever wants it."""
        if self._drain_until is not None:
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
        self._ending = Ending(ProcessTree(spawned.process.pid, spawned.mark, spawned.born), grace)
        self._end_task = self._loop.create_task(self._end(self._ending))

    async def _end(self, ending: Ending) -> None:
        assert self._spawned is not None
        try:
            await ending.run()
        finally:
            self._on_exit()
            if self._spawned.process.poll() is not None:
                _guard.unwatch(self._spawned.mark)
            if self._drain_until is None:  # stuck in the kernel; it is not waited for
                self._close_pidfd()
                self._drain()

    def _closed(self) -> ToolResult:
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()
        returned = None if self._spawned is None else self._spawned.process.poll()
        for output in self._outputs:
            self._take(output.stream, output.release(), self._loop.time())
            output.close()
        if self._soon is not None:
            self._soon.cancel()
        if self._spawned is not None and returned is not None:
            _orphans.forget(self._spawned.process.pid)
        _orphans.collect()
        if self._stopped == "timeout":
            return self._result("timeout", _TIMED_OUT, f"timed out after {self._spec.timeout:g} s", returned)
        if self._stopped:
            return self._result("cancelled", _CANCELLED, "cancelled; output stored", returned)
        code = 1 if returned is None else returned if returned >= 0 else 128 - returned
        return self._result("exit", code, "", returned)

    def _result(self, ended: str, exit_code: int, text: str, returned: int | None = None) -> ToolResult:
        self._telling.finish()
        if self._spec.sandbox is not None and self._spec.sandbox.entrance is not None:
            self._spec.sandbox.entrance.leave()  # before the end is told: nothing of a call follows that
        details = {"ui": {"kind": "command"}, "ended": ended, "artifact": self._artifact, "bytes": self._sink.size}
        details |= {"kept": self._sink.kept, "binary": self._telling.is_binary}
        if returned is not None and returned < 0:
            details["signal"] = -returned
        result = ToolResult(
            self.id,
            text,
            details,
            is_error=exit_code != 0 and ended != "cancelled",
            exit_code=exit_code,
            duration=self._loop.time() - self._began,
            source="exec",
        )
        self._emit(result)
        return result

    def _close_pidfd(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
