"""A program on lines, for linear mode: standard input and output as they are, and the linear display on them.

- No mode is switched on and nothing is queried. Either side may be a terminal, a pipe or a file.
- Output is never dropped: a slow reader is waited for, however long, and only a reader that is gone (`on_lost`) is not.
- A line counts as one when it ends, or when the input does.
- After Ctrl+D on a terminal the user can continue to enter lines, where `outlives_end` is set.
"""

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.tty._application import Application, Start
from sightline.tty._linear import LinearDisplay
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key, parse_key
from sightline.tty.terminal._terminal import Terminal
from sightline.tty.terminal._writer import Writer
from sightline.tty.theme._theme import PLAIN

if TYPE_CHECKING:
    import asyncio

_READ = 65536
_PATIENCE = 1.5


class LineTerminal:
    """From `listen` to `deafen` lines are heard; what `write` was given is out after `flushed`."""

    def __init__(self, terminal: Terminal, loop: "asyncio.AbstractEventLoop") -> None:
        self.on_line: Callable[[str], object] = str
        self.on_end: Callable[[], object] = str  # no more lines follow; with `outlives_end`: the user pressed Ctrl+D
        self.outlives_end = False
        self.on_lost: Callable[[OSError], object] = str  # the reader of the output is gone
        self.on_drained: Callable[[], object] = str
        self._terminal = terminal
        self._loop = loop
        self._writer = Writer(1, self._blocked)
        self._rest = b""
        self._listening = False
        self._flushed: asyncio.Future[None] | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self._terminal.size

    @property
    def busy(self) -> bool:
        return self._writer.pending

    @property
    def listening(self) -> bool:
        return self._listening

    def write(self, text: str) -> None:
        was_lost = self._writer.lost
        self._writer.write(text.encode("utf-8", "replace"))
        self._look_for_readers(was_lost)

    def listen(self) -> None:
        self._listening = True
        try:
            self._loop.add_reader(0, self._readable)
        except PermissionError:  # a file can be read at any time, so there is nothing to wait for
            self._loop.call_soon(self._read_on)

    def deafen(self) -> None:
        self._listening = False
        self._loop.remove_reader(0)

    def lend(self, use: Callable[[], None]) -> None:
        """Let another program write, after what was written."""
        self._writer.drain(_PATIENCE)
        use()

    async def flushed(self) -> None:
        """Wait until everything is out, or its reader is gone."""
        if self._writer.pending:
            self._flushed = self._loop.create_future()
            await self._flushed

    def close(self) -> None:
        self._loop.remove_writer(self._writer.fd)
        self._writer.close()

    def _read_on(self) -> None:
        if self._listening:
            self._readable()
            self._loop.call_soon(self._read_on)

    def _readable(self) -> None:
        try:
            data = os.read(0, _READ)
        except OSError:
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data and not (self.outlives_end and _is_there(0)):
            self.deafen()
            lines += [self._rest] if self._rest else []
        for line in lines:
            self.on_line(line.decode("utf-8", "replace").rstrip("\r"))
        if not data:
            self.on_end()

    def _blocked(self) -> None:
        self._loop.add_writer(self._writer.fd, self._writable)

    def _writable(self) -> None:
        was_lost = self._writer.lost
        if not self._writer.send():
            return
        self._loop.remove_writer(self._writer.fd)
        if self._flushed is not None and not self._flushed.done():
            self._flushed.set_result(None)
        self._look_for_readers(was_lost)
        self.on_drained()

    def _look_for_readers(self, was_lost: OSError | None) -> None:
        if was_lost is None and self._writer.lost is not None:
            self.on_lost(self._writer.lost)


def _is_there(fd: int) -> bool:
    """Whether it is a terminal that was not hung up: that too ends the input, for good and at once again."""
    try:
        os.tcgetpgrp(fd)
    except OSError:
        return False
    return True


_READER_GONE = 141  # SIGPIPE


async def run_on_lines(terminal: Terminal, start: Start, bindings: Bindings, complaints: list[str]) -> int:
    import asyncio

    loop = asyncio.get_running_loop()
    surface = LineTerminal(terminal, loop)
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


def _wire_lines(surface: LineTerminal, display: LinearDisplay, application: Application) -> None:
    surface.on_line = display.enter
    surface.outlives_end = os.isatty(0)
    surface.on_end = lambda: _end(surface, display, application)
    surface.on_lost = lambda error: _lost(application, error)
    surface.on_drained = display.drained
    application.lend = surface.lend


def _end(surface: LineTerminal, display: LinearDisplay, application: Application) -> None:
    """Handle the end of input: at a terminal the program may ask the user about it; any other end is final."""
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
    """Turn SIGINT, which Ctrl+C is on a terminal that is not raw, into the key. Returns the handler there was before,
    or None where we may not handle it. A second one interrupts a program that has not handled the first."""
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
