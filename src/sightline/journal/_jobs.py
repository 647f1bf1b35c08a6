"""Jobs as a call's events describe them, and what is stored of a call besides its events."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from sightline.events import CallEnding, Event, ToolOutput, ToolResult, ToolUse, call_ending
from sightline.journal._artifact import ArtifactReader
from sightline.journal._ids import session_of
from sightline.journal._index import JobIndex, JobRecord, JobState
from sightline.journal._writer import artifact_path
from sightline.text import clean_line, cut_graphemes
from sightline.transcript import StoredCall

_COMMAND_SHOWN = 1000

_STATES: dict[str, JobState] = {"cancelled": "cancelled", "timeout": "timed_out", "host": "lost"}
_ENDED: dict[JobState, str] = {"cancelled": "cancelled", "timed_out": "timeout"}


def job_began(event: ToolUse) -> JobRecord:
    args = event.args if isinstance(event.args, dict) else {}
    return JobRecord(
        id=event.id,
        session=session_of(event.id),
        command=cut_graphemes(clean_line(str(args.get("command", event.arg))), _COMMAND_SHOWN),
        cwd=clean_line(str(args.get("cwd", ""))),
        started=event.time,
        pty=bool(args.get("pty")),
    )


def job_ended(record: JobRecord, event: ToolResult) -> JobRecord:
    found = call_ending(event.details)
    state: JobState = _STATES.get(found.ended, "failed" if event.is_error or event.exit_code else "ok")
    return msgspec.structs.replace(
        record,
        state=state,
        exit_code=event.exit_code,
        duration=event.duration or 0.0,
        bytes=record.bytes if found.bytes is None else found.bytes,
    )


def jobs_of(events: Iterable[Event]) -> dict[str, JobRecord]:
    """Every command among the events, by id, as of the last of them."""
    found: dict[str, JobRecord] = {}
    for event in events:
        if isinstance(event, ToolUse) and session_of(event.id) and event.native_name == "exec":
            found[event.id] = job_began(event)
        elif isinstance(event, ToolResult) and event.id in found:
            found[event.id] = job_ended(found[event.id], event)
        elif isinstance(event, ToolOutput) and event.id in found:
            reached = event.offset + event.size
            found[event.id] = msgspec.structs.replace(found[event.id], bytes=reached)
    return found


def stored_calls(folder: Path, index: JobIndex) -> Callable[[str], StoredCall | None]:
    """For the repair of a session: what its artifacts and the list of jobs have of a call. A host whose disk was full
    may still have written the end of a job into the list."""
    jobs: dict[str, JobRecord] = {}

    def look(call: str) -> StoredCall | None:
        if not jobs:
            jobs.update(index.jobs())
        job = jobs.get(call)
        reader = ArtifactReader(artifact_path(folder, call))
        stored, missing = reader.size, reader.missing
        reader.close()
        if job is None or job.exit_code is None:
            return None if missing else StoredCall(f"artifact://{folder.name}/{call}", stored)
        failed = job.state in ("failed", "timed_out")
        details = CallEnding(ended=_ENDED.get(job.state, "exit")).as_details()
        end = ToolResult(call, "", details, failed, exit_code=job.exit_code, duration=job.duration)
        return StoredCall(f"artifact://{folder.name}/{call}", stored, job.bytes, end)

    return look
