"""A program on lines: the linear display, and standard input and output, for as long as the program runs."""

import os
import signal
from typing import Any

import msgspec

from sightline.tty._application import Application, Start
from sightline.tty._bindings import Bindings
from sightline.tty._keys import Key, parse_key
from sightline.tty._linear import LinearDisplay
from sightline.tty._lines import Lines
from sightline.tty._terminal import Terminal
from sightline.tty._theme import PLAIN

_READER_GONE = 141  # SIGPIPE


async def run_on_lines(terminal: Terminal, start: Start, bindings: Bindings, complaints: list[str]) -> int:
    import asyncio

    loop = asyncio.get_running_loop()
    surface = Lines(terminal, loop)
    capabilities = msgspec.structs.replace(terminal.capabilities, images="none", linear=True)
    display = LinearDisplay(surface, capabilities, loop)
    application = Application(display, PLAIN, loop, bindings)
    application.complaints = complaints
    _wire_lines(surface, display, application)
    heard_before = _hear_interrupts(application)
    try:
        start(application)
        surface.listen()
        display.request_render(urgent=True)
        return await application.ended()
    finally:
        surface.deafen()
        if heard_before is not None:
            signal.signal(signal.SIGINT, heard_before)
        display.stop()
        await surface.flushed()
        surface.close()
        await application.cancel_tasks()


def _wire_lines(surface: Lines, display: LinearDisplay, application: Application) -> None:
    surface.on_line = display.enter
    surface.outlives_end = os.isatty(0)
    surface.on_end = lambda: _end(surface, display, application)
    surface.on_lost = lambda error: _lost(application, error)
    surface.on_drained = display.drained
    application.lend = surface.lend


def _end(surface: Lines, display: LinearDisplay, application: Application) -> None:
    """A person may be asked what they mean by it; any other end is one."""
    if surface.listening:
        application.on_end()
    elif os.isatty(0):
        application.exit()
    else:
        display.end_when_quiet(application.exit)


def _lost(application: Application, error: OSError) -> None:
    if isinstance(error, BrokenPipeError):
        return application.exit(_READER_GONE)
    application.complaints.append(f"error: cannot write to standard output: {error.strerror}")
    return application.exit(1)


def _hear_interrupts(application: Application) -> Any:
    """A terminal that is not raw makes a signal of Ctrl+C: for the program it is the key. What was heard before, or
    None if it is not for us to hear. The second one interrupts a program that did not come to the first."""
    try:
        before = signal.getsignal(signal.SIGINT)
        waiting: list[Key] = []

        def hear() -> None:
            application.hear(waiting.pop())

        def interrupted(*_: object) -> None:
            if waiting:
                raise KeyboardInterrupt
            waiting.append(parse_key("ctrl+c"))
            application.loop.call_soon_threadsafe(hear)

        return None if before == signal.SIG_IGN else signal.signal(signal.SIGINT, interrupted)
    except ValueError:  # only the main thread may listen to signals
        return None
