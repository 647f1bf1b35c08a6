"""The process that cells are run in, as we see it: code goes in, its output and then an answer come out.

Its answers come through a pipe of their own, after all the cell wrote: what is in the other pipes then is the cell's.
Its end is the end of the process, not of a pipe, which something it forked may hold open.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping

import msgspec

from sightline.exec.cells import _child as _cell_child
from sightline.exec.process import _guard, _orphans
from sightline.exec.process._pipes import PIPE_CAPACITY, ExitWatch, Output
from sightline.exec.process._spawn import CannotStart, Spawned, spawn
from sightline.exec.process._tree import ProcessTree, TreeEnd
from sightline.exec.sandbox._programs import UntrustedProgram, find_program, is_trusted
from sightline.text import clean_line

_SECONDS_TO_DIE = 1.0


class CellAnswer(msgspec.Struct, frozen=True):
    ended: str  # ok, error, interrupted or exit
    code: int  # as a process's exit code


class CellProcess:
    """A running cell process: code in, its output and an answer out."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.hurry = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        its_requests, requests = os.pipe()
        answers, its_answers = os.pipe()
        try:
            argv = [python(env), "-u", _cell_child.__file__, str(its_requests), str(its_answers)]
            self._spawned: Spawned = spawn(argv, cwd=cwd, env=env, pass_fds=(its_requests, its_answers))
        except BaseException:
            os.close(requests)
            os.close(answers)
            raise
        finally:
            os.close(its_requests)
            os.close(its_answers)
        self._requests, self._answers = requests, answers
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)
        self._take: Callable[[str, bytes], None] = lambda stream, data: None
        self._outputs = [Output(stream, fd, self._on_read) for stream, fd in self._spawned.outputs.items()]
        for output in self._outputs:
            output.pause()
        self._ending: asyncio.Task[None] | None = None
        self._in_use = asyncio.Lock()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._exit_watch = ExitWatch(self._spawned.process, self._on_exit)

    @property
    def exit_code(self) -> int | None:
        return self._spawned.process.poll()

    @property
    def is_gone(self) -> bool:
        return self.exit_code is not None or self._ending is not None

    async def run(self, code: str, take: Callable[[str, bytes], None]) -> CellAnswer | None:
        """The answer to a cell; None when the process ended instead."""
        async with self._in_use:
            self._take = take
            for output in self._outputs:
                output.resume()
            try:
                await self._send(msgspec.json.encode({"code": code}) + b"\n")
                line = await self._answer()
            except OSError:
                line = b""
            if not line:  # how it ended is known a moment after its pipe is closed
                await asyncio.wait([self._gone], timeout=_SECONDS_TO_DIE)
            self._drain()
        try:
            return msgspec.json.decode(line, type=CellAnswer) if line else None
        except msgspec.MsgspecError:  # a cell wrote into our pipe: its answers cannot be told apart any more
            return None

    def interrupt(self) -> None:
        """What a cell started is in the same group, and is interrupted as it would be at a terminal."""
        try:
            os.killpg(self._spawned.process.pid, signal.SIGINT)
        except ProcessLookupError:
            pass

    async def end(self, *, now: bool = False) -> None:
        if self._ending is None:
            self._ending = self._loop.create_task(self._end(0.0 if now else 1.0))
        await asyncio.shield(self._ending)

    async def _end(self, grace: float) -> None:
        process = self._spawned.process
        _orphans.run_ends(process.pid)
        try:
            await TreeEnd(ProcessTree(process.pid, self._spawned.mark, self._spawned.born), grace).run()
        finally:
            _guard.unwatch(self._spawned.mark)
            process.poll()
            _orphans.forget(process.pid)
            _orphans.collect()
            self._on_exit()

    async def close(self) -> None:
        """After its end: close the pipes, once they are no longer read."""
        async with self._in_use:
            os.close(self._requests)
            os.close(self._answers)
            for output in self._outputs:
                output.close()

    def _on_exit(self) -> None:
        self._spawned.process.poll()
        self._exit_watch.close()
        _done(self._gone)

    async def _send(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._requests, data) :]
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer, self._requests)
                if self._gone.done():
                    raise

    async def _answer(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            await self._ready(self._loop.add_reader, self._loop.remove_reader, self._answers)
            try:
                chunk = os.read(self._answers, 4096)
            except BlockingIOError:  # it is gone, and something it forked holds the pipe
                chunk = b""
            if not chunk:
                return b""
            line += chunk
        return line

    async def _ready(self, add: Callable[..., None], remove: Callable[[int], object], fd: int) -> None:
        """Until a descriptor can be read, or written, or the process is gone."""
        ready: asyncio.Future[None] = self._loop.create_future()
        add(fd, _done, ready)
        try:
            await asyncio.wait([ready, self._gone], return_when="FIRST_COMPLETED")
        finally:
            remove(fd)

    def _drain(self) -> None:
        """What the cell wrote is in the pipes when it answers; what comes later is the next one's."""
        for output in self._outputs:
            left = PIPE_CAPACITY
            while left > 0 and (size := output.read()):
                left -= size
            self._take(output.stream, output.release())
            output.pause()

    def _on_read(self, output: Output, data: bytes) -> None:
        self._take(output.stream, output.whole(data, self._loop.time()) if data else output.release())


def _done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def python(env: Mapping[str, str]) -> str:
    """The user's Python: of the environment that is active, else the first that is in no workspace, else our own.

    An active environment is used where it is: a cell is the user's own, as a line in their shell. Its interpreter
    must be a link to one outside the workspace, or our own: any other may have been put there by a command."""
    active = os.path.join(env.get("VIRTUAL_ENV", ""), "bin", "python")
    if env.get("VIRTUAL_ENV") and os.access(active, os.X_OK):
        real = os.path.realpath(active)
        if not is_trusted(real) and real != os.path.realpath(sys.executable):
            raise CannotStart(
                126,
                f"Python is not run from {clean_line(real)}: the agent's commands can write there",
                "make the environment with links (python -m venv --symlinks), or deactivate it",
            )
        return active
    try:
        return find_program("python3", env.get("PATH", os.defpath)) or sys.executable
    except UntrustedProgram:
        return sys.executable
