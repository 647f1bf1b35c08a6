"""A regular line for screen readers while the agent works: what it does, and for how long."""

from collections.abc import Callable

from sightline.transcript import Snapshot
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import Facts

FIRST, BETWEEN = 15.0, 60.0
"""Seconds of work until the first line, and between lines."""


class Pulse:
    """`look` is called after every change."""

    def __init__(
        self,
        state: Callable[[], Snapshot],
        report: Callable[[str], None],
        *,
        clock: Callable[[], float],
        call_later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._state = state
        self._report = report
        self._clock = clock
        self._call_later = call_later
        self._since: float | None = None
        self._waiting = False

    def look(self) -> None:
        if not Facts(self._state()).activity:
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
        if took < FIRST:  # the work that was waited for has ended
            self._wait(FIRST - took)
            return
        facts = Facts(self._state())
        if not facts.waits:
            self._report(f"still {facts.activity}, for {seconds_words(took)}; /stop to stop it")
        self._wait(BETWEEN)
