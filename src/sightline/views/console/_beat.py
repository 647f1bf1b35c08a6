"""The timer that draws without an event: elapsed times, and blocks that are not drawn completely yet.

A block too long for one frame is drawn in slices, one per frame; keys are read between them. It waits where rows would
pile up: under an overlay nothing becomes history, and a slow terminal accepts no frame.
"""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tty import Application
    from sightline.views.console.status import JobsPanel
    from sightline.views.console.transcript._transcript_view import TranscriptView

_TICK, _SOON, _NEXT = 1.0, 1 / 30, 0.001


class Beat:
    """Call `schedule` whenever there may be something to draw; it stops by itself."""

    def __init__(self, application: "Application", transcript: "TranscriptView", jobs: "JobsPanel") -> None:
        self._application = application
        self._transcript = transcript
        self._jobs = jobs
        self._timer: asyncio.TimerHandle | None = None

    def schedule(self) -> None:
        """Draw elapsed times every second, as long as there are any; unfinished blocks soon."""
        wait = self._wait()
        if self._application.linear or wait is None:
            return
        loop = self._application.loop
        due = loop.time() + wait
        if self._timer is None or self._timer.when() > due:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(due, self._beat)

    def _wait(self) -> float | None:
        """Seconds to the next frame; None: none is needed."""
        ticking = self._transcript.ticking
        if self._transcript.behind:
            return _SOON if self._is_held_up() else _NEXT
        if any(block.catches_up for block in ticking):
            return _SOON
        return _TICK if ticking or self._jobs.ticks else None

    def _is_held_up(self) -> bool:
        display = self._application.display
        return display.surface.busy or bool(display.visible_overlays())

    def _beat(self) -> None:
        self._timer = None
        display = self._application.display
        if self._transcript.behind and not self._is_held_up():
            display.request_render(self._transcript.advance(), urgent=True)
        for block in self._transcript.ticking:
            display.request_render(block)
        if self._jobs.ticks:
            display.request_render(self._jobs)
        self.schedule()
