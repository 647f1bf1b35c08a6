"""A word now and then for who listens: that it goes on, with what, and since when."""

from collections.abc import Callable

from sightline.transcript import Snapshot
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import Facts

FIRST, BETWEEN = 15.0, 60.0
"""Seconds of work until it is said, and until it is said again."""


class Pulse:
    """Told to look whenever something happened."""

    def __init__(
        self,
        state: Callable[[], Snapshot],
        say: Callable[[str], None],
        *,
        clock: Callable[[], float],
        call_later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._state = state
        self._say = say
        self._clock = clock
        self._call_later = call_later
        self._since: float | None = None
        self._waiting = False

    def look(self) -> None:
        if not Facts(self._state()).going_on:
            self._since = None
        elif self._since is None:
            self._since = self._clock()
            self._wait(FIRST)

    def _wait(self, seconds: float) -> None:
        if not self._waiting:
            self._waiting = True
            self._call_later(seconds, self._beat)

    def _beat(self) -> None:
        self._waiting = False
        if self._since is None:
            return
        took = self._clock() - self._since
        if took < FIRST:  # another piece of work than was waited for
            self._wait(FIRST - took)
            return
        facts = Facts(self._state())
        if not facts.waits:
            self._say(f"still {facts.going_on}, for {seconds_words(took)}; /stop to stop it")
        self._wait(BETWEEN)
