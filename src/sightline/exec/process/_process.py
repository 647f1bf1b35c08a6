"""One child process: its input written, its output read as it comes, its descendants ended with it.

Rules:

- It starts when the object is made, before there is an event loop, so that it boots while we are still importing.
- Never through a shell, in a session of its own, input and output on pipes of its own.
- Output is read only on demand, so a slow reader slows the child instead of filling our memory. Of stderr the end is
  stored and the rest dropped, at once, so that it never blocks the child.
- The end is the end of the process, not of its pipe: a grandchild may hold that open for ever. What the pipe still has
  is read, and then waited for only a moment.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sightline.exec.process import _guard, _marks, _orphans
from sightline.exec.sandbox._launching import Handover, trusted_environment

if TYPE_CHECKING:
    import asyncio

    from sightline.exec.process._pipes import ExitWatch

GRACE = 5.0  # seconds between SIGTERM and SIGKILL

_CHUNK = 256 * 1024
_STDERR_CAP = 64 * 1024
_DRAIN_SECONDS = 0.5
# The most a pipe can hold without privileges. After the wait is over, what still writes is not our process.
_PIPE_CAPACITY = 1024 * 1024


class Process:
    """A running child. Made anywhere; `read` and `end` need an event loop, always the same one."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        keep_stdin: bool = False,
        grace: float = GRACE,
        on_stderr: Callable[[bytes], None] | None = None,
        handover: Handover | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """`keep_stdin`: more will be written. `handover`: how a sandboxed program gets its environment."""
        self._grace = grace
        self._keep_stdin = keep_stdin
        self._mark = _marks.new_mark()
        environment = trusted_environment({**os.environ, **(env or {})})
        environment = _marks.marked_environment(environment, cwd, self._mark)
        if handover is not None:
            environment = handover.fill(environment)
        _orphans.adopt()  # before it starts: a shell can have made its first orphan within a millisecond
        with _guard.starting(self._mark), _marks.limit(self._mark):
            self._popen = subprocess.Popen(
                list(argv),
                bufsize=0,
                cwd=cwd or None,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=pass_fds if handover is None else (*pass_fds, handover.descriptor),
            )
        _guard.watch(self._mark, self._popen.pid)
        self._born = _orphans.run_started(self._popen.pid)
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._stdin, self._stdout, self._stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._unwritten = memoryview(stdin)
        self._stderr_tail = bytearray()
        self._on_stderr = on_stderr
        self._loop: asyncio.AbstractEventLoop | None = None
        self._exited: asyncio.Future[None] | None = None
        self._readable: asyncio.Future[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._exit_watch: ExitWatch | None = None
        self._draining_until: float | None = None
        self._late_bytes = _PIPE_CAPACITY
        self._write()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the signal's number when a signal ended it."""
        return self._popen.poll()

    @property
    def stderr(self) -> bytes:
        """The end of what it wrote there."""
        return bytes(self._stderr_tail[-_STDERR_CAP:])

    def write(self, data: bytes) -> None:
        """More for its input, which is still open. What it does not take at once is written as it takes it."""
        if self._stdin.closed:
            return
        self._unwritten = memoryview(bytes(self._unwritten) + data)
        self._write()

    async def read(self) -> bytes:
        """The next bytes of its output, as soon as there are any; nothing when it is over."""
        import asyncio

        self._attach()
        while True:
            try:
                chunk = os.read(self._stdout.fileno(), _CHUNK)
            except BlockingIOError:
                if not await self._more_may_come():
                    break
                continue
            if not chunk or not self._in_time(len(chunk)):
                break
            await asyncio.sleep(0)  # a child that never pauses must not block a cancellation
            return chunk
        await asyncio.shield(self._exit())
        self._read_stderr()
        return b""

    async def end(self) -> None:
        """End it and all its descendants: SIGTERM first, SIGKILL after the grace. Done when all are gone."""
        import asyncio

        self._attach()
        if self._ending is None:
            _orphans.run_ends(self._popen.pid)  # now: of several that are ended at once, none must hold up another
            self._ending = asyncio.get_running_loop().create_task(self._end())
        await asyncio.shield(self._ending)

    def close(self) -> None:
        """Release everything. The process must have ended. A second time does nothing."""
        if self._stdout.closed:
            return
        if self._loop is not None:
            for pipe in (self._stdout, self._stderr):
                self._loop.remove_reader(pipe.fileno())
            self._close_stdin()
        self._close_exit_watch()
        self._dismiss_guard()
        if self._popen.poll() is not None:
            _orphans.forget(self._popen.pid)
        _orphans.collect()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()

    def _attach(self) -> None:
        """From now on the event loop feeds it, empties its stderr and notices its end."""
        import asyncio

        from sightline.exec.process._pipes import ExitWatch

        if self._loop is not None:
            return
        self._loop = loop = asyncio.get_running_loop()
        self._exited = loop.create_future()
        if not self._stdin.closed and self._unwritten:
            loop.add_writer(self._stdin.fileno(), self._write)
        loop.add_reader(self._stderr.fileno(), self._read_stderr)
        self._exit_watch = ExitWatch(self._popen, self._on_exit)

    def _exit(self) -> "asyncio.Future[None]":
        assert self._exited is not None
        return self._exited

    def _on_exit(self) -> None:
        if self._popen.poll() is None or self._loop is None or self._exit().done():
            return
        self._close_exit_watch()
        self._exit().set_result(None)
        _orphans.run_ends(self._popen.pid)
        self._draining_until = self._loop.time() + _DRAIN_SECONDS
        self._loop.call_later(_DRAIN_SECONDS, self._wake)
        if self._ending is None:
            self._dismiss_guard()

    async def _more_may_come(self) -> bool:
        """Wait until there is something to read; false when the wait is over."""
        assert self._loop is not None
        if not self._in_time(0):
            return False
        fd = self._stdout.fileno()
        self._readable = self._loop.create_future()
        self._loop.add_reader(fd, self._wake)
        try:
            await self._readable
        finally:
            self._readable = None
            self._loop.remove_reader(fd)
        return True

    def _wake(self) -> None:
        if self._readable is not None and not self._readable.done():
            self._readable.set_result(None)

    def _in_time(self, size: int) -> bool:
        """Whether bytes read now can still be the process's own; after the wait only what its pipe held then."""
        if self._loop is None or self._draining_until is None or self._loop.time() < self._draining_until:
            return True
        self._late_bytes -= size
        return size > 0 and self._late_bytes >= 0

    def _write(self) -> None:
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self._stdin.fileno(), self._unwritten) :]
        except BlockingIOError:
            if self._loop is not None:
                self._loop.add_writer(self._stdin.fileno(), self._write)
            return
        except OSError:  # it reads no more
            self._close_stdin()
            return
        if not self._keep_stdin:
            self._close_stdin()
        elif self._loop is not None:
            self._loop.remove_writer(self._stdin.fileno())

    def _close_stdin(self) -> None:
        if not self._stdin.closed:
            if self._loop is not None:
                self._loop.remove_writer(self._stdin.fileno())
            self._stdin.close()

    def _read_stderr(self) -> None:
        """Take what there is, at most one pipe full, and store the end."""
        for _ in range(_PIPE_CAPACITY // _STDERR_CAP):
            try:
                chunk = os.read(self._stderr.fileno(), _STDERR_CAP)
            except BlockingIOError:
                return
            if not chunk:
                if self._loop is not None:
                    self._loop.remove_reader(self._stderr.fileno())
                return
            if self._on_stderr is not None:
                self._on_stderr(chunk)
            self._stderr_tail += chunk
            del self._stderr_tail[: -2 * _STDERR_CAP]

    async def _end(self) -> None:
        from sightline.exec.process._tree import ProcessTree, TreeEnd

        self._close_stdin()
        try:
            await TreeEnd(ProcessTree(self._popen.pid, self._mark, self._born), self._grace).run()
        finally:  # also when the program is shutting down and this task is cancelled
            self._collect()
            self._dismiss_guard()

    def _collect(self) -> None:
        try:
            self._popen.wait(1)
        except subprocess.TimeoutExpired:  # stuck in the kernel; it is noticed whenever it gets out
            pass
        _orphans.collect()

    def _dismiss_guard(self) -> None:
        _guard.unwatch(self._mark)

    def _close_exit_watch(self) -> None:
        if self._exit_watch is not None:
            self._exit_watch.close()
