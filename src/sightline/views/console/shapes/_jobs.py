"""Background jobs: one row each, with what a failed one said."""

from typing import Any, NamedTuple

from sightline.text import clean_line, clean_text
from sightline.transcript import Call
from sightline.tty import truncate
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._output import job_name
from sightline.views.console.shapes._shape import (
    FAILED_ROWS,
    Body,
    Shape,
    clipped_lines,
    details_of,
    indented,
    kind_of,
    number_in,
    record,
    seconds_words,
    short,
    styled,
    text_in,
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


class Job(NamedTuple):
    id: str
    status: str
    label: str
    milliseconds: int
    said: str


class JobsShape(Shape):
    folded, unfolded = 8, 50

    def __init__(self, call: Call, drawing: Drawing, jobs: list[Job]) -> None:
        super().__init__(call, drawing)
        self._jobs = jobs

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

    def body(self, width: int) -> Body:
        if not self._jobs and not self._cancelled():
            return self.text_rows(self.call.content or "", width)
        most = self.unfolded if self.drawing.unfolded else self.folded
        rows = [truncate(line, width) for line in self._cancelled()]
        rows += [row for job in self._jobs[:most] for row in self._job(job, width)]
        if len(self._jobs) > most:
            rows.append(self.more_items(len(self._jobs) - most, width))
        said = any(job.said for job in self._jobs if job.status != "failed")
        return Body(rows, cut=len(self._jobs) > most or (said and self.call.content is not None))

    def _cancelled(self) -> list[str]:
        listed = details_of(self.call).get("cancelled")
        found = [record(item) for item in listed] if isinstance(listed, list) else []
        return [
            clean_line(f"job {job_name(item['id'])}: {_OUTCOMES[item['status']]}")
            for item in found
            if isinstance(item.get("id"), str) and item.get("status") in _OUTCOMES
        ]

    def _job(self, job: Job, width: int) -> list[str]:
        theme = self.drawing.theme
        sign, role = _LOOKS[job.status]
        sign = _SPOKEN[job.status] if self.drawing.linear else sign
        after = f"job {job_name(job.id)} · {seconds_words(job.milliseconds / 1000)}"
        row = f"{theme.style(role, sign)} {short(job.label, 120)} {theme.style('dim', after)}"
        rows = [truncate(row, width)]
        if job.status == "failed":
            lines = job.said.removesuffix("\n").rsplit("\n", FAILED_ROWS)[-FAILED_ROWS:] if job.said else []
            said = [row for line in lines for row in wrapped(clean_text(line[:2000]), max(width - 2, 2))]
            rows += indented(styled(theme, "error", said[-FAILED_ROWS:]))
        elif self.drawing.unfolded and job.said:
            last = job.said.rstrip("\n").rpartition("\n")[2]
            rows += indented(styled(theme, "muted", [truncate(line, width - 2) for line in clipped_lines(last, 1)]))
        return rows


def _jobs(value: Any) -> list[Job] | None:
    if not isinstance(value, list):
        return None
    jobs = [_one(record(item)) for item in value]
    complete = [job for job in jobs if job is not None]
    return complete if len(complete) == len(jobs) else None


def _one(item: dict[str, Any]) -> Job | None:
    ident, status, label = item.get("id"), item.get("status"), item.get("label")
    if not (isinstance(ident, str) and isinstance(label, str) and isinstance(status, str) and status in _LOOKS):
        return None
    said = text_in(item, "error_text", "result_text")
    return Job(clean_line(ident), status, clean_line(label), number_in(item, "duration_ms") or 0, said)


def jobs(call: Call, drawing: Drawing) -> Shape | None:
    found = _jobs(details_of(call).get("jobs")) if kind_of(call) == "jobs" else None
    return None if found is None else JobsShape(call, drawing, found)
