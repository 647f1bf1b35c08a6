"""The terminal we draw on and listen to: taken over, restored, and never waited for.

- `enter` and `size` need nothing but os, sys, termios and signal (not even `typing`, hence the odd constant): the first
  frame is painted before anything else is imported. `attach` brings the event loop: input is decoded, queries are
  sent, what the terminal did not take is sent later.
- What is switched on is switched off again on every way out (`_endings`). While stopped, the terminal is the shell's.
- A slow terminal gets all that was sent before it is restored: rows that were drawn count as shown. Only one that takes
  nothing at all for a while loses what is queued, and is still sent what switches everything off.
- Queries are sent without waiting for answers. Leaving while answers are still on their way waits for them up to their
  deadline, or the shell would read them as if they had been typed.
"""

from __future__ import annotations

import os
import signal
import termios

from sightline.tty.terminal._endings import Endings
from sightline.tty.terminal._modes import CANCEL, Modes
from sightline.tty.terminal._raw import Attributes, make_raw, restore_attributes
from sightline.tty.terminal._writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from sightline.tty.input._keys import Key, Paste
    from sightline.tty.input._listener import InputReader
    from sightline.tty.terminal._capabilities import Capabilities
    from sightline.tty.terminal._screen_guard import ScreenGuard

_PATIENCE = 1.5  # seconds: a terminal that took nothing for so long is not waited for any longer
_SHORT_PATIENCE = 0.2


def _nothing(*_: object) -> None:
    return


class Terminal:
    """`with Terminal() as terminal:` has it; `terminal.attach(loop)` hears it."""

    def __init__(self, input_fd: int = 0, output_fd: int = 1, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment
        self.on_input: Callable[[Key | Paste], object] = _nothing
        self.on_resize: Callable[[], object] = _nothing
        self.on_drained: Callable[[], object] = _nothing
        self.on_resume: Callable[[], object] = _nothing  # it was the shell's for a while: draw everything anew
        self.on_capabilities: Callable[[Capabilities], object] = _nothing
        self.on_hangup: Callable[[], object] = _nothing  # there is no terminal any more
        self.farewell: Callable[[], str] = str  # sent before it is restored: to a line of its own below what was drawn
        self.interlude: Callable[[], str] = lambda: self.farewell()  # the same when it is only lent, or stopped
        self.way_back: Callable[[], str] = str  # sent where the farewell, or what it draws, is lost
        self._writer = Writer(output_fd, self._blocked)
        self._input = self._writer.fd if _same_terminal(input_fd, output_fd) else input_fd
        self._silent = self.environment.get("TERM", "") in ("", "dumb")
        self._modes = Modes(silent=self._silent)
        self._endings = Endings(
            lambda at_rest: self._restore(at_rest=at_rest),
            {
                signal.SIGWINCH: lambda: self._soon(lambda: self.on_resize()),
                signal.SIGTSTP: lambda: self._soon(self.suspend),
                signal.SIGCONT: self._continued,
            },
            self._postponed,
            lambda: self._restoring,
        )
        self._before: Attributes | None = None
        self._stopping = False
        self._restoring = False
        self._left = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener: InputReader | None = None
        self._reported_size: tuple[int, int] | None = None
        self._screen_guard: ScreenGuard | None = None
        self._guess: Capabilities | None = None
        self._capabilities: Capabilities | None = None

    def __enter__(self) -> Terminal:
        self.enter()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows, never 0."""
        try:
            columns, rows = os.get_terminal_size(self._writer.fd)
        except OSError:
            columns, rows = 0, 0
        reported = self._reported_size or (
            _positive(self.environment.get("COLUMNS"), 80),
            _positive(self.environment.get("LINES"), 24),
        )
        return columns or reported[0], rows or reported[1]

    @property
    def is_one(self) -> bool:
        """Whether there is a terminal on both sides; else it can be neither queried nor drawn on."""
        return os.isatty(self._input) and os.isatty(self._writer.fd)

    @property
    def busy(self) -> bool:
        """Bytes are still queued: no new frame now."""
        return self._writer.pending

    @property
    def capabilities(self) -> Capabilities:
        """What is known so far; `on_capabilities` is called with every change."""
        if self._capabilities is None:
            from sightline.tty.terminal._capabilities import detect

            self._guess = self._capabilities = detect(self.environment)
        return self._capabilities

    def write(self, text: str) -> None:
        """Never blocks: what the terminal does not take at once is queued. After `leave` nothing is written."""
        if not self._left:
            self._writer.write(text.encode("utf-8", "replace"))

    def enter(self, before: Attributes | None = None) -> None:
        """Take the terminal over. Started in the background, we are stopped here like any program.

        `before` is how it was, when the caller made it raw already.
        """
        self._left = False
        if self._before is None:
            found = make_raw(self._input)
            self._before = before or found
            self._endings.install()
            self.write(self._modes.enter())

    def leave(self) -> None:
        if self._before is not None:
            self._restore(at_rest=True)
            self._endings.remove()
            self._left = True
        if self._listener is not None:
            self._listener.stop()
            self._listener = None
        if self._loop is not None:
            self._loop.remove_writer(self._writer.fd)
            self._loop = None

    def close(self) -> None:
        self.leave()
        self._writer.close()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Listen from now on, and ask what the terminal can do."""
        from sightline.tty.input._listener import InputReader

        self._loop = loop
        self._listener = InputReader(
            loop,
            self._input,
            send=self.write,
            on_input=lambda event: self.on_input(event),
            on_answers=self._learned,
            on_hangup=lambda: self.on_hangup(),
        )
        if self._writer.pending:
            self._blocked()
        self._listener.start(self.capabilities, silent=self._silent)

    def feed(self, data: bytes) -> None:
        """Decode bytes that the caller read before the loop listened."""
        if self._listener is not None:
            self._listener.feed(data)

    def suspend(self) -> None:
        """Be stopped, as any program is by Ctrl+Z, until the shell continues us; then draw anew."""
        self.lend(_stop)

    def lend(self, use: Callable[[], None]) -> None:
        """Lend the terminal as it was to another program, then take it over again and draw anew."""
        self._stopping = True
        try:
            self._restore(at_rest=True)
            use()
        finally:
            self._stopping = False
            self._take_back()

    def _take_back(self) -> None:
        try:
            self._before = make_raw(self._input)
        except termios.error:  # it went away meanwhile, as reading will show
            return
        self.write(self._modes.enter())
        if self._listener is not None:
            self.write(self._modes.adapt(self._listener.probes.answers))
        self.on_resume()

    def set_title(self, text: str) -> None:
        from sightline.tty.terminal._notices import title_text

        self.write(self._modes.title(title_text(text)))

    def notify(self, title: str, body: str = "") -> None:
        from sightline.tty.terminal._notices import notification

        self.write(notification(self.capabilities.notifications, title, body))

    def copy(self, text: str) -> bool:
        """Ask the terminal for its clipboard. Whether that was possible."""
        from sightline.tty.terminal._notices import clipboard

        request = "" if self._silent else clipboard(text, self.capabilities)
        self.write(request)
        return bool(request)

    def guard_screen(self, apart: bool) -> None:
        """Whether a view is on the alternate screen, for as long as it is there."""
        if apart and self._screen_guard is None:
            from sightline.tty.terminal._screen_guard import ScreenGuard

            self._screen_guard = ScreenGuard(self._writer.fd)
        elif not apart and self._screen_guard is not None:
            guard, self._screen_guard = self._screen_guard, None
            guard.dismiss()

    def _restore(self, *, at_rest: bool) -> None:
        """Safe at any moment, in a signal handler too (not `at_rest`), where part of a frame may have been sent.

        It may interrupt itself: a second signal while the first restoring waits for the terminal restores at once.
        """
        before = self._before
        if before is None:
            return
        self._restoring = True
        self._settle(at_rest=at_rest)
        self.guard_screen(False)
        restore_attributes(self._input, before)
        self._before = None
        self._restoring = False

    def _settle(self, *, at_rest: bool) -> None:
        """Everything that was drawn, the farewell, and everything off; or, given up, just that."""
        calm = at_rest or self._loop is None
        whole = calm and self._writer.drain(_PATIENCE if at_rest else 0)
        if self._listener is not None:
            self._listener.swallow()
        way_back = self.way_back()
        if not whole:
            # What was to be drawn is lost, so the way below it is not known.
            return self._give_up(self._modes.leave(f"{way_back}\r\n"))
        leave = self._modes.leave(self._farewell_text())
        self.write(leave)
        if self._writer.drain(_PATIENCE if at_rest else _SHORT_PATIENCE):
            return None
        return self._give_up(way_back + leave)

    def _give_up(self, leave: str) -> None:
        self._writer.discard()
        self.write(leave if self._silent else CANCEL + leave)
        self._writer.drain(_SHORT_PATIENCE)
        self._writer.discard()

    def _farewell_text(self) -> str:
        try:
            return self.interlude() if self._stopping else self.farewell()
        except Exception:  # whatever is broken, the terminal is restored
            return "\r\n"

    def _learned(self) -> None:
        listener, known = self._listener, self.capabilities
        if listener is None or self._guess is None:
            return
        if not self._silent:
            self.write(self._modes.adapt(listener.probes.answers))
        self._capabilities = self._guess.reconcile(listener.probes.answers)
        before, self._reported_size = self.size, listener.probes.size
        if self.size != before:
            # A report of the size that is known already is no resize.
            self.on_resize()
        if self._capabilities.dark != known.dark:
            listener.ask_background()
        if self._capabilities != known:
            self.on_capabilities(self._capabilities)

    def _blocked(self) -> None:
        if self._loop is not None:
            self._loop.add_writer(self._writer.fd, self._writable)

    def _writable(self) -> None:
        if self._writer.send() and self._loop is not None:
            self._loop.remove_writer(self._writer.fd)
            self.on_drained()

    def _continued(self) -> None:
        """After SIGSTOP, which cannot be handled: the shell had the terminal as it was, and may have changed it."""
        if not self._stopping:
            self._soon(self._take_again)

    def _take_again(self) -> None:
        if self._before is None:
            return
        try:
            make_raw(self._input)
        except termios.error:  # a terminal that goes away continues us too
            return
        self.write(self._modes.again())
        self.on_resume()

    def _postponed(self, end: Callable[[], None]) -> bool:
        """Unless the terminal is lent: then nothing is drawn, and the loop may not come to it for long."""
        if self._loop is None or self._loop.is_closed() or self._before is None:
            return False
        self._loop.call_soon_threadsafe(end)
        return True

    def _soon(self, react: Callable[[], object]) -> None:
        """React to a signal, which interrupts anything, when the loop is at rest."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(react)
        else:
            react()


def _positive(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() and 0 < int(text) < 10_000 else default


def _same_terminal(one: int, other: int) -> bool:
    return os.isatty(one) and os.isatty(other) and os.fstat(one).st_rdev == os.fstat(other).st_rdev


def _stop() -> None:
    handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(0, signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, handler)
