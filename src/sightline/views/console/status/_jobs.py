"""The panel of jobs: commands that run in the background, each with its last line of output."""

from collections.abc import Callable

from sightline.events import SessionJob
from sightline.text import OutputScreen, clean_line, row_text
from sightline.transcript import Snapshot, TranscriptCall
from sightline.tty import Component, Rows, measure, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._output import job_name
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import Facts

MOST = 4
_TAIL = 400  # characters of output that are searched for the last line


class JobsPanel(Component):
    """No rows while no job runs."""

    def __init__(self, drawing: DrawingOptions, state: Callable[[], Snapshot]) -> None:
        self._drawing = drawing
        self._state = state
        self._rows: Rows = ()
        self._calls: tuple[Snapshot, dict[str, TranscriptCall]] | None = None

    @property
    def ticks(self) -> bool:
        return bool(Facts(self._state()).jobs)

    def render(self, width: int) -> Rows:
        jobs = Facts(self._state()).jobs
        if not jobs:
            return ()
        now = self._drawing.clock()
        rows = [self._row(job, now, width) for job in jobs[:MOST]]
        if len(jobs) > MOST:
            rows.append(self._drawing.theme.style("dim", truncate(f"  … {len(jobs) - MOST} more: /jobs", width)))
        if rows != list(self._rows):
            self._rows = tuple(rows)
        return self._rows

    def _row(self, job: SessionJob, now: float, width: int) -> str:
        theme = self._drawing.theme
        since = seconds_words(now - job.started) if job.started is not None else ""
        head = clean_line(f"◌ job {job_name(job.id)} {job.label}")
        head = truncate(f"{truncate(head, max(10, width // 2))} · {since}", width)
        line = self._last_line(job.id)
        room = width - measure(head) - 3
        if not line or room < 10:
            return theme.style("accent", head)
        return f"{theme.style('accent', head)} {theme.style('muted', f'· {truncate(line, room - 2)}')}"

    def _last_line(self, id: str) -> str:
        call = self._call(id)
        return "" if call is None else _last_row("".join([piece.text for piece in call.pieces[-2:]])[-_TAIL:])

    def _call(self, id: str) -> TranscriptCall | None:
        """The call of a job. It is searched once: the job may have begun long ago, and this runs in every frame."""
        state = self._state()
        if self._calls is None or self._calls[0] is not state:
            self._calls = (state, {})
        known = self._calls[1]
        if id not in known:
            found = (entry for entry in reversed(state.entries) if isinstance(entry, TranscriptCall) and entry.id == id)
            call = next(found, None)
            if call is None:
                return None
            known[id] = call
        return known[id]


def _last_row(output: str) -> str:
    """The last row that is not empty, as a terminal would show it."""
    screen = OutputScreen()
    screen.feed(output)
    rows = [clean_line(row_text(row)) for row in (*screen.take_settled(), *screen.live)]
    return next((row for row in reversed(rows) if row.strip()), "")
