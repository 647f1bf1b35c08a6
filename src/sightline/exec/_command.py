"""One running command as a producer of events.

Rules:

- `tool_use`, then `tool_output` in order of arrival, then one `tool_result`. Nothing a command does raises.
- Every byte goes to the sink before anybody hears of it, and a piece is what the sink has from `offset` on, `size`
  bytes of it, decoded and cleaned: it can be made again from what is kept.
- The end is the end of the process, and what its pipes hold then; never the end of a pipe, which a child it leaves in
  the background may hold open. Such children are left alone, but nobody listens to them any more.
- Cancelling and the timeout end all descendants: TERM, 5 s, KILL. What was written until then is read and shown first.
- Somebody who wants every byte slows the command down when he is slow. He no longer does once it is being ended.
"""

import asyncio
import os
import shlex
import signal
from collections.abc import Callable

from sightline.events import Event, Notice, ToolOutput, ToolResult, ToolUse
from sightline.exceptions import SightlineError
from sightline.exec import _guard, _orphans
from sightline.exec._batches import Batches, Piece
from sightline.exec._binary import Judge
from sightline.exec._pipes import HELD_SECONDS, PIPE_CAPACITY, Output
from sightline.exec._process import GRACE
from sightline.exec._silence import Silence
from sightline.exec._spawn import CannotStart, Spawned, spawn
from sightline.exec._spec import CommandSpec, PassOn, Sink
from sightline.exec._tree import Ending, ProcessTree
from sightline.text import clean_line, clean_output, clean_text, clean_value, cut_graphemes, first_line

_DRAIN_SECONDS = 0.5
_ARG_AT_MOST = 40
_TIMED_OUT, _CANCELLED = 124, 130
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))


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
        self._judges = {"stdout": Judge(), "stderr": Judge()}
        self._batches = Batches()
        self._binary = self._told_problem = False
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

    @property
    def pid(self) -> int | None:
        return None if self._spawned is None else self._spawned.process.pid

    async def run(self) -> ToolResult:
        self._loop = asyncio.get_running_loop()
        self._drained = self._loop.create_future()
        self._began = self._loop.time()
        self._silence = Silence(self._began)
        self._emit(_tool_use(self.id, self._spec))
        try:
            if not self._stopped:
                self._start()
        except CannotStart as problem:
            return self._result("spawn", problem.exit_code, problem.text)
        except SightlineError as problem:
            text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
            return self._result("spawn", 126, clean_line(text))
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
        if spec.sandbox is not None:
            from sightline.exec._environment import filtered_environment
            from sightline.exec._sandbox import sandboxed

            wrapped = sandboxed(argv, spec.cwd, spec.sandbox)
            self._cleanup = wrapped.cleanup
            argv, env = wrapped.argv, {**filtered_environment(env), **wrapped.env}
            if wrapped.message:
                self._emit(Notice(wrapped.message, "warning", source="exec"))
        terminal = (spec.columns, spec.rows) if spec.pty else None
        self._spawned = spawn(argv, cwd=spec.cwd, env=env, terminal=terminal)
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
        if not data:
            return
        offset = self._sink.size
        self._sink.write(stream, data)
        self._silence.broken(now)
        if self._sink.problem and not self._told_problem:
            self._told_problem = True
            text = f"the output of {self.id} is no longer kept: {clean_line(self._sink.problem)}"
            self._emit(Notice(text, "warning", "make room; what it writes from here on is only counted", source="exec"))
        if self._binary or self._is_binary(stream, data):
            return
        for piece in self._batches.add(stream, offset, data, now):
            self._show(piece)
        due = self._batches.due()
        if due is not None:
            self._arm_soon(due)

    def _is_binary(self, stream: str, data: bytes) -> bool:
        if not self._judges[stream].is_binary(data):
            return False
        self._binary = True
        self._batches.pass_over()
        self._say("binary output: kept, not shown")
        return True

    def _show(self, piece: Piece) -> None:
        content = clean_output(piece.data.decode("utf-8", "replace"))
        stream = "stderr" if piece.stream == "stderr" else "stdout"
        self._emit(
            ToolOutput(self.id, content, stream, piece.offset, piece.dropped, len(piece.data), source="exec")  # type: ignore[arg-type]
        )

    def _say(self, text: str) -> None:
        self._emit(ToolOutput(self.id, text, "status", self._batches.accounted, source="exec"))

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
        for piece in self._batches.take(now):
            self._show(piece)
        times = [output.held_since + HELD_SECONDS for output in self._outputs if output.holds]
        due = self._batches.due()
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
            when = self._silence.due()
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
        if now >= self._silence.due():
            text = self._silence.say()
            if not self._binary and not self._stopped:
                self._say(text)
        self._arm_later()

    # The end

    def _on_exit(self) -> None:
        assert self._spawned is not None
        if self._drain_until is not None or self._spawned.process.poll() is None:
            return
        self._close_pidfd()
        if not self._stopped:
            _guard.unwatch(self._spawned.process.pid)
        _orphans.run_ends(self._spawned.process.pid)
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
        process = self._spawned.process
        _orphans.run_ends(process.pid)  # now: of several that are ended at once, none must hold up another
        self._ending = Ending(ProcessTree(process.pid, self._spawned.mark, self._spawned.born), self._grace)
        self._end_task = self._loop.create_task(self._end(self._ending))
        for output in self._outputs:
            output.resume()

    async def _end(self, ending: Ending) -> None:
        assert self._spawned is not None
        try:
            await ending.run()
        finally:
            self._on_exit()
            _guard.unwatch(self._spawned.process.pid)
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
            return self._result("cancelled", _CANCELLED, "cancelled; output kept", returned)
        code = 1 if returned is None else returned if returned >= 0 else 128 - returned
        return self._result("exit", code, "", returned)

    def _result(self, ended: str, exit_code: int, text: str, returned: int | None = None) -> ToolResult:
        for piece in self._batches.finish():
            self._show(piece)
        total = self._sink.size
        if (left := total - self._batches.accounted) > 0:
            self._emit(ToolOutput(self.id, "", offset=total, dropped=left, source="exec"))
        self._sink.close()
        details = {"ui": {"kind": "command"}, "ended": ended, "artifact": self._artifact, "bytes": total}
        details |= {"kept": self._sink.kept, "binary": self._binary}
        if returned is not None and returned < 0:
            details["signal"] = signal.Signals(-returned).value
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


def _tool_use(id: str, spec: CommandSpec) -> ToolUse:
    words = list(spec.argv)
    is_script = len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-c", "-lc")
    shown = first_line(clean_text(words[2] if is_script else shlex.join(words))).replace("\t", " ")
    args = {
        "command": clean_text(shlex.join(words)),
        "argv": clean_value(words),
        "cwd": clean_line(os.path.abspath(spec.cwd)),
        "pty": spec.pty,
    }
    return ToolUse(id, "Bash", native_name="exec", arg=cut_graphemes(shown, _ARG_AT_MOST), args=args, source="exec")
