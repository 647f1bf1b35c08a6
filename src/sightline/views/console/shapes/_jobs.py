"""Background jobs: one row each, with what a failed one said."""

from sightline.events import JobsFact, ShownJob
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.tty import truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._output import job_name
from sightline.views.console.shapes._shape import (
    FAILED_ROWS,
    Shape,
    ShapeBody,
    clipped_lines,
    indented,
    seconds_words,
    short,
    styled,
    wrapped,
)

_LOOKS = {
    "running": ("◌", "accent"),
    "completed": ("✓", "success"),
    "failed": ("✕", "error"),
    "cancelled": ("–", "muted"),
}
_SPOKEN = {"running": "running:", "completed": "ok:", "failed": "failed:", "cancelled": "cancelled:"}
_OUTCOMES = {"cancelled": "cancelled", "not_found": "not found", "already_completed": "had already ended"}


class JobsShape(Shape):
    folded, unfolded = 8, 50

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: JobsFact) -> None:
        super().__init__(call, drawing)
        self._jobs, self._ends = fact.jobs, fact.cancelled or []

    @property
    def title(self) -> str:
        return clean_line(self.call.arg)

    @property
    def suffix(self) -> str:
        running = sum(job.status == "running" for job in self._jobs)
        failed = sum(job.status == "failed" for job in self._jobs)
        ended = len(self._jobs) - running
        parts = [f"{running} running" if running else "", f"{ended} ended" if ended else ""]
        parts.append(f"{failed} failed" if failed else "")
        return " · ".join([part for part in parts if part])

    def body(self, width: int) -> ShapeBody:
        if not self._jobs and not self._cancelled():
            return self.text_rows(self.call.content or "", width)
        most = self.unfolded if self.drawing.unfolded else self.folded
        rows = [truncate(line, width) for line in self._cancelled()]
        rows += [row for job in self._jobs[:most] for row in self._job(job, width)]
        if len(self._jobs) > most:
            rows.append(self.more_items(len(self._jobs) - most, width))
        return ShapeBody(rows)

    def _cancelled(self) -> list[str]:
        known = [end for end in self._ends if end.status in _OUTCOMES]
        return [clean_line(f"job {job_name(end.id)}: {_OUTCOMES[end.status]}") for end in known]

    def _job(self, job: ShownJob, width: int) -> list[str]:
        theme = self.drawing.theme
        sign, role = _LOOKS[job.status]
        sign = _SPOKEN[job.status] if self.drawing.linear else sign
        after = f"job {job_name(job.id)} · {seconds_words(job.seconds)}"
        row = f"{theme.style(role, sign)} {short(job.label, 120)} {theme.style('dim', after)}"
        rows = [truncate(row, width)]
        words = job.error_text or job.result_text or ""
        if job.status == "failed":
            lines = words.removesuffix("\n").rsplit("\n", FAILED_ROWS)[-FAILED_ROWS:] if words else []
            said = [row for line in lines for row in wrapped(clean_text(line[:2000]), max(width - 2, 2))]
            rows += indented(styled(theme, "error", said[-FAILED_ROWS:]))
        elif self.drawing.unfolded and words:
            last = words.rstrip("\n").rpartition("\n")[2]
            rows += indented(styled(theme, "muted", [truncate(line, width - 2) for line in clipped_lines(last, 1)]))
        return rows


def jobs(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    fact = JobsFact.of(call.details)
    return None if fact is None else JobsShape(call, drawing, fact)
