"""Running a provider's CLI: one prompt in, its events or its own lines out, and an outcome.

Rules:

- The first event has the approval level it runs under; the last is `run_ended`, the source's own or ours.
- A failure is one `error` with a hint, never an exception: also when the CLI is missing, prints only to stderr, or
  exits as if all were well without the line its output ends with.
- Cancelling is not a failure: the text so far remains, calls that were open stay open, and the whole process tree ends.
  Giving up the iteration, by closing it or by cancelling the task it runs in, cancels the run.
- The CLI gets the flags of its provider's module and no others; only an approval level that the user chose adds some.

What explains a failure is imported when there is one: a healthy run does not pay for it.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from msgspec.structs import replace

import sightline.events as ev
from sightline.events import Error, Event, RunEnded, RunStarted, Text, ToolResult, ToolUse, Unknown
from sightline.events.stamping import of_source
from sightline.exec import GRACE, Process, UntrustedProgram
from sightline.providers._binary import binary_words
from sightline.providers._provider import (
    REFUSED_EXIT_CODE,
    CommandLine,
    Provider,
    ProviderOutcome,
    ProviderPrompt,
    ProviderWords,
    Run,
    is_refusal,
)
from sightline.providers._stream import EventStream
from sightline.text import clean_line, clean_text

if TYPE_CHECKING:
    import asyncio

_CALLS_AT_MOST = 1024
_UNREAD_LINES = 8
_UNREAD_LENGTH = 4096

_PASSED_THROUGH_AT_MOST = 1024 * 1024


def start_run(provider: Provider, ask: ProviderPrompt, *, grace: float = GRACE) -> Run:
    """Start working on a prompt. A CLI boots from here on: call this before importing what only the view needs."""
    if provider.start is not None:
        return provider.start(ask)
    if provider.command is None:
        raise ValueError(f"{provider.name} can be viewed but not run: it has neither a command nor a start function")
    return CliRun(provider, provider.command, ask, grace=grace)


class CliRun:
    """One prompt being worked on by a CLI."""

    def __init__(self, provider: Provider, command: CommandLine, ask: ProviderPrompt, *, grace: float = GRACE) -> None:
        self._provider = provider
        self._command = command
        self._ask = ask
        self._process: Process | None = None
        self._not_started: Error | None = None
        self._refused = False  # this CLI does not support the request, and nothing was run
        self._reported: Error | None = None  # by the source
        self._session = ""
        self._calls: dict[str, str] = {}  # that are open, in a few words
        self._forbidden = False  # one of its calls was not allowed
        self._log_rest = b""
        self._logged: list[Event] = []
        self._log_ready: asyncio.Event | None = None
        self._reading: asyncio.Task[bytes] | None = None
        self._words = ProviderWords()
        self._passed_through = bytearray()  # the beginning, of a provider without a source
        self._unread: list[str] = []  # the last lines its source could not read
        self._ends_unread = False  # the last one of all is among them, and whole
        self._is_read = False  # by a source, which knows the line that ends a run
        self._output_end = b""  # where there is no source to read it
        self._ended: RunEnded | None = None  # the source's own word on it
        self._cancelled = self._timed_out = False
        self._started = time.monotonic()
        self._alarm: asyncio.TimerHandle | None = None
        self._timing_out: asyncio.Task[None] | None = None
        self._outcome: ProviderOutcome | None = None
        known_approval = ask.approval == "auto" or ask.approval in command.approvals
        if known_approval and ask.options.keys() <= command.options:
            self._start(grace)
        else:
            from sightline.providers.running import _explain

            self._refused = True
            self._not_started = _explain.unsupported(provider, command, ask)

    @property
    def is_started(self) -> bool:
        """Whether there was a program to start, which takes the request. It may have ended since."""
        return self._process is not None

    @property
    def outcome(self) -> ProviderOutcome:
        if self._outcome is None:
            raise RuntimeError("a run has no outcome before its events or its bytes were read to the end")
        return self._outcome

    async def events(self) -> AsyncGenerator[list[Event], None]:
        async with aclosing(self._batches()) as batches:
            async for batch in batches:
                yield of_source(self._provider.name, batch)

    async def _batches(self) -> AsyncGenerator[list[Event], None]:
        source = self._provider.source
        stream = None if source is None else EventStream(source())
        self._is_read = stream is not None
        try:
            if self._process is not None:
                yield self._opening_events()
            while chunk := await self._read_or_log():
                if self._logged:
                    yield self._take_logged()
                if not isinstance(chunk, bytes):
                    continue
                if stream is None:
                    self._passed_through += chunk[: _PASSED_THROUGH_AT_MOST - len(self._passed_through)]
                    self._output_end = _last(self._output_end, chunk)
                elif events := self._seen(stream.feed(chunk)):
                    yield events
            yield [*self._take_logged(), *self._closing_events([] if stream is None else stream.end())]
        finally:
            await self._close()

    async def raw(self) -> AsyncGenerator[bytes, None]:
        try:
            while chunk := await self._read():
                self._output_end = _last(self._output_end, chunk)
                yield chunk
            self._finish()
        finally:
            await self._close()

    async def cancel(self) -> None:
        """End the run and everything it started. Returns when all of it is gone; may be called again."""
        process = self._process
        if process is None or self._outcome is not None:
            return
        if process.exit_code is None and not self._timed_out:
            self._cancelled = True
        if self._cancelled or self._timed_out:
            await process.end()

    def _start(self, grace: float) -> None:
        ask, command = self._ask, self._command
        try:
            self._process = Process(
                [*ask.entering, *binary_words(command.binary, ask.cwd, ask.env), *command.arguments(ask)],
                cwd=ask.cwd,
                env={**ask.env, **(command.environment(ask) if command.environment is not None else {})},
                stdin=_encoded(ask.prompt),
                grace=grace,
                on_stderr=self._on_stderr if command.log_line is not None else None,
            )
        except UntrustedProgram as refused:
            self._not_started = Error(clean_text(refused.message), refused.hint)
        except (OSError, ValueError) as problem:
            from sightline.providers.running import _explain

            self._not_started = _explain.not_started(self._provider, command, ask, problem)

    async def _read(self) -> bytes:
        if self._process is None:
            return b""
        if self._alarm is None and self._ask.timeout is not None:
            import asyncio

            left = self._started + self._ask.timeout - time.monotonic()
            self._alarm = asyncio.get_running_loop().call_later(left, self._time_is_up)
        return await self._process.read()

    async def _read_or_log(self) -> "bytes | bool":
        """More of its output; True when its log has an event meanwhile."""
        if self._command.log_line is None:
            return await self._read()
        import asyncio

        self._reading = self._reading or asyncio.ensure_future(self._read())
        self._log_ready = self._log_ready or asyncio.Event()
        waiting = asyncio.ensure_future(self._log_ready.wait())
        try:
            await asyncio.wait([self._reading, waiting], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not self._reading.done():
            return True
        chunk, self._reading = self._reading.result(), None
        return chunk

    def _on_stderr(self, chunk: bytes) -> None:
        """Collect the lines of its log that are to be shown."""
        assert self._command.log_line is not None
        lines = (self._log_rest + chunk).split(b"\n")
        self._log_rest = lines.pop()[-_UNREAD_LENGTH:]
        for line in lines:
            shown = self._command.log_line(line.decode("utf-8", "replace"))
            if shown:
                self._logged.append(ev.Notice(clean_line(shown), "warning"))
                self._logged.append(ev.RetryState(clean_line(shown)).as_state())
        if self._logged and self._log_ready is not None:
            self._log_ready.set()

    def _take_logged(self) -> list[Event]:
        if self._log_ready is not None:
            self._log_ready.clear()
        logged, self._logged = self._logged[-_CALLS_AT_MOST:], []
        return logged

    def _without_log(self, stderr: str) -> str:
        log_line = self._command.log_line
        if log_line is None:
            return stderr
        return "\n".join([line for line in stderr.split("\n") if log_line(line) is None])

    def _time_is_up(self) -> None:
        import asyncio

        assert self._process is not None
        if self._process.exit_code is None and not self._cancelled:
            self._timed_out = True
            self._timing_out = asyncio.get_running_loop().create_task(self._process.end())

    def _opening_events(self) -> list[Event]:
        level = self._ask.approval
        flags = list(self._command.approvals.get(level, ()))
        events: list[Event] = [ev.ApprovalState(level, flags).as_state()]
        if self._provider.source is None:
            events.append(RunStarted(model=clean_line(self._ask.model), cwd=clean_line(self._ask.cwd)))
        return events

    def _seen(self, events: list[Event]) -> list[Event]:
        """The same events, noted: the words, the session, whether it ended; a hint for an error that has none."""
        added: list[Event] = []
        if events:
            self._ends_unread = isinstance(events[-1], Unknown) and events[-1].raw.rstrip().endswith("}")
        for index, event in enumerate(events):
            if isinstance(event, Text):
                self._words.add(event)
            elif isinstance(event, Error):
                from sightline.providers.running import _explain

                events[index] = self._reported = _explain.with_hint(event, self._command)
            elif isinstance(event, Unknown):
                self._unread = [*self._unread[1 - _UNREAD_LINES :], event.raw[:_UNREAD_LENGTH]]
            elif isinstance(event, RunStarted):
                self._ended = None
                if event.session and event.session != self._session:
                    self._session = event.session
                    added += self._other_session()
            elif isinstance(event, ToolUse):
                self._calls[event.id] = clean_line(f"{event.name} {event.arg}").rstrip()
                if len(self._calls) > _CALLS_AT_MOST:
                    del self._calls[next(iter(self._calls))]
            elif isinstance(event, ToolResult):
                call = self._calls.pop(event.id, "")
                if event.details is not None and is_refusal(event):
                    self._forbidden = True
                    added.append(ev.Notice(f"refused: {call or 'a call'}", "warning"))
            elif isinstance(event, RunEnded):
                self._ended = event
                self._forbidden = self._forbidden or is_refusal(event)
        if not added:
            return events
        ends = isinstance(events[-1], RunEnded)  # which is the last of a run
        return [*events[:-1], *added, events[-1]] if ends else events + added

    def _other_session(self) -> list[Event]:
        """Some CLIs begin a new conversation when they do not find the one to resume, and do not report it."""
        if self._ask.resume in ("", self._session):
            return []
        text = f"session {self._ask.resume} could not be resumed: this is session {self._session}"
        return [ev.Notice(clean_line(text), "warning", "check the session id")]

    def _closing_events(self, held_back: list[Event]) -> list[Event]:
        """What the source still had, then what only we know: why it failed, and that it is over."""
        ended_before = self._ended
        events: list[Event] = [event for event in self._seen(held_back) if not isinstance(event, RunEnded)]
        outcome = self._finish()
        if outcome.error is not None and outcome.error is not self._reported:
            events.append(outcome.error)
        if ended_before is None:
            events.append(self._run_ended(outcome))
        return events

    def _run_ended(self, outcome: ProviderOutcome) -> RunEnded:
        """The source's last word, corrected by what it cannot know."""
        ended = self._ended or RunEnded()
        is_error = ended.is_error or outcome.error is not None
        if outcome.cancelled or outcome.timed_out:
            reason = "cancelled" if outcome.cancelled else "timeout"
            return replace(ended, stop_reason=reason, is_error=is_error, exit_code=outcome.exit_code)
        return replace(ended, is_error=is_error, exit_code=outcome.native_exit_code)

    def _finish(self) -> ProviderOutcome:
        process = self._process
        native = None if process is None else process.exit_code
        stderr = "" if process is None else clean_text(process.stderr.decode("utf-8", "replace"))
        stderr = self._without_log(stderr)
        error = None if self._cancelled else self._failure(native, stderr)
        failed = error is not None or (self._ended is not None and self._ended.is_error)
        self._outcome = ProviderOutcome(
            exit_code=self._exit_code(failed),
            session=self._session,
            text=self._words.text or clean_text(self._passed_through.decode("utf-8", "replace")),
            left_out=self._words.left_out,
            native_exit_code=native,
            stderr=stderr,
            timed_out=self._timed_out,
            cancelled=self._cancelled,
            error=error,
        )
        return self._outcome

    def _exit_code(self, failed: bool) -> int:
        if self._timed_out or self._cancelled:
            return 124 if self._timed_out else 130
        return 2 if self._refused else 1 if failed else REFUSED_EXIT_CODE if self._forbidden else 0

    def _failure(self, native: int | None, stderr: str) -> Error | None:
        if self._timed_out:
            text = f"timed out after {self._ask.timeout:g} s"
            return Error(text, "allow more time, or ask for less at once")
        if native is None:
            return self._not_started
        if native == 0 and not self._ended_early:
            return None
        if self._reported is not None:
            return self._reported
        if native == 0:
            name, binary = self._provider.title, self._command.binary
            text = f"{name} stopped before its run was over: the last line of its output is missing"
            hint = f"resume the session, or run `{binary}` by itself to see why"
            return Error(text, hint)
        from sightline.providers.running import _explain

        unread = "\n".join(self._unread) or self._output_end.decode("utf-8", "replace")
        return _explain.failed(self._provider, self._command, native, stderr, unread)

    @property
    def _ended_early(self) -> bool:
        """A line that cannot be read may be the one that is missing, in a form of another version."""
        return self._command.has_end_line and self._is_read and self._ended is None and not self._ends_unread

    async def _close(self) -> None:
        """Nothing of the run is left after this, whether it ended, was ended, or was given up."""
        if self._alarm is not None:
            self._alarm.cancel()
        if self._reading is not None:
            self._reading.cancel()
        process = self._process
        if process is None:
            return
        try:
            if self._outcome is None and process.exit_code is None and not self._timed_out:
                self._cancelled = True
            if self._cancelled or self._timed_out:
                await process.end()
        finally:
            if self._outcome is None:
                self._finish()
            process.close()


def _last(before: bytes, chunk: bytes) -> bytes:
    return (before + chunk[-_UNREAD_LENGTH:])[-_UNREAD_LENGTH:]


def _encoded(prompt: str) -> bytes:
    """The bytes the user gave: what of an argument is not UTF-8 arrives as lone surrogates that stand for bytes."""
    try:
        return prompt.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for nothing
        import re

        return re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", prompt).encode("utf-8", "surrogateescape")
