"""What a call's events say about it as a job."""

from collections.abc import Iterable
from typing import Any

import msgspec

from sightline.events import Event, ToolOutput, ToolResult, ToolUse
from sightline.journal._ids import session_of
from sightline.journal._index import JobRecord, JobState
from sightline.text import clean_line, cut_graphemes

_COMMAND_SHOWN = 1000

_STATES: dict[str, JobState] = {"cancelled": "cancelled", "timeout": "timed_out", "host": "lost"}


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
    details: dict[str, Any] = event.details if isinstance(event.details, dict) else {}
    state: JobState = _STATES.get(str(details.get("ended")), "failed" if event.is_error or event.exit_code else "ok")
    return msgspec.structs.replace(
        record,
        state=state,
        exit_code=event.exit_code,
        duration=event.duration or 0.0,
        bytes=int(details.get("bytes", record.bytes)),
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
