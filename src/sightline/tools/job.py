"""`job`: wait for background jobs, cancel them, or list them.

Rules:

- Cancelling comes first. A wait is over when the first watched job ends, after its time, or when the call is cancelled;
  it never ends a job.
- A job whose end is reported here is acknowledged: its end is not delivered again.
- An empty list of ids is as good as none: it is no reason to refuse `list`, and a wait for no jobs ends at once.
"""

import asyncio
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from sightline.events import JobCancelled, JobsFact, ShownJob
from sightline.exec import CancelOutcome, Jobs, JobSnapshot
from sightline.tools._context import ToolContext
from sightline.tools._tool import Outcome, Tool, ToolError

_WAITS = {"5s": 5.0, "10s": 10.0, "30s": 30.0, "1m": 60.0, "5m": 300.0}
_IN_DETAILS, _ALL_IN_DETAILS = 4000, 40_000  # characters of one job's text, and of all of them, for views
_ALL_IN_TEXT = 150_000  # characters of all texts, for the model; shared out among several long ones

DISABLED = "Async execution is disabled; no background jobs are available."
NO_JOBS = "No background jobs."
NOTHING_TO_WAIT_FOR = "No running background jobs to wait for."

_Cancelled = list[tuple[str, CancelOutcome]] | None


class JobParams(msgspec.Struct, frozen=True, kw_only=True):
    poll: Annotated[list[str], Meta(description="Jobs to wait for; without it all that run.")] | None = None
    cancel: Annotated[list[str], Meta(description="Jobs to end first.")] | None = None
    listing: Annotated[bool, Meta(description="Only say which jobs there are, without waiting.")] = msgspec.field(
        default=False, name="list"
    )


class JobTool(Tool[JobParams]):
    name = "job"
    description = (
        "Wait for background jobs, end them, or list them. A wait ends when the first of the jobs ends or after a "
        "while; call it again to wait longer."
    )
    params = JobParams

    def preview(self, params: JobParams) -> str:
        ids = [*(params.cancel or ()), *(params.poll or ())]
        return "list" if params.listing else ", ".join(ids) or "all"

    async def execute(self, params: JobParams, context: ToolContext) -> Outcome:
        if params.listing and (params.poll or params.cancel):
            raise ToolError("list cannot be combined with poll or cancel; call job once for each")
        jobs = context.workplace.jobs
        if jobs is None or not (context.settings.jobs.enabled or jobs.snapshots()):
            return _outcome(DISABLED, [], None)
        if params.listing:
            found = jobs.snapshots(context.agent)
            return _reported(jobs, found, None) if found else _outcome(NO_JOBS, [], None)
        cancelled = None
        if params.cancel is not None:
            cancelled = [(id, jobs.cancel(id)) for id in dict.fromkeys(params.cancel)]
        if cancelled and params.poll is None:
            return _reported(jobs, _known(jobs, params.cancel), cancelled)
        return await self._polled(jobs, params, cancelled, context)

    async def _polled(self, jobs: Jobs, params: JobParams, cancelled: _Cancelled, context: ToolContext) -> Outcome:
        ids = _watched(jobs, params, context)
        if not ids:
            if cancelled:
                return _reported(jobs, _known(jobs, params.cancel), cancelled)
            if params.poll:
                return _outcome(f"No matching jobs found for IDs: {', '.join(params.poll)}", [], cancelled)
            return _outcome(NOTHING_TO_WAIT_FOR, [], cancelled)

        def progress(snapshots: list[JobSnapshot]) -> None:
            context.update(JobsFact(jobs=_as_data(snapshots)).as_details())

        try:
            found = await jobs.wait(ids, _WAITS[context.settings.jobs.poll_wait], progress=progress)
        except asyncio.CancelledError:
            found = _known(jobs, ids)  # the user stopped the wait, not the jobs
        also = [job for job in _known(jobs, params.cancel) if job.id not in ids]
        return _reported(jobs, [*also, *found], cancelled)


def _watched(jobs: Jobs, params: JobParams, context: ToolContext) -> list[str]:
    if params.poll is not None:
        return [id for id in dict.fromkeys(params.poll) if jobs.get(id) is not None]
    return [job.id for job in jobs.snapshots(context.agent) if job.status == "running"]


def _known(jobs: Jobs, ids: Iterable[str] | None) -> list[JobSnapshot]:
    return [job for id in dict.fromkeys(ids or ()) if (job := jobs.get(id)) is not None]


def _reported(jobs: Jobs, found: list[JobSnapshot], cancelled: _Cancelled) -> Outcome:
    jobs.acknowledge(job.id for job in found)
    ended = [job for job in found if job.status != "running"]
    running = [job for job in found if job.status == "running"]
    parts: list[str] = []
    if cancelled:
        parts.append("\n".join([f"## Cancelled ({len(cancelled)})", *[f"- {id}: {how}" for id, how in cancelled]]))
    if ended:
        most = _ALL_IN_TEXT // len(ended)
        parts.append("\n\n".join([f"## Completed ({len(ended)})", *[_ended(job, most) for job in ended]]))
    if running:
        lines = [f"- {job.id} ({job.label}), {job.duration_ms / 1000:.1f} s" for job in running]
        parts.append("\n".join([f"## Still Running ({len(running)})", *lines]))
    return _outcome("\n\n".join(parts), found, cancelled)


def _ended(job: JobSnapshot, most: int) -> str:
    head = f"### {job.id} ({job.label}): {job.status} after {job.duration_ms / 1000:.1f} s"
    text = "\n".join([part for part in (job.result_text, job.error_text) if part])
    if len(text) > most:
        text = f"[the last {most} of {len(text)} characters; poll it alone for all of them]\n{text[-most:]}"
    return f"{head}\n{text}".rstrip("\n")


def _outcome(text: str, found: list[JobSnapshot], cancelled: _Cancelled) -> Outcome:
    ends = None if cancelled is None else [JobCancelled(id, how) for id, how in cancelled]
    return Outcome(text=text, details=JobsFact(jobs=_as_data(found), cancelled=ends).as_details())


def _as_data(found: list[JobSnapshot]) -> list[ShownJob]:
    most = min(_IN_DETAILS, _ALL_IN_DETAILS // max(len(found), 1))
    return [_row(job, most) for job in found]


def _row(job: JobSnapshot, most: int) -> ShownJob:
    result, error = (text and text[-most:] for text in (job.result_text, job.error_text))
    return ShownJob(job.id, job.status, job.label, job.kind, job.duration_ms, result, error)
