"""Background jobs: one row each, with the last output of failed ones."""

from sightline.events import JobsFact, ShownJob
from sightline.text import clean_line, clean_text
from sightline.tty import truncate
from sightline.views.console.shapes._output import job_name
from sightline.views.console.shapes._shape import (
    FAILED_ROWS,
    FactShape,
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


class JobsShape(FactShape[JobsFact]):
    folded, unfolded = 8, 50

    @property
    def title(self) -> str:
        return clean_line(self.call.arg)

    @property
    def suffix(self) -> str:
        running = sum(job.status == "running" for job in self._fact.jobs)
        failed = sum(job.status == "failed" for job in self._fact.jobs)
        counts = ((running, "running"), (len(self._fact.jobs) - running, "ended"), (failed, "failed"))
        return " · ".join([f"{count} {state}" for count, state in counts if count])

    def body(self, width: int) -> ShapeBody:
        jobs, most = self._fact.jobs, self.most
        rows = [truncate(line, width) for line in self._cancelled()]
        if not jobs and not rows:
            return self.text_rows(self.call.content or "", width)
        rows += [row for job in jobs[:most] for row in self._job(job, width)]
        if len(jobs) > most:
            rows.append(self.more_items(len(jobs) - most, width))
        return ShapeBody(rows)

    def _cancelled(self) -> list[str]:
        known = [end for end in self._fact.cancelled or [] if end.status in _OUTCOMES]
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
            wrapped_lines = [row for line in lines for row in wrapped(clean_text(line[:2000]), max(width - 2, 2))]
            rows += indented(styled(theme, "error", wrapped_lines[-FAILED_ROWS:]))
        elif self.drawing.unfolded and words:
            last = words.rstrip("\n").rpartition("\n")[2]
            rows += indented(styled(theme, "muted", [truncate(line, width - 2) for line in clipped_lines(last, 1)]))
        return rows
