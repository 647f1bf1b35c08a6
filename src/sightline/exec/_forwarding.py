"""Forwards every byte of a command to our own standard output and error, at the pace of their reader.

- The descriptors were given to us and others share them: they stay blocking, and a thread for each does the waiting.
- What is offered is taken. When more than a pipe or two is waiting, the command is not read any further until half of
  that has been written, so memory is bounded and nothing is lost.
- When the reader is gone (a closed pipe), `broken` is set, the owner is called once, and the rest is thrown away.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable

# A read may bring 1 MiB more on either side of it: below 4 MiB in any case.
_PAUSE_AT = 2 * 1024 * 1024


class OutputForwarder:
    """Made in the loop the command runs in. Standard output to `out_fd`, standard error to `err_fd`."""

    def __init__(self, out_fd: int, err_fd: int, *, on_broken: Callable[[], None] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_broken = on_broken
        self._has_reported = False
        self._writers = {"stdout": _Writer(out_fd, self._loop, self._broke)}
        self._writers["stderr"] = _Writer(err_fd, self._loop, self._broke)

    @property
    def broken(self) -> bool:
        return any(writer.broken for writer in self._writers.values())

    def offer(self, stream: str, data: bytes, resume: Callable[[], None]) -> bool:
        return self._writers[stream].offer(data, resume)

    async def close(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109, giving up is an answer, not an error
        """Wait until all is written, at most so long; whether it was."""
        for writer in self._writers.values():
            writer.close()
        try:
            async with asyncio.timeout(timeout):
                for writer in self._writers.values():
                    await writer.done.wait()
        except TimeoutError:
            return False
        return not self.broken

    def _broke(self) -> None:
        if not self._has_reported:
            self._has_reported = True
            if self._on_broken is not None:
                self._on_broken()


class _Writer:
    """One descriptor, one thread, started when there is something to write."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, on_broken: Callable[[], None]) -> None:
        self.broken = False
        self._fd = fd
        self._loop = loop
        self._on_broken = on_broken
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._resume: Callable[[], None] | None = None
        self._closing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.done = asyncio.Event()

    def offer(self, data: bytes, resume: Callable[[], None]) -> bool:
        with self._changed:
            if self.broken:
                return True
            self._queue.append(data)
            self._size += len(data)
            full = self._size > _PAUSE_AT
            if full:
                self._resume = resume
            self._changed.notify()
        if self._thread is None:
            # A daemon: the program must end also when the reader has stopped without closing.
            self._thread = threading.Thread(target=self._write_all, name="sightline-passing", daemon=True)
            self._thread.start()
        return not full

    def close(self) -> None:
        """Nothing more will be offered; `done` when all that was is written."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is None:
            self.done.set()

    def _write_all(self) -> None:
        try:
            while (data := self._next()) is not None:
                self._write(data)
        except OSError:
            self._give_up()
        self._call(self.done.set)

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            return self._queue.popleft() if self._queue else None

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._write_some(view) :]
        with self._changed:
            self._size -= len(data)
            resume = None
            if self._size <= _PAUSE_AT // 2:
                resume, self._resume = self._resume, None
        if resume is not None:
            self._call(resume)

    def _write_some(self, view: memoryview) -> int:
        try:
            return os.write(self._fd, view)
        except BlockingIOError:  # a process that shares it made it non-blocking
            import select

            poll = select.poll()
            poll.register(self._fd, select.POLLOUT)
            poll.poll()
            return 0

    def _give_up(self) -> None:
        with self._changed:
            self.broken = True
            self._queue.clear()
            self._size = 0
            resume, self._resume = self._resume, None
        if resume is not None:
            self._call(resume)
        self._call(self._on_broken)

    def _call(self, function: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # the loop is closed: there is no one to call
            return
