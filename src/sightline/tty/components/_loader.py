"""Loaders: a spinner and a label while something is in progress.

The frame shown depends on the clock alone: late ticks skip frames and never slow the turning down, and rows rendered
between two ticks are the rows of the frame that is due.
"""

import time
from collections.abc import Callable

from sightline.text import clean_line
from sightline.tty._component import Component, Input, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.frame._scheduler import CallLater, Timer
from sightline.tty.input._bindings import Bindings
from sightline.tty.theme._theme import PLAIN, Theme

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK = 0.08
_STILL, _CANCELLED = "○", "–"


class Loader(Component):
    """A sign and a label. The sign turns between `start` and `stop`; before and after it is one that stands still."""

    def __init__(
        self,
        label: str = "",
        *,
        call_later: CallLater,
        request_render: Callable[[Component], None],
        frames: str = FRAMES,
        clock: Callable[[], float] = time.monotonic,
        theme: Theme = PLAIN,
    ) -> None:
        self._label = clean_line(label)
        self._call_later = call_later
        self._request_render = request_render
        self._frames = frames
        self._clock = clock
        self._theme = theme
        self._started: float | None = None
        self._timer: Timer | None = None
        self._made_of: tuple[int, str] | None = None
        self._rows: Rows = ()

    def start(self) -> None:
        if self._started is None:
            self._started = self._clock()
            self._tick()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._started = self._timer = None

    def set_label(self, label: str) -> None:
        if self.set_quietly(label):
            self._request_render(self)

    def set_quietly(self, label: str) -> bool:
        """Another label, for callers that draw it now anyway. Returns whether it is another."""
        before, self._label = self._label, clean_line(label)
        if self._label == before:
            return False
        self.invalidate()
        return True

    def render(self, width: int) -> Rows:
        frame = _STILL if self._started is None else self._frames[self._ticks() % len(self._frames)]
        if (width, frame) != self._made_of:
            self._made_of = (width, frame)
            self._rows = (self._row(max(width, 1), frame),)
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None

    def dispose(self) -> None:
        self.stop()

    def _row(self, width: int, frame: str) -> str:
        room = width - measure(frame) - 1
        sign = self._theme.style("muted" if frame == _STILL else "spinner", truncate(frame, width))
        return f"{sign} {truncate(self._label, room)}" if room > 0 and self._label else sign

    def _ticks(self) -> int:
        """Whole ticks since the start. A hair is added: a timer may fire a rounding error before its time."""
        return 0 if self._started is None else int((self._clock() - self._started) / TICK + 0.01)

    def _tick(self) -> None:
        if self._started is None:
            return
        self._request_render(self)
        due = self._started + (self._ticks() + 1) * TICK
        self._timer = self._call_later(max(due - self._clock(), 0), self._tick)


class Cancel:
    """A signal for the work to end: whether the user cancelled it."""

    def __init__(self) -> None:
        self.cancelled = False
        self._then: list[Callable[[], None]] = []

    def on_abort(self, then: Callable[[], None]) -> None:
        """Call this when it is cancelled, at once if it is already."""
        if self.cancelled:
            then()
        else:
            self._then.append(then)

    def cancel(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            waiting, self._then = self._then, []
            for then in waiting:
                then()


class CancellableLoader(Loader):
    """A loader that ends on the key that interrupts, and shows that: `signal` is for the work, which may cancel it too,
    `on_abort` for the owner of the loader."""

    def __init__(
        self,
        label: str = "",
        *,
        call_later: CallLater,
        request_render: Callable[[Component], None],
        on_abort: Callable[[], None] | None = None,
        bindings: Bindings | None = None,
        frames: str = FRAMES,
        clock: Callable[[], float] = time.monotonic,
        theme: Theme = PLAIN,
    ) -> None:
        super().__init__(
            label, call_later=call_later, request_render=request_render, frames=frames, clock=clock, theme=theme
        )
        self._bindings = bindings or Bindings()
        self.signal = Cancel()
        self.signal.on_abort(self._end)
        if on_abort is not None:
            self.signal.on_abort(on_abort)

    def handle_input(self, event: Input) -> bool:
        if not self._bindings.matches(event, "interrupt"):
            return False
        self.signal.cancel()
        return True

    def _end(self) -> None:
        self.stop()
        self.invalidate()
        self._request_render(self)

    def _row(self, width: int, frame: str) -> str:
        if self.signal.cancelled:
            return self._cancelled_row(width)
        row = super()._row(width, frame)
        hint = "".join(f" ({key} to cancel)" for key in self._bindings.keys("interrupt")[:1])
        return row + self._theme.style("hint", hint) if measure(row) + len(hint) <= width else row

    def _cancelled_row(self, width: int) -> str:
        """Where there is not room for both, that it was cancelled matters more than what was."""
        row = f"{_CANCELLED} {self._label} (cancelled)"
        if not self._label or measure(row) > width:
            row = truncate(f"{_CANCELLED} cancelled", width)
        return self._theme.style("muted", row)
