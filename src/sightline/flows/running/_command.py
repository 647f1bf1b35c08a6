"""One attempt at a command step: the command runs, its output is shown as it comes, and it can be stopped."""

import asyncio
import time

from sightline.events import ToolResult, ToolUse
from sightline.exec import Process
from sightline.flows.running._nested import Nested
from sightline.flows.running._outcome import AttemptEnd, brief
from sightline.flows.running._shell import Invocation, command_line
from sightline.flows.running._written import ChildOutput
from sightline.providers import preview
from sightline.text import clean_text

_STDERR_AT_MOST = 64 * 1024  # characters, for the line that shows what went wrong


class CommandAttempt:
    """`run` it to its end; `stop` it and the processes it started."""

    def __init__(self, invocation: Invocation, nested: Nested, *, timeout: float | None, cwd: str) -> None:
        self._invocation = invocation
        self._nested = nested
        self._timeout = timeout
        self._cwd = cwd
        self._call = nested.id("run")
        self._stdout = ChildOutput(self._call, "stdout")
        self._stderr = ChildOutput(self._call, "stderr", _STDERR_AT_MOST)
        self._offset = 0
        self._process: Process | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._timed_out = False

    async def run(self) -> AttemptEnd:
        args = {"command": clean_text(self._invocation.shown)}
        arg = preview({"command": command_line(args["command"])})
        use = ToolUse(self._call, "Bash", native_name="run", arg=arg, args=args)
        self._nested.publish(use)
        began = time.monotonic()
        ended = await self._started()
        self._nested.publish(
            ToolResult(
                self._call,
                ended.problem,
                is_error=ended.exit_code != 0,
                exit_code=ended.exit_code,
                duration=time.monotonic() - began,
            )
        )
        return ended

    async def stop(self) -> None:
        if self._process is not None:
            await self._process.end()

    async def _started(self) -> AttemptEnd:
        invocation = self._invocation
        try:
            self._process = Process(invocation.argv, cwd=self._cwd, env=invocation.env, on_stderr=self._on_stderr)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return AttemptEnd(
                exit_code=127, problem=f"cannot start {invocation.argv[0]}: {reason}", hint="check its name"
            )
        expiry = self._set_alarm()
        try:
            await self._read(self._process)
            if self._stopping is not None:
                await self._stopping
            return self._ended(self._process.exit_code)
        finally:
            if expiry is not None:
                expiry.cancel()
            if self._process.exit_code is None:
                await self._process.end()
            self._process.close()

    def _set_alarm(self) -> asyncio.TimerHandle | None:
        if self._timeout is None:
            return None
        return asyncio.get_running_loop().call_later(self._timeout, self._expire)

    def _expire(self) -> None:
        """Time is up. Reading continues to the end of what the command wrote before it was stopped."""
        if self._process is None or self._process.exit_code is not None:
            return
        self._timed_out = True
        self._stopping = asyncio.get_running_loop().create_task(self.stop())

    async def _read(self, process: Process) -> None:
        while chunk := await process.read():
            events = self._stdout.feed(chunk, self._offset)
            self._offset += len(chunk)
            await self._nested.put(events)
        self._nested.publish(*self._stdout.end(self._offset), *self._stderr.end(self._offset))

    def _on_stderr(self, chunk: bytes) -> None:
        """Called whenever there is some; stderr never waits for the reader, so what finds no room is only counted."""
        if self._nested.is_behind:
            self._stderr.drop(chunk)
        else:
            self._nested.publish(*self._stderr.feed(chunk, self._offset))
        self._offset += len(chunk)

    def _ended(self, native: int | None) -> AttemptEnd:
        output, cut = self._stdout.text, self._stdout.cut
        if self._timed_out:
            return AttemptEnd(exit_code=124, output=output, problem=f"timed out after {self._timeout:g} s", cut=cut)
        code = 1 if native is None else native if native >= 0 else 128 - native
        if code == 0:
            return AttemptEnd(exit_code=0, output=output, cut=cut)
        reason = brief(self._stderr.text)
        problem = f"exit code {code}: {reason}" if reason else f"exit code {code}"
        return AttemptEnd(exit_code=code, output=output, problem=problem, cut=cut)
