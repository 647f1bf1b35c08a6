"""A program on a terminal: the display, the theme and the loop, wired to the terminal for as long as the program runs.

- `run_application` takes the terminal over, lets the program fill the display, and returns when `exit` was called or
  the terminal is gone. On every way out the window is released first, then the terminal, then messages are printed.
- An exception in a component ends the program; it is raised here, with the terminal already restored.
- An exception in a task that was spawned ends it likewise. Tasks are cancelled in the end, after the terminal was
  restored: the user does not wait for them.
- Reports of the terminal about itself are followed while it runs: its colours, whether it is dark, what it can do.
- Ctrl+C and Ctrl+D end it when no component took them (the actions `interrupt`, without Escape, and `exit`).
- Where nothing may be moved or styled (`Capabilities.linear`), or there is no terminal on both sides, the same program
  runs on lines: see `_linear`. Input that ends (Ctrl+D, or the end of a pipe or file) ends it too: a user's at once, a
  pipe's when everything is final and nothing came for a moment, so that work in progress is shown to its end.
"""

import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from sightline.tty._component import Input
from sightline.tty._images import ImageStore
from sightline.tty._linear import LinearDisplay
from sightline.tty.frame._display import Display
from sightline.tty.frame._redraw_log import RedrawLog
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key
from sightline.tty.terminal._capabilities import Capabilities
from sightline.tty.terminal._raw import Attributes
from sightline.tty.terminal._terminal import Terminal
from sightline.tty.theme._colour import Depth
from sightline.tty.theme._theme import Theme, theme_for

if TYPE_CHECKING:
    import asyncio

_HUNG_UP = 129  # the shell's code for a program that SIGHUP ended
_NOT_FOUND = 127
INTERRUPTED = 130


class Application:
    """What a program builds on: `display`, `theme`, `loop`, `bindings`."""

    def __init__(
        self,
        display: Display,
        theme: Theme,
        loop: "asyncio.AbstractEventLoop",
        bindings: Bindings,
        terminal: Terminal | None = None,
    ) -> None:
        self.display = display
        self.theme = theme
        self.loop = loop
        self.bindings = bindings
        self.linear = isinstance(display, LinearDisplay)
        self.lend: Callable[[Callable[[], None]], None] = lambda use: use()  # the terminal, for as long as `use` takes
        self.on_end: Callable[[], object] = self.exit
        """On lines, the user pressed Ctrl+D. More may come, if this does not end the program."""
        self.complaints: list[str] = []  # warnings of the loop, to be printed when the terminal is restored
        self._look: bool | None = None
        self._colours: Depth | None = None
        self._terminal = terminal  # None on lines, where nothing is written but lines
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended: asyncio.Future[int] = loop.create_future()
        loop.set_exception_handler(self._failed)

    def exit(self, code: int = 0) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    def hear(self, event: Input) -> None:
        """Dispatch input. What no component takes may still end the program; after its end input is ignored."""
        if self._ended.done() or self.display.handle_input(event):
            return
        is_escape = isinstance(event, Key) and event.name == "escape"  # it interrupts, but never that much
        if self.bindings.matches(event, "interrupt") and not is_escape:
            self.exit(INTERRUPTED)
        elif self.bindings.matches(event, "exit"):
            self.exit()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Run a task beside: it is cancelled when the program ends; if it fails, the program does."""
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(self.loop, {"message": "a task failed", "exception": error})

    async def cancel_tasks(self) -> None:
        """Cancel what was spawned and still runs, and wait until it has ended."""
        import asyncio

        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    def set_title(self, text: str) -> None:
        """Name the terminal's window. The name it had comes back in the end."""
        if self._terminal is not None:
            self._terminal.set_title(text)

    def notify(self, title: str, body: str = "") -> None:
        """Notify a user who looks elsewhere: a desktop notification, or the bell."""
        if self._terminal is not None:
            self._terminal.notify(title, body)

    def copy(self, text: str) -> bool:
        """Send a text to the terminal's clipboard. False for a terminal without one, or with more text than terminals
        take. No terminal reports whether it worked."""
        return self._terminal is not None and self._terminal.copy(text)

    def run_program(self, argv: Sequence[str]) -> int:
        """Lend the terminal to another program until it ends. Returns its exit code, as a shell would."""
        codes: list[int] = []
        self.lend(lambda: codes.append(_run_program(argv)))
        return codes[0]

    def choose_look(self, *, dark: bool | None, colours: Depth | None = None) -> None:
        """Dark or light from now on, whatever the terminal reports; None to follow it again. `colours` then stay."""
        self._look = dark
        self._colours = colours or self._colours
        self.adapt(self.display.capabilities)

    def adapt(self, capabilities: Capabilities) -> None:
        """Use what is now known of the terminal."""
        self.display.set_capabilities(capabilities)
        if self.linear:
            return
        theme = _theme(capabilities, self._look, self._colours)
        look, before = ((one.name, one.depth, one.links) for one in (theme, self.theme))
        self.theme.become(theme)
        if not _same_pictures(self.display.images, capabilities) or look != before:
            self.display.invalidate()

    async def ended(self) -> int:
        """Wait for the end. Returns the exit code, or raises what went wrong in a callback."""
        return await self._ended

    def _failed(self, loop: "asyncio.AbstractEventLoop", context: dict[str, Any]) -> None:
        """Handle what goes wrong on the loop: an exception ends the program, the rest is printed in the end."""
        error = context.get("exception")
        if error is None or self._ended.done():
            self.complaints.append(context["message"] + (f": {error!r}" if error else ""))
        else:
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
    """Run a program until it ends. Where the caller has begun already, `before` is how the terminal was before it made
    it raw, `typed` what it read and did not use."""
    import asyncio

    if closed := _closed_descriptor():
        return _report_closed(closed)
    terminal = terminal or Terminal()
    bindings = bindings or Bindings()
    complaints: list[str] = []
    try:
        with asyncio.Runner() as runner:
            if terminal.capabilities.linear or not terminal.is_one:
                from sightline.tty._line_run import run_on_lines

                return runner.run(run_on_lines(terminal, start, bindings, complaints))
            try:
                terminal.enter(before)
                return runner.run(_run(terminal, start, bindings, typed, complaints))
            finally:
                terminal.close()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        for complaint in complaints:
            sys.stderr.write(f"{complaint}\n")


async def _run(terminal: Terminal, start: Start, bindings: Bindings, typed: bytes, complaints: list[str]) -> int:
    import asyncio

    loop = asyncio.get_running_loop()
    capabilities = terminal.capabilities
    display = Display(terminal, capabilities, loop, _images(capabilities, loop))
    if capabilities.redraw_log:
        display.log = RedrawLog(capabilities.redraw_log)
    application = Application(display, _theme(capabilities, None, None), loop, bindings, terminal)
    application.complaints = complaints
    try:
        start(application)
        _Wiring(terminal, application)
        terminal.attach(loop)
        terminal.feed(typed)
        display.request_render(urgent=True)
        return await application.ended()
    finally:
        terminal.leave()
        await application.cancel_tasks()
        if display.log is not None:
            display.log.close()


def _images(capabilities: Capabilities, loop: "asyncio.AbstractEventLoop") -> ImageStore:
    """Pictures are decoded in a thread: a large one takes longer than a frame may."""

    def in_a_thread(work: Callable[[], None], done: Callable[[], None]) -> None:
        def worked(future: "asyncio.Future[None]") -> None:
            future.result()
            done()

        loop.run_in_executor(None, work).add_done_callback(worked)

    return ImageStore(
        capabilities.images,
        cell=capabilities.cell_size or (10, 20),
        placeholders=capabilities.kitty_placeholders,
        background=in_a_thread,
    )


def _closed_descriptor() -> str:
    """Whatever is opened next would take the place of a missing standard input or output."""
    for fd, name in enumerate(("input", "output")):
        try:
            os.fstat(fd)
        except OSError:
            return name
    return ""


def _report_closed(name: str) -> int:
    sign = "<" if name == "input" else ">"
    try:
        os.write(2, f"error: standard {name} is closed; use a terminal, or {sign}/dev/null for none\n".encode())
    except OSError:
        pass  # and so is standard error
    return 1


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
    """Connects the terminal's callbacks with the display and the program."""

    def __init__(self, terminal: Terminal, application: Application) -> None:
        self._terminal = terminal
        self._application = application
        self._display = application.display
        self._is_released = False
        terminal.on_input = self._heard
        terminal.on_resize = self._display.resized
        terminal.on_drained = self._display.drained
        terminal.on_resume = self._resumed
        terminal.on_capabilities = application.adapt
        terminal.on_hangup = lambda: application.exit(_HUNG_UP)
        terminal.farewell = lambda: self._release(self._display.stop)
        terminal.interlude = lambda: self._release(self._display.pause)
        terminal.way_back = lambda: self._display.way_back
        self._display.on_apart = terminal.guard_screen
        application.lend = terminal.lend

    def _heard(self, event: Input) -> None:
        bindings = self._application.bindings
        if bindings.matches(event, "suspend"):
            self._terminal.suspend()
        elif bindings.matches(event, "clear_screen"):
            self._display.reset()
        else:
            self._application.hear(event)

    def _release(self, stop: Callable[[], None]) -> str:
        """Release the window. The end may come at any moment, and because of a component: then the rows stay."""
        if self._is_released:
            return ""
        self._is_released = True
        way_back = self._display.way_back
        try:
            stop()
        except Exception:
            return f"{way_back}\r\n"
        return ""

    def _resumed(self) -> None:
        self._is_released = False
        self._display.resume()


def _same_pictures(images: ImageStore, capabilities: Capabilities) -> bool:
    """Draw pictures as the terminal can draw them. Returns whether that is as before."""
    before = images.protocol, images.cell, images.placeholders
    images.protocol, images.placeholders = capabilities.images, capabilities.kitty_placeholders
    images.cell = capabilities.cell_size or images.cell
    return before == (images.protocol, images.cell, images.placeholders)


def _theme(capabilities: Capabilities, dark: bool | None, colours: Depth | None) -> Theme:
    """Where the background is only guessed to be dark, colours that need it to be are not used."""
    if dark is None and (capabilities.background is not None or not capabilities.dark):
        dark = capabilities.dark
    return theme_for(dark=dark, depth=colours or capabilities.colours, links=capabilities.hyperlinks)
