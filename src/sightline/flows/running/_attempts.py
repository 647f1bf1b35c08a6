"""Attempts at steps: a provider that works on a prompt, or a command.

With `output_format: json`, or a provider without a source, its own lines pass through unread: they are shown as the
output of a call, and they are the step's output.
"""

import asyncio
import time
from collections.abc import Callable

from sightline.events import ToolResult, ToolUse
from sightline.exceptions import OutsideFailure, SightlineError
from sightline.exec import Process
from sightline.flows.file._model import AgentStep, CommandStep
from sightline.flows.file._template import Template, Values, render
from sightline.flows.running._nested import Nested
from sightline.flows.running._outcome import OUTPUT_CAP, AttemptEnd, brief
from sightline.flows.running._shell import Invocation, ShellCommand, argv_invocation, command_line, shell_invocation
from sightline.flows.running._written import ChildOutput
from sightline.providers import (
    REFUSED_EXIT_CODE,
    Provider,
    ProviderOutcome,
    ProviderPrompt,
    Run,
    get_provider,
    preview,
    start_run,
)
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


_REFUSED = "a permission was refused"


class AgentAttempt:
    """`run` it to its end; `stop` it and the processes it started."""

    def __init__(self, provider: Provider, ask: ProviderPrompt, nested: Nested) -> None:
        self._provider = provider
        self._ask = ask
        self._nested = nested
        self._run: Run | None = None
        self._lines: ChildOutput | None = None  # where its own lines pass

    async def run(self) -> AttemptEnd:
        try:
            self._run = start_run(self._provider, self._ask)
            if self._ask.raw:
                await self._pass_lines(self._run)
            else:
                async for batch in self._run.events():
                    await self._nested.relay(batch)
        except SightlineError as error:
            return AttemptEnd(exit_code=1, problem=error.message, hint=error.hint)
        return self._ended(self._run.outcome)

    async def stop(self) -> None:
        if self._run is not None:
            await self._run.cancel()

    async def _pass_lines(self, run: Run) -> None:
        call, name = self._nested.id("lines"), self._provider.name
        arg = preview({"prompt": self._ask.prompt})
        self._nested.publish(ToolUse(call, name, native_name=name, arg=arg))
        written = self._lines = ChildOutput(call, "stdout")
        offset = 0
        async for chunk in run.raw():
            await self._nested.put(written.feed(chunk, offset))
            offset += len(chunk)
        code = run.outcome.exit_code
        self._nested.publish(*written.end(offset), ToolResult(call, is_error=code != 0, exit_code=code))

    def _ended(self, outcome: ProviderOutcome) -> AttemptEnd:
        lines, words = self._lines, outcome.text
        output = words[:OUTPUT_CAP].rstrip("\n") if lines is None else lines.text
        cut = len(words) > OUTPUT_CAP if lines is None else lines.cut
        if outcome.exit_code == 0:
            return AttemptEnd(exit_code=0, output=output, cut=cut)
        error, code = outcome.error, outcome.exit_code
        # Where its events pass, the error was one of them; where only lines pass, it is still to be shown.
        hint = error.hint if error is not None and lines is not None else ""
        problem = brief(error.text) if error is not None else _REFUSED if code == REFUSED_EXIT_CODE else ""
        return AttemptEnd(exit_code=code, output=output, problem=problem or f"exit code {code}", hint=hint, cut=cut)


NATIVE = "native"

Attempt = AgentAttempt | CommandAttempt
OwnAgent = Callable[[ProviderPrompt], Run]  # one prompt for our own agent, whose room is above this one


def prepare(
    step: AgentStep | CommandStep, values: Values, nested: Nested, cwd: str, own_agent: OwnAgent | None = None
) -> Attempt:
    """`OutsideFailure` when a path leads nowhere or a value does not fit where it is to go."""
    if isinstance(step, CommandStep):
        return CommandAttempt(_invocation(step, values), nested, timeout=step.timeout, cwd=cwd)
    prompt = render(step.prompt, values)
    if not prompt.strip():
        raise OutsideFailure("the prompt is empty", "check the values it is made of")
    provider = _own(own_agent) if step.provider == NATIVE else get_provider(step.provider)
    ask = ProviderPrompt(
        prompt=prompt,
        model=render(step.model, values),
        cwd=cwd,
        timeout=step.timeout,
        approval=step.approval,
        options={name: _rendered(value, values) for name, value in step.options.items()},
        raw=step.output_format == "json" or (provider.source is None and step.provider != NATIVE),
    )
    return AgentAttempt(provider, ask, nested)


def _own(own_agent: OwnAgent | None) -> Provider:
    if own_agent is None:
        raise OutsideFailure("sightline's own agent cannot run here", "run the flow with `sightline flow run`")
    return Provider(name=NATIVE, title="Sightline", source=None, start=own_agent)


def _invocation(step: CommandStep, values: Values) -> Invocation:
    if isinstance(step.run, ShellCommand):
        return shell_invocation(step.run, values)
    return argv_invocation(step.run, values)


def _rendered(value: object, values: Values) -> object:
    """A plain value with its templates filled in."""
    match value:
        case Template():
            return render(value, values)
        case dict():
            return {key: _rendered(item, values) for key, item in value.items()}
        case list():
            return [_rendered(item, values) for item in value]
        case _:
            return value
