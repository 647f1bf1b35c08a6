"""A program on a terminal: the display, the theme and the loop, wired to the terminal for as long as the program runs.

- `run_application` takes the terminal over, lets the program fill the display, and returns when `exit` was called or
  the terminal is gone. On every way out the window is given up first, then the terminal, then anything is said.
- An exception in a component ends the program; it is raised here, with the terminal already given back.
- What the terminal says of itself is followed while it runs: its colours, whether it is dark, what it can do.
- Where nothing may be moved or styled (`Capabilities.linear`) the same program runs on lines: see `_linear`.
"""

import os
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.tty._bindings import Bindings
from sightline.tty._capabilities import Capabilities
from sightline.tty._component import Input
from sightline.tty._display import Display
from sightline.tty._images import Images
from sightline.tty._linear import LinearDisplay
from sightline.tty._raw import Attributes
from sightline.tty._redraw_log import RedrawLog
from sightline.tty._terminal import Terminal
from sightline.tty._theme import PLAIN, Theme, theme_for
from sightline.tty._writer import Writer

if TYPE_CHECKING:
    import asyncio

_HUNG_UP = 129  # as the shell tells of a program that SIGHUP ended
_NOT_FOUND = 127
_READ = 65536


class Application:
    """What a program builds on: `display`, `theme`, `loop`, `bindings`."""

    def __init__(self, display: Display, theme: Theme, loop: "asyncio.AbstractEventLoop", bindings: Bindings) -> None:
        self.display = display
        self.theme = theme
        self.loop = loop
        self.bindings = bindings
        self.linear = isinstance(display, LinearDisplay)
        self.lend: Callable[[Callable[[], None]], None] = lambda use: use()
        """Gives the terminal to somebody for as long as the call takes."""
        self._look: bool | None = None
        self._ended: asyncio.Future[int] = loop.create_future()
        loop.set_exception_handler(self._failed)

    def exit(self, code: int = 0) -> None:
        """End the program."""
        if not self._ended.done():
            self._ended.set_result(code)

    def run_program(self, argv: Sequence[str]) -> int:
        """Let another program have the terminal until it ends. Its exit code, as a shell would say it."""
        codes: list[int] = []
        self.lend(lambda: codes.append(_run_program(argv)))
        return codes[0]

    def choose_look(self, *, dark: bool | None) -> None:
        """Dark or light from now on, whatever the terminal says; None to follow it again."""
        self._look = dark
        self.adapt(self.display.capabilities)

    def adapt(self, capabilities: Capabilities) -> None:
        """The terminal turned out, or turned, to be like this."""
        self.display.set_capabilities(capabilities)
        if self.linear:
            return
        theme = _theme(capabilities, self._look)
        same_theme = (theme.name, theme.depth) == (self.theme.name, self.theme.depth)
        self.theme.become(theme)
        if not _same_pictures(self.display.images, capabilities) or not same_theme:
            self.display.invalidate()

    async def ended(self) -> int:
        """Wait for the end. The exit code, or what went wrong in a callback."""
        return await self._ended

    def _failed(self, loop: "asyncio.AbstractEventLoop", context: dict[str, Any]) -> None:
        """Nothing that goes wrong on the loop is lost in a log: it ends the program."""
        error = context.get("exception")
        if error is None:
            loop.default_exception_handler(context)
        elif not self._ended.done():
            self._ended.set_exception(error)


Start = Callable[[Application], object]


def run_application(
    start: Start,
    *,
    bindings: Bindings | None = None,
    terminal: Terminal | None = None,
    before: Attributes | None = None,
    typed: bytes = b"",
) -> int:
    """Run a program until it ends. Somebody may have begun already: `before` is how the terminal was before they made
    it raw, `typed` what they read from it and did not use."""
    import asyncio

    terminal = terminal or Terminal()
    bindings = bindings or Bindings()
    with asyncio.Runner() as runner:
        if terminal.capabilities.linear:
            return runner.run(_run_on_lines(terminal, start, bindings))
        try:
            terminal.enter(before)
            return runner.run(_run(terminal, start, bindings, typed))
        finally:
            terminal.close()


async def _run(terminal: Terminal, start: Start, bindings: Bindings, typed: bytes) -> int:
    import asyncio

    loop = asyncio.get_running_loop()
    capabilities = terminal.capabilities
    display = Display(terminal, capabilities, loop)
    if capabilities.redraw_log:
        display.log = RedrawLog(capabilities.redraw_log)
    application = Application(display, _theme(capabilities, None), loop, bindings)
    try:
        start(application)
        _Wiring(terminal, application)
        terminal.attach(loop)
        terminal.feed(typed)
        display.request_render(urgent=True)
        return await application.ended()
    finally:
        terminal.leave()
        if display.log is not None:
            display.log.close()


def _run_program(argv: Sequence[str]) -> int:
    import subprocess

    try:
        child = subprocess.Popen(argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\r\n".encode(errors="replace"))
        return _NOT_FOUND
    # Ctrl+C is for the program that has the terminal.
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = child.wait()
    finally:
        signal.signal(signal.SIGINT, heard)
    return code if code >= 0 else 128 - code


class _Wiring:
    """What the terminal tells, to whom it matters."""

    def __init__(self, terminal: Terminal, application: Application) -> None:
        self._terminal = terminal
        self._application = application
        self._display = application.display
        self._is_given_up = False
        terminal.on_input = self._heard
        terminal.on_resize = self._display.resized
        terminal.on_drained = self._display.drained
        terminal.on_resume = self._resumed
        terminal.on_capabilities = application.adapt
        terminal.on_hangup = lambda: application.exit(_HUNG_UP)
        terminal.farewell = self._farewell
        application.lend = terminal.lend

    def _heard(self, event: Input) -> None:
        bindings = self._application.bindings
        if bindings.matches(event, "suspend"):
            self._terminal.suspend()
        elif bindings.matches(event, "clear_screen"):
            self._display.reset()
        else:
            self._display.handle_input(event)

    def _farewell(self) -> str:
        """Give the window up. The end may come at any moment, and because of a component: then the rows stay."""
        if self._is_given_up:
            return ""
        self._is_given_up = True
        try:
            self._display.stop()
        except Exception:
            return "\r\n"
        return ""

    def _resumed(self) -> None:
        self._is_given_up = False
        self._display.resume()


async def _run_on_lines(terminal: Terminal, start: Start, bindings: Bindings) -> int:
    import asyncio

    loop = asyncio.get_running_loop()
    surface = _Lines(terminal, loop)
    display = LinearDisplay(surface, msgspec.structs.replace(terminal.capabilities, images="none"), loop)
    application = Application(display, PLAIN, loop, bindings)
    surface.on_line = display.enter
    surface.on_end = application.exit
    surface.on_drained = display.drained
    try:
        start(application)
        surface.listen()
        display.request_render(urgent=True)
        return await application.ended()
    finally:
        loop.remove_reader(0)
        display.stop()
        surface.close()


class _Lines:
    """Standard input and output as they are: whole lines come in, lines go out."""

    def __init__(self, terminal: Terminal, loop: "asyncio.AbstractEventLoop") -> None:
        self.on_line: Callable[[str], object] = str
        self.on_end: Callable[[], object] = str
        self.on_drained: Callable[[], object] = str
        self._terminal = terminal
        self._loop = loop
        self._writer = Writer(1, self._blocked)
        self._rest = b""

    @property
    def size(self) -> tuple[int, int]:
        return self._terminal.size

    @property
    def busy(self) -> bool:
        return self._writer.pending

    def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "replace"))

    def listen(self) -> None:
        self._loop.add_reader(0, self._readable)

    def close(self) -> None:
        self._loop.remove_writer(self._writer.fd)
        self._writer.drain(1.0)
        self._writer.close()

    def _readable(self) -> None:
        try:
            data = os.read(0, _READ)
        except OSError:
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self.on_line(line.decode("utf-8", "replace").rstrip("\r"))
        if not data:
            self._loop.remove_reader(0)
            self.on_end()

    def _blocked(self) -> None:
        self._loop.add_writer(self._writer.fd, self._writable)

    def _writable(self) -> None:
        if self._writer.send():
            self._loop.remove_writer(self._writer.fd)
            self.on_drained()


def _same_pictures(images: Images, capabilities: Capabilities) -> bool:
    """Let pictures be drawn as the terminal can draw them. Whether that is as before."""
    before = images.protocol, images.cell, images.placeholders
    images.protocol, images.placeholders = capabilities.images, capabilities.kitty_placeholders
    images.cell = capabilities.cell_size or images.cell
    return before == (images.protocol, images.cell, images.placeholders)


def _theme(capabilities: Capabilities, dark: bool | None) -> Theme:
    """Where the background is only guessed to be dark, colours that need it to be are not used."""
    if dark is None and (capabilities.background is not None or not capabilities.dark):
        dark = capabilities.dark
    return theme_for(dark=dark, depth=capabilities.colours)
