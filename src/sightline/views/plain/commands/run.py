"""One prompt, run by a provider without a screen: words, events, or the provider's own lines on stdout."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, Literal

from sightline.events import Event
from sightline.providers import Run
from sightline.text import clean_styled
from sightline.views.plain._farewell import Farewell
from sightline.views.plain._ndjson import EventLines
from sightline.views.plain._output import share_a_channel, write_patiently
from sightline.views.plain._renderer import PlainRenderer

OutputFormat = Literal["text", "json", "events"]

# Seconds for writing what is left after a cancel.
_LAST_WORDS = 1.0


class Channels:
    """Where events go as they come: rendered words on stdout and what must be told on stderr, or NDJSON on stdout."""

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
        await self._tell()

    async def end(self) -> None:
        if not self._events:
            await write_patiently(self._out, self._renderer.end().encode())
            self._renderer.tell_unreadable()
            await self._tell()

    async def _tell(self) -> None:
        await write_patiently(self._err, self._renderer.told(interleaved=self._interleaved).encode())


def show_run(
    run: Run,
    renderer: PlainRenderer,
    output_format: OutputFormat,
    farewell: Farewell | None = None,
) -> int:
    """Show a run to its end and return the exit code. Ctrl+C cancels and keeps what was said.

    What is said at the very end goes to stderr, and only where the run is shown as text.
    """
    if output_format == "json":
        work = _pass_lines(run, renderer)
    else:
        work = _show(run, Channels(renderer, events=output_format == "events"), farewell)
    if output_format != "text" or farewell is None:
        return asyncio.run(until_done(work, run.cancel, lambda: run.outcome.exit_code))
    return asyncio.run(_until_said(run, work, renderer, farewell))


async def _until_said(run: Run, work: Coroutine[Any, Any, None], renderer: PlainRenderer, farewell: Farewell) -> int:
    code = await until_done(work, run.cancel, lambda: run.outcome.exit_code)
    start = "\n" if renderer.mid_line and share_a_channel(1, 2) else ""
    words = farewell.words(code)
    try:
        async with asyncio.timeout(_LAST_WORDS):
            await write_patiently(2, clean_styled(f"{start}{words}").encode() if words else b"")
    except TimeoutError:  # nobody reads
        pass
    return code


async def until_done(
    work: Coroutine[Any, Any, None], cancel: Callable[[], Coroutine[Any, Any, None]], exit_code: Callable[[], int]
) -> int:
    """Do the work; SIGINT, SIGTERM and SIGHUP cancel it properly, a reader that went away ends it.

    What was already said is still written after a cancel, but not for ever: the reader may have stopped reading.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        await cancel()
        await asyncio.wait([task], timeout=_LAST_WORDS)
        task.cancel()

    def on_signal() -> None:
        if stopping:
            task.cancel()
            stopping.append(loop.create_task(cancel()))  # said twice: now
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
    """The provider's own lines, every byte; only a failure is told, and not among them."""
    async with aclosing(run.raw()) as chunks:
        async for data in chunks:
            await write_patiently(1, data)
    if run.outcome.error is not None:
        renderer.render([run.outcome.error])
        await write_patiently(2, renderer.told().encode())
