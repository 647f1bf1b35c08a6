"""`job`: wait for background jobs, cancel them, or list them.

Rules:

- Cancelling comes first. A wait is over when the first watched job ends, after its time, or when the call is cancelled;
  it never ends a job.
- Whatever has ended among what is told here counts as told: it is not delivered again.
"""

import asyncio
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sightline.exec import CancelOutcome, Jobs, JobSnapshot
from sightline.tools._context import ToolContext
from sightline.tools._tool import Outcome, Tool, ToolError

_WAITS = {"5s": 5.0, "10s": 10.0, "30s": 30.0, "1m": 60.0, "5m": 300.0}
_TEXT_IN_DETAILS = 4000  # characters of what a job said, for views

DISABLED = "Async execution is disabled; no background jobs are available."
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
        "while; call it again to go on waiting."
    )
    params = JobParams

    def preview(self, params: JobParams) -> str:
        return "list" if params.listing else ", ".join([*(params.cancel or ()), *(params.poll or ())])

    async def execute(self, params: JobParams, context: ToolContext) -> Outcome:
        if params.listing and (params.poll is not None or params.cancel is not None):
            raise ToolError("list cannot be combined with poll or cancel; call job once for each")
        jobs = context.workplace.jobs
        if jobs is None:
            return _outcome(DISABLED, [], None)
        if params.listing:
            return _listed(jobs, context)
        cancelled = None
        if params.cancel is not None:
            cancelled = [(id, jobs.cancel(id)) for id in dict.fromkeys(params.cancel)]
            if params.poll is None and params.cancel:
                return _told(_known(jobs, [id for id, _ in cancelled]), cancelled)
        return await self._polled(jobs, params, cancelled, context)

    async def _polled(self, jobs: Jobs, params: JobParams, cancelled: _Cancelled, context: ToolContext) -> Outcome:
        ids = _watched(jobs, params, context)
        if not ids:
            if cancelled:
                return _told(_known(jobs, [id for id, _ in cancelled]), cancelled)
            if params.poll:
                return _outcome(f"No matching jobs found for IDs: {', '.join(params.poll)}", [], cancelled)
            return _outcome(NOTHING_TO_WAIT_FOR, [], cancelled)

        def progress(snapshots: list[JobSnapshot]) -> None:
            context.update({"ui": {"kind": "jobs"}, "jobs": _as_data(snapshots)})

        try:
            found = await jobs.wait(ids, _WAITS[context.settings.jobs.poll_wait], progress=progress)
        except asyncio.CancelledError:
            found = _known(jobs, ids)  # the person stopped the wait, not the jobs
            jobs.acknowledge(job.id for job in found)
        also = _known(jobs, [id for id, _ in cancelled or () if id not in ids])
        return _told([*also, *found], cancelled)


def _watched(jobs: Jobs, params: JobParams, context: ToolContext) -> list[str]:
    if params.poll is not None:
        return [id for id in dict.fromkeys(params.poll) if jobs.get(id) is not None]
    return [job.id for job in jobs.snapshots(context.agent) if job.status == "running"]


def _known(jobs: Jobs, ids: list[str]) -> list[JobSnapshot]:
    return [job for id in ids if (job := jobs.get(id)) is not None]


def _listed(jobs: Jobs, context: ToolContext) -> Outcome:
    found = jobs.snapshots(context.agent)
    if not found:
        return _outcome("No background jobs.", [], None)
    return _told(found, None)


def _told(found: list[JobSnapshot], cancelled: _Cancelled) -> Outcome:
    ended = [job for job in found if job.status != "running"]
    running = [job for job in found if job.status == "running"]
    parts: list[str] = []
    if cancelled:
        parts.append("\n".join([f"## Cancelled ({len(cancelled)})", *[f"- {id}: {how}" for id, how in cancelled]]))
    if ended:
        parts.append("\n\n".join([f"## Completed ({len(ended)})", *map(_ended, ended)]))
    if running:
        lines = [f"- {job.id} ({job.label}), {job.duration_ms / 1000:.1f} s" for job in running]
        parts.append("\n".join([f"## Still Running ({len(running)})", *lines]))
    return _outcome("\n\n".join(parts), found, cancelled)


def _ended(job: JobSnapshot) -> str:
    head = f"### {job.id} ({job.label}): {job.status} after {job.duration_ms / 1000:.1f} s"
    return "\n".join([head, *[text for text in (job.result_text, job.error_text) if text]])


def _outcome(text: str, found: list[JobSnapshot], cancelled: _Cancelled) -> Outcome:
    details: dict[str, Any] = {"ui": {"kind": "jobs"}, "jobs": _as_data(found)}
    if cancelled is not None:
        details["cancelled"] = [{"id": id, "status": how} for id, how in cancelled]
    return Outcome(text=text, details=details)


def _as_data(found: list[JobSnapshot]) -> list[dict[str, Any]]:
    rows = []
    for job in found:
        row: dict[str, Any] = {
            "id": job.id,
            "type": job.kind,
            "status": job.status,
            "label": job.label,
            "duration_ms": job.duration_ms,
        }
        if job.result_text is not None:
            row["result_text"] = job.result_text[-_TEXT_IN_DETAILS:]
        if job.error_text is not None:
            row["error_text"] = job.error_text[-_TEXT_IN_DETAILS:]
        rows.append(row)
    return rows
