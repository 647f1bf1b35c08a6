"""Attempts at steps: a command, the lines of a provider, or an agent of the session.

Rules:

- A command and the lines of a provider are calls of the step's own actor. An agent is one of the session's directory,
  which is a room above this one: `StepAgents` starts it.
- With `output_format: json`, or a provider without a source, its own lines pass through unread: they are shown as the
  output of a call, and they are the step's output.
- What later steps can use of a command is what it wrote, not what is shown of it: that is without secrets.
"""

import asyncio
import codecs
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from sightline.actors import Actor, RunningCommand
from sightline.events import ToolResult, ToolUse, call_ending
from sightline.exceptions import OutsideFailure, SightlineError
from sightline.exec import CommandSpec
from sightline.flows.file._model import NATIVE, AgentStep, CommandStep
from sightline.flows.file._template import Template, Values, render
from sightline.flows.running._outcome import OUTPUT_CAP, AttemptEnd, brief
from sightline.flows.running._shell import Invocation, ShellCommand, argv_invocation, command_line, shell_invocation
from sightline.journal import ArtifactReader
from sightline.providers import (
    REFUSED_EXIT_CODE,
    Approval,
    Provider,
    ProviderPrompt,
    Run,
    get_provider,
    preview,
    start_run,
)
from sightline.text import StreamFilter, clean_text

_STDERR_AT_MOST = 64 * 1024  # bytes, for the line that shows what went wrong
_BYTES_AT_MOST = 4 * OUTPUT_CAP  # no character has more
_REFUSED = "a permission was refused"

OwnAgent = Callable[[ProviderPrompt], Run]  # one prompt for our own agent, whose room is above this one


class PreparedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command with all its values."""

    invocation: Invocation
    cwd: str
    timeout: float | None

    @property
    def shown(self) -> str:
        return command_line(self.invocation.shown)


class PreparedLines(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt for a provider whose lines pass unread."""

    provider: Provider
    ask: ProviderPrompt

    @property
    def shown(self) -> str:
        return self.ask.prompt


class StepTask(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent of the session is to do for a step."""

    prompt: str
    name: str = ""  # of the agent
    description: str = ""  # one line
    call: str = ""  # of the flow, which starts it
    agent: str = ""  # a definition; empty: the provider as it is
    provider: str = ""  # `native`: our own agent
    model: str = ""
    approval: Approval | None = None  # None: as the definition or the settings have it
    cwd: str = ""
    timeout: float | None = None
    options: dict[str, object] = {}

    @property
    def shown(self) -> str:
        return self.prompt


Prepared = PreparedCommand | PreparedLines | StepTask


class Attempt(Protocol):
    async def run(self) -> AttemptEnd: ...

    async def stop(self) -> None:
        """End it and the processes it started."""

    @property
    def actor(self) -> Actor | None:
        """Who does it; None: it could not be started."""


StepAgents = Callable[[StepTask], Attempt]


class CommandAttempt:
    """A command of a step."""

    def __init__(self, prepared: PreparedCommand, actor: Actor) -> None:
        self._actor = actor
        self._prepared = prepared
        self.call = actor.new_call()
        self._command: RunningCommand | None = None
        self._stopped = False

    @property
    def actor(self) -> Actor:
        return self._actor

    async def run(self) -> AttemptEnd:
        invocation, shown = self._prepared.invocation, clean_text(self._prepared.invocation.shown)
        arg = preview({"command": command_line(shown)})
        self.actor.publish(ToolUse(self.call, "Bash", native_name="run", arg=arg, args={"command": shown}))
        spec = CommandSpec(
            argv=tuple(invocation.argv),
            cwd=self._prepared.cwd,
            env={**os.environ, **invocation.env},
            timeout=self._prepared.timeout,
        )
        self._command = self.actor.start(self.call, spec)
        if self._stopped:
            self._command.cancel()
        result = await self._command.wait()
        ended = await asyncio.to_thread(_ended, result, self.actor.log.read_artifact(self.call))
        self.actor.publish(
            ToolResult(
                self.call,
                ended.problem,
                result.details,
                is_error=ended.exit_code != 0,
                exit_code=ended.exit_code,
                duration=result.duration,
            )
        )
        return ended

    async def stop(self) -> None:
        self.stop_soon()

    def stop_soon(self) -> None:
        self._stopped = True
        if self._command is not None:
            self._command.cancel()


def _ended(result: ToolResult, written: ArtifactReader) -> AttemptEnd:
    output, cut = _output_of(written)
    code, ending = 1 if result.exit_code is None else result.exit_code, call_ending(result.details)
    if ending.ended == "spawn":
        return AttemptEnd(exit_code=code, problem=ending.problem, hint=ending.hint or "check its name")
    if ending.ended == "timeout":
        return AttemptEnd(exit_code=code, output=output, problem=result.content, cut=cut)
    if code == 0:
        return AttemptEnd(exit_code=0, output=output, cut=cut)
    reason = brief(clean_text(_stream(written, "stderr", _STDERR_AT_MOST).decode("utf-8", "replace")))
    problem = f"exit code {code}: {reason}" if reason else f"exit code {code}"
    return AttemptEnd(exit_code=code, output=output, problem=problem, cut=cut)


def _output_of(written: ArtifactReader) -> tuple[str, bool]:
    """The beginning of standard output, without newlines at its end; and whether there is more."""
    text = clean_text(_stream(written, "stdout", _BYTES_AT_MOST).decode("utf-8", "replace"))
    return text[:OUTPUT_CAP].rstrip("\n"), len(text) > OUTPUT_CAP


def _stream(written: ArtifactReader, stream: str, most: int) -> bytes:
    parts, room = [], most
    for run in written.streams(0, written.size):
        if run.stream == stream and room > 0:
            parts.append(written.read_raw(run.offset, min(run.size, room)))
            room -= len(parts[-1])
    return b"".join(parts)


class LinesAttempt:
    """A provider whose own lines pass unread: they are the output of a call."""

    def __init__(self, prepared: PreparedLines, actor: Actor) -> None:
        self._actor = actor
        self._provider = prepared.provider
        self._ask = prepared.ask
        self._run: Run | None = None
        self._text: list[str] = []
        self._room = OUTPUT_CAP
        self._cut = False

    @property
    def actor(self) -> Actor:
        return self._actor

    async def run(self) -> AttemptEnd:
        call, name = self.actor.new_call(), self._provider.name
        self.actor.publish(ToolUse(call, name, native_name=name, arg=preview({"prompt": self._ask.prompt})))
        try:
            self._run = start_run(self._provider, self._ask)
            await self._pass_lines(self._run, call)
        except SightlineError as error:
            self.actor.publish(ToolResult(call, error.message, is_error=True, exit_code=1))
            return AttemptEnd(exit_code=1, problem=error.message, hint=error.hint)
        ended = self._ended(self._run)
        self.actor.publish(ToolResult(call, "", is_error=ended.exit_code != 0, exit_code=ended.exit_code))
        return ended

    async def stop(self) -> None:
        if self._run is not None:
            await self._run.cancel()

    async def _pass_lines(self, run: Run, call: str) -> None:
        decoder, cleaned = codecs.getincrementaldecoder("utf-8")("replace"), StreamFilter()
        async for chunk in run.raw():
            self._show(call, cleaned.feed(decoder.decode(chunk)))
        self._show(call, cleaned.feed(decoder.decode(b"", final=True)) + cleaned.end())

    def _show(self, call: str, text: str) -> None:
        if text:
            self.actor.output(call)(text, "stdout")
        self._cut |= len(text) > self._room
        self._text.append(text[: self._room])
        self._room = max(0, self._room - len(text))

    def _ended(self, run: Run) -> AttemptEnd:
        output, outcome = "".join(self._text).rstrip("\n"), run.outcome
        error, code = outcome.error, outcome.exit_code
        if code == 0:
            return AttemptEnd(exit_code=0, output=output, cut=self._cut)
        problem = brief(error.text) if error is not None else _REFUSED if code == REFUSED_EXIT_CODE else ""
        hint = error.hint if error is not None else ""
        return AttemptEnd(
            exit_code=code, output=output, problem=problem or f"exit code {code}", hint=hint, cut=self._cut
        )


def prepare(step: AgentStep | CommandStep, values: Values, cwd: str, own_agent: OwnAgent) -> Prepared:
    """`OutsideFailure` when a path leads nowhere or a value does not fit where it is to go."""
    cwd = _folder_of(step, values, cwd)
    if isinstance(step, CommandStep):
        return PreparedCommand(invocation=_invocation(step, values), cwd=cwd, timeout=step.timeout)
    prompt, model = render(step.prompt, values), render(step.model, values)
    if not prompt.strip():
        raise OutsideFailure("the prompt is empty", "check the values it is made of")
    options = {name: _rendered(value, values) for name, value in step.options.items()}
    if not _passes_lines(step):
        return StepTask(
            prompt=prompt,
            agent=step.agent,
            provider=step.provider,
            model=model,
            approval=step.approval,
            cwd=cwd,
            timeout=step.timeout,
            options=options,
        )
    provider = get_provider(step.provider) if step.provider != NATIVE else _own(own_agent)
    ask = ProviderPrompt(
        prompt=prompt,
        model=model,
        cwd=cwd,
        timeout=step.timeout,
        approval=step.approval or "auto",
        options=options,
        raw=True,
    )
    return PreparedLines(provider=provider, ask=ask)


def _folder_of(step: AgentStep | CommandStep, values: Values, cwd: str) -> str:
    """Where a step works: its `cwd`, relative to the folder the flow was started in."""
    folder = Path(cwd, render(step.cwd, values))
    if not folder.is_dir():
        raise OutsideFailure(f"there is no folder {folder}", "check the cwd of the step")
    return str(folder)


def _passes_lines(step: AgentStep) -> bool:
    if step.output_format == "json":
        return True
    return bool(step.provider) and step.provider != NATIVE and get_provider(step.provider).source is None


def _own(own_agent: OwnAgent) -> Provider:
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
