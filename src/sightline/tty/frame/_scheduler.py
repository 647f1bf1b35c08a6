"""When frames are drawn: requests are gathered, ordinary frames have a minimum distance, what was typed does not wait.

What comes after a quiet moment is drawn at once. A spinner does not disturb the quiet: frames that change a few rows in
place (small ones) have that distance from all others, but others only from each other.
"""

from collections.abc import Callable
from typing import Protocol

FRAME_INTERVAL = 1 / 30
RESIZE_SETTLE, LONGEST_HOLD = 0.06, 0.5
# tmux reports another size at most every 250 ms, but wraps what it shows anew at once: a frame that is drawn in between
# is for a screen that is not there any more, and may erase rows of history. So none is, however long that lasts.
TMUX_SETTLE, TMUX_LONGEST_HOLD = 0.3, float("inf")


class Timer(Protocol):
    def cancel(self) -> object: ...


CallLater = Callable[[float, Callable[[], None]], Timer]  # an event loop's `call_later`


class Clock(Protocol):
    """Time and timers: the event loop's, or a test's own."""

    def time(self) -> float: ...

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer: ...


class Scheduler:
    """Calls `draw` for any number of requests at most once an interval, and soon for an urgent one."""

    def __init__(self, clock: Clock, draw: Callable[[], object]) -> None:
        self._clock = clock
        self._draw = draw
        self._timer: Timer | None = None
        self._due = 0.0
        self._last = self._last_small = float("-inf")
        self._held_until = float("-inf")
        self._held_since: float | None = None

    def request(self, *, urgent: bool = False, small: bool = False) -> None:
        now = self._clock.time()
        last = max(self._last, self._last_small) if small else self._last
        due = max(now if urgent else last + FRAME_INTERVAL, self._held_until)
        self._schedule(max(now, due))

    def hold(self, settle: float = RESIZE_SETTLE, longest: float = LONGEST_HOLD) -> None:
        """The size is changing: nothing is drawn until it has been still for a moment, or not for too long."""
        now = self._clock.time()
        if self._held_since is None:
            self._held_since = now
        self._held_until = min(now + settle, self._held_since + longest)
        self.stop()
        self._schedule(self._held_until)

    def drawn(self, *, small: bool = False) -> None:
        """A frame was drawn, requested or not: what was requested before is in it."""
        if small:
            self._last_small = self._clock.time()
        else:
            self._last = self._clock.time()
        self._held_since = None
        self.stop()

    def _schedule(self, due: float) -> None:
        if self._timer is not None and self._due <= due:
            return
        self.stop()
        self._due = due
        self._timer = self._clock.call_later(max(0.0, due - self._clock.time()), self._fire)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        self._draw()
