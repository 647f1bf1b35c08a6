"""One prompt, run by a provider without a screen: words, events, or the provider's own lines on stdout."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterable
from contextlib import aclosing
from typing import Literal

from sightline.events import Event, NativeSessionState, RunEnded, RunStarted, State, Usage
from sightline.providers import Run
from sightline.text import clean_styled
from sightline.views.plain._ndjson import EventLines
from sightline.views.plain._output import share_a_channel, write_patiently
from sightline.views.plain._palette import PLAIN, Palette
from sightline.views.plain._renderer import PlainRenderer

OutputFormat = Literal["text", "json", "events"]

# For writing what is left after a cancel.
_SECONDS_FOR_THE_REST = 1.0
_TIMEOUT, _CANCELLED = 124, 130
_ANSWERED = (0, 3)  # exit codes of a run that came to its end

_Work = Coroutine[object, object, None]


class Channels:
    """Where events are written as they come: text on stdout and messages on stderr, or NDJSON on stdout."""

    def __init__(self, renderer: PlainRenderer, *, events: bool = False, out: int = 1, err: int = 2) -> None:
        self._renderer = renderer
        self._events = events
        self._out, self._err = out, err
        self._interleaved = share_a_channel(out, err)
        self._lines = EventLines()

    async def write(self, batch: list[Event]) -> None:
        if self._events:
            await write_patiently(self._out, self._lines.encode(batch))
            return
        text = self._renderer.render(batch)
        if text:
            await write_patiently(self._out, text.encode())
        await self._report()

    async def end(self) -> None:
        if not self._events:
            await write_patiently(self._out, self._renderer.end().encode())
            self._renderer.report_unreadable()
            await self._report()

    async def _report(self) -> None:
        await write_patiently(self._err, self._renderer.messages(interleaved=self._interleaved).encode())


class Farewell:
    """The last lines of a run: why it ended early, how to resume it and, with `sums`, its tokens and costs.

    `is_conversation`: whether the session of this id can be resumed. `names_timeout`: whether a timeout is reported
    here; another provider's run does that itself."""

    def __init__(
        self,
        is_conversation: Callable[[str], bool],
        *,
        timeout: float | None = None,
        sums: bool = False,
        palette: Palette = PLAIN,
        names_timeout: bool = True,
    ) -> None:
        self._is_conversation = is_conversation
        self._timeout = timeout
        self._names_timeout = names_timeout
        self._sums = sums
        self._palette = palette
        self._session = self._native_session = ""
        self._tokens = 0
        self._cost: float | None = None

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, RunStarted) and not event.agent:
                self._session = event.session
            elif isinstance(event, State) and event.key == NativeSessionState.KEY and not event.agent:
                self._native_session = (NativeSessionState.of(event.value) or NativeSessionState("")).id
            elif isinstance(event, RunEnded) and not event.agent:
                self._tokens += _tokens(event.usage)
                if event.cost is not None:
                    self._cost = (self._cost or 0.0) + event.cost

    def words(self, exit_code: int) -> str:
        text = ""
        if exit_code == _TIMEOUT and self._names_timeout:
            text = "error: timed out" + (f" after {self._timeout:g} s" if self._timeout is not None else "") + "\n"
        elif exit_code == _CANCELLED:
            text = "cancelled\n"
        session = self._session if self._session and self._is_conversation(self._session) else ""
        if session and exit_code in (_TIMEOUT, _CANCELLED):
            text += f"Resume with: sightline --resume {session}\n"
            session = ""
        return text + self._sum(session)

    def _sum(self, session: str) -> str:
        """`session`: empty where it is named already, or cannot be resumed."""
        if not self._sums or not self._session:
            return ""
        parts = [f"session {session}"] if session else []
        if self._native_session:
            parts.append(f"the agent's own id {self._native_session}")
        if self._tokens:
            parts.append(f"{self._tokens} token{'s' * (self._tokens != 1)}")
        if self._cost is not None:
            parts.append(f"${self._cost:.4f}")
        return "" if not parts else f"{self._palette.dim}{' · '.join(parts)}{self._palette.reset}\n"


def _tokens(usage: Usage | None) -> int:
    if usage is None:
        return 0
    return usage.total_tokens or (usage.input_tokens or 0) + (usage.output_tokens or 0)


def show_answer(
    run: Run, renderer: PlainRenderer, farewell: Farewell, answer: Callable[[], str], *, steps: bool
) -> int:
    """Show a run whose answer alone goes to stdout, when it is there. `steps`: what happens until then goes to
    stderr, with the messages."""
    with open(os.devnull, "wb") as nowhere:
        channels = Channels(renderer, out=2 if steps else nowhere.fileno())
        work = _show_and_answer(run, channels, farewell, answer)
        return asyncio.run(_with_farewell(run, work, renderer, farewell))


async def _show_and_answer(run: Run, channels: Channels, farewell: Farewell, answer: Callable[[], str]) -> None:
    await _show(run, channels, farewell)
    if run.outcome.exit_code in _ANSWERED:
        await write_patiently(1, f"{answer()}\n".encode())


def show_run(run: Run, renderer: PlainRenderer, output_format: OutputFormat, farewell: Farewell | None = None) -> int:
    """Show a run to its end and return the exit code. Ctrl+C cancels it; what came before stays written.

    The farewell goes to stderr, and only where the run is shown as text.
    """
    if output_format == "json":
        work = _pass_lines(run, renderer)
    else:
        work = _show(run, Channels(renderer, events=output_format == "events"), farewell)
    if output_format != "text" or farewell is None:
        return asyncio.run(until_done(work, run.cancel, lambda: run.outcome.exit_code))
    return asyncio.run(_with_farewell(run, work, renderer, farewell))


async def _with_farewell(run: Run, work: _Work, renderer: PlainRenderer, farewell: Farewell) -> int:
    code = await until_done(work, run.cancel, lambda: run.outcome.exit_code)
    start = "\n" if renderer.mid_line and share_a_channel(1, 2) else ""
    words = farewell.words(code)
    try:
        async with asyncio.timeout(_SECONDS_FOR_THE_REST):
            await write_patiently(2, clean_styled(f"{start}{words}").encode() if words else b"")
    except TimeoutError:  # stderr is not read
        pass
    return code


async def until_done(work: _Work, cancel: Callable[[], _Work], exit_code: Callable[[], int]) -> int:
    """Do the work; SIGINT, SIGTERM and SIGHUP cancel it properly, a reader that went away ends it.

    What came before a cancel is still written, for a second: the reader may have stopped reading.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        await cancel()
        await asyncio.wait([task], timeout=_SECONDS_FOR_THE_REST)
        task.cancel()

    def on_signal() -> None:
        if stopping:
            task.cancel()
            stopping.append(loop.create_task(cancel()))  # the second signal: at once
        else:
            stopping.append(loop.create_task(stop()))

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal)
    try:
        await asyncio.wait([task])
    finally:
        await asyncio.gather(*stopping)
    if task.cancelled():
        return 130
    task.result()  # whatever went wrong, the work has closed its run on the way out
    return exit_code()


async def _show(run: Run, channels: Channels, farewell: Farewell | None) -> None:
    async with aclosing(run.events()) as batches:
        async for batch in batches:
            if farewell is not None:
                farewell.see(batch)
            await channels.write(batch)
    await channels.end()


async def _pass_lines(run: Run, renderer: PlainRenderer) -> None:
    """The provider's own lines, every byte; only a failure is reported, on stderr."""
    async with aclosing(run.raw()) as chunks:
        async for data in chunks:
            await write_patiently(1, data)
    if run.outcome.error is not None:
        renderer.render([run.outcome.error])
        await write_patiently(2, renderer.messages().encode())
