"""`/jobs`: commands that run in the background, and those that have ended: their output, and cancelling one."""

from functools import partial

import msgspec

from sightline.events import JobsState, call_ending
from sightline.host import CancelJob
from sightline.secrets import MaskedArtifact, secrets_here
from sightline.text import clean_line
from sightline.transcript import Snapshot, TranscriptCall
from sightline.tty import Rows
from sightline.tty.components import Item
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._pager import PagerDocument, show
from sightline.views.console.selectors._panel import Hints, LivePanel
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status import Facts

_WORDS = {
    "running": "◌ running",
    "completed": "✓ ok",
    "failed": "✕ failed",
    "cancelled": "– cancelled",
    "timeout": "✕ timed out",
    "lost": "? lost",
}
"""As `sightline jobs` has them."""


class JobLine(msgspec.Struct, frozen=True):
    """One line of the list."""

    id: str
    label: str
    running: bool
    facts: str = ""


async def open(desk: Desk, args: str) -> None:
    at = ""
    while True:
        panel = JobsSelector(desk, at)
        if not panel.jobs():
            desk.report("no jobs in this session")
            return
        desk.spawn(panel.poll())
        at = await desk.ask(panel)
        if at is None:
            return
        label = next((job.label for job in panel.jobs() if job.id == at), at)
        await show(desk, [partial(_document, desk, at, label)])


class JobsSelector(LivePanel):
    """Answers with the id of a job whose output is to be shown."""

    def __init__(self, desk: Desk, at: str) -> None:
        self._offered: Hints = ()
        super().__init__(desk, "Jobs", at, hints=self._offered, keys={"list_remove": self._remove})

    def jobs(self) -> list[JobLine]:
        return jobs_of(self.desk.state, self.desk.drawing.clock())

    def current_items(self) -> list[Item]:
        return [_item(job) for job in self.jobs()]

    def render(self, width: int) -> Rows:
        marked = self.list.highlighted
        runs = marked is not None and marked.group == "running"
        hints = (("list_remove", "cancel"),) if runs else ()
        if hints != self._offered:
            self._offered = hints
            self.offer(hints)
        return super().render(width)

    def _remove(self, item: Item) -> None:
        self.desk.spawn(self._cancel_job(item.value))

    async def _cancel_job(self, id: str) -> None:
        reply = await self.desk.submit(CancelJob(id))
        self.heading.set_note("cancelled" if reply.ok else reply.error)
        self.look()
        self.redraw()


def jobs_of(state: Snapshot, now: float) -> list[JobLine]:
    """Running jobs first. The session's list of jobs counts for more than its transcript."""
    calls = (entry for entry in state.entries if isinstance(entry, TranscriptCall))
    found = {call.id: _ended(call) for call in calls if call.is_job and not call.by_user}  # a review is no command
    listed = JobsState.among(state.state)
    for job in listed.jobs if listed else ():
        status = clean_line(job.status)
        running = status == "running"
        facts = _WORDS.get(status, status)
        if running and job.started is not None:
            facts += f" · {seconds_words(now - job.started)}"
        found[job.id] = JobLine(job.id, clean_line(job.label), running, facts)
    return sorted(found.values(), key=lambda job: (not job.running, -_number(job.id)))


def _ended(call: TranscriptCall) -> JobLine:
    facts = [_WORDS[_state(call)]]
    facts += [f"exit {call.exit_code}"] if call.exit_code is not None else []
    facts += [seconds_words(call.duration)] if call.duration is not None else []
    command = call.args.get("command") if isinstance(call.args, dict) else None
    return JobLine(call.id, clean_line(command if isinstance(command, str) else call.name), False, " · ".join(facts))


def _state(call: TranscriptCall) -> str:
    if call.content is None:
        return "lost"
    ended = call_ending(call.details).ended
    return ended if ended in ("cancelled", "timeout") else "failed" if call.is_error else "completed"


def _item(job: JobLine) -> Item:
    return Item(job.id, f"job {_number(job.id)} {job.label}".strip(), job.facts, "running" if job.running else "ended")


def _number(id: str) -> int:
    digits = id.rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() else 0


def _document(desk: Desk, id: str, label: str) -> PagerDocument:
    def runs() -> bool:
        return any(job.id == id for job in Facts(desk.state).jobs)

    source = MaskedArtifact(desk.store.artifact_path(id), secrets_here(desk.settings), runs)
    return PagerDocument(f"job {_number(id)}: {label}", source, runs)
