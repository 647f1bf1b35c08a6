"""`/jobs`: commands that run in the background, and those that have ended: their output, and cancelling one."""

import asyncio
from functools import partial

import msgspec

from sightline.host import Cancel, MaskedArtifact, secrets_here
from sightline.text import clean_line
from sightline.transcript import Call, Snapshot
from sightline.tty.components import Item
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._pager import Document, show
from sightline.views.console.selectors._panel import Choice
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status import Facts

_LOOKS_APART = 0.5


class Job(msgspec.Struct, frozen=True):
    """One line of the list."""

    id: str
    label: str
    running: bool
    facts: str = ""


async def open(desk: Desk, args: str) -> None:
    at = ""
    while True:
        panel = JobsPanel(desk, at)
        if not panel.jobs():
            desk.tell("no jobs in this session")
            return
        desk.spawn(panel.keep_looking())
        at = await desk.ask(panel)
        if at is None:
            return
        label = next((job.label for job in panel.jobs() if job.id == at), at)
        await show(desk, [partial(_document, desk, at, label)])


class JobsPanel(Choice):
    """Answers with the id of a job to look at. It looks itself whether one has ended meanwhile."""

    def __init__(self, desk: Desk, at: str) -> None:
        self._shown: list[Job] = []
        hints = (("list_remove", "cancel"),)
        super().__init__(desk, "Jobs", (), confirm="open", hints=hints, keys={"list_remove": self._remove})
        self.look(at)

    def jobs(self) -> list[Job]:
        return jobs_of(self.desk.state, self.desk.drawing.clock())

    def look(self, at: str = "") -> None:
        if (jobs := self.jobs()) != self._shown:
            self._shown = jobs
            self.set_items([_item(job) for job in jobs], at)
            self.redraw()

    async def keep_looking(self) -> None:
        while not self.finished:
            await asyncio.sleep(_LOOKS_APART)
            self.look()

    def _remove(self, item: Item) -> None:
        self.desk.spawn(self._cancel_job(item.value))

    async def _cancel_job(self, id: str) -> None:
        reply = await self.desk.submit(Cancel(id))
        self.heading.set_note("cancelled" if reply.ok else reply.error)
        self.look()
        self.redraw()


def jobs_of(state: Snapshot, now: float) -> list[Job]:
    """Those that run first. What the session says now counts for more than what its transcript does."""
    found = {entry.id: _ended(entry) for entry in state.entries if isinstance(entry, Call) and entry.is_job}
    listed = state.state.get("jobs")
    for row in listed if isinstance(listed, list) else ():
        if isinstance(row, dict) and isinstance(row.get("id"), str):
            started, status = row.get("started"), clean_line(str(row.get("status") or ""))
            running = status == "running"
            facts = seconds_words(now - started) if running and isinstance(started, int | float) else status
            found[row["id"]] = Job(row["id"], clean_line(str(row.get("label") or "")), running, facts)
    return sorted(found.values(), key=lambda job: (not job.running, -_number(job.id)))


def _ended(call: Call) -> Job:
    facts = ["lost"] if call.content is None else ["failed" if call.is_error else "done"]
    facts += [f"exit {call.exit_code}"] if call.exit_code is not None else []
    facts += [seconds_words(call.duration)] if call.duration is not None else []
    command = call.args.get("command") if isinstance(call.args, dict) else None
    return Job(call.id, clean_line(command if isinstance(command, str) else call.name), False, " · ".join(facts))


def _item(job: Job) -> Item:
    return Item(job.id, f"job {_number(job.id)} {job.label}".strip(), job.facts, "running" if job.running else "ended")


def _number(id: str) -> int:
    digits = id.rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() else 0


def _document(desk: Desk, id: str, label: str) -> Document:
    def runs() -> bool:
        return any(row.get("id") == id for row in Facts(desk.state).jobs)

    source = MaskedArtifact(desk.store.artifact_path(id), secrets_here(desk.settings), runs)
    return Document(f"job {_number(id)}: {label}", source, runs)
