"""Jobs in a table or as JSON, and deleting old ones."""

import time
from contextlib import closing

import msgspec

from sightline.host import stored_jobs
from sightline.journal import JobRecord, JobState, Store, prune
from sightline.text import cut_graphemes
from sightline.views._script import script_in
from sightline.views.plain._figures import duration_words, parse_age, parse_size, size_words
from sightline.views.plain._output import pretty_json, room_in_row
from sightline.views.plain._palette import NEVER, STEP, Palette

NEWEST = 30
_COMMAND_SHOWN = 200
_BEFORE_THE_COMMAND = 49  # columns

_SIGNS: dict[JobState, tuple[str, str, str]] = {  # sign, word, what colour it has
    "running": (STEP["running"], "running", "busy"),
    "ok": (STEP["ok"], "ok", "good"),
    "failed": (STEP["error"], "failed", "bad"),
    "cancelled": (NEVER, "cancelled", "dim"),
    "timed_out": (STEP["error"], "timed out", "bad"),
    "lost": ("?", "lost", "bad"),
}


def jobs_table(store: Store, session: str, palette: Palette, *, limit: int | None) -> str:
    """The newest first; how many more there are at the end."""
    records = _records(store, session)
    if not records:
        return "no jobs yet: start one with sightline exec -- COMMAND\n"
    shown = records[:limit]
    rows = [_row(store, record, palette) for record in shown]
    head = f"{palette.dim}{'ID':<10} {'STATE':<14} {'TIME':>12} {'SIZE':>8}  COMMAND{palette.reset}"
    lines = [head, *rows]
    if len(records) > len(shown):
        lines.append(f"{palette.dim}… {len(records) - len(shown)} more: sightline jobs --all{palette.reset}")
    return "".join(f"{line}\n" for line in lines)


def jobs_json(store: Store, session: str, limit: int | None) -> bytes:
    return pretty_json([_facts(store, job) for job in _records(store, session)[:limit]])


def prune_jobs(store: Store, older_than: str, larger_than: str) -> str:
    gone = prune(store, older_than=parse_age(older_than), larger_than=parse_size(larger_than))
    if not gone.sessions:
        return f"nothing to delete: no job is older than {older_than}, and no more than {larger_than} is stored\n"
    return f"deleted {gone.sessions} {'session' if gone.sessions == 1 else 'sessions'}, {size_words(gone.bytes)}\n"


def _records(store: Store, session: str) -> list[JobRecord]:
    return [job for job in stored_jobs(store) if not session or job.session == session]


def _row(store: Store, record: JobRecord, palette: Palette) -> str:
    sign, word, colour = _SIGNS[record.state]
    if record.state == "failed" and record.exit_code is not None:
        word = f"exit {record.exit_code}"
    tint = getattr(palette, colour)
    room = min(_COMMAND_SHOWN, room_in_row(_BEFORE_THE_COMMAND, _COMMAND_SHOWN))
    command = cut_graphemes(script_in(record.command).replace("\n", " "), room)
    size, elapsed = size_words(_size(store, record)), duration_words(_elapsed(record))
    return f"{record.id:<10} {tint}{sign} {word:<12}{palette.reset} {elapsed:>12} {size:>8}  {command}"


def _facts(store: Store, record: JobRecord) -> dict[str, object]:
    facts: dict[str, object] = msgspec.to_builtins(record)
    whole = {name: getattr(record, name) for name in record.__struct_fields__} | facts
    del whole["duration"]
    return {**whole, "elapsed": round(_elapsed(record), 3), "bytes": _size(store, record)}


def _elapsed(record: JobRecord) -> float:
    if record.duration is not None:
        return record.duration
    return max(time.time() - record.started, 0.0)


def _size(store: Store, record: JobRecord) -> int:
    """The index knows it when a job has ended; until then the artifact does."""
    if record.state != "running":
        return record.bytes
    with closing(store.artifact(record.id)) as reader:
        return reader.size
