"""What is still to be sent to a tab of the session it shows: which entries and which calls' rows, not their contents.

So a slow tab costs nothing, and what it gets is always the latest.
"""

from collections.abc import Callable

import msgspec

from sightline.events import (
    BranchState,
    Event,
    Reasoning,
    Request,
    RequestResolved,
    State,
    Text,
    ToolOutput,
    ToolResult,
)
from sightline.transcript import Entry, Snapshot, TranscriptCall, TranscriptText
from sightline.views.web.page._facts import changes_facts
from sightline.views.web.page._mail import mail_of


class MissedEvents(msgspec.Struct, frozen=True):
    """What happened while a tab was away, and the last event it knows."""

    events: list[Event]
    after: int


class PendingUpdates:
    """Listens to a session's fold. `wake` is called when there is something to send.

    `missed` is called each time the fold is replaced; it returns None when the tab knows nothing of the new one.
    """

    attends = True

    def __init__(
        self, wake: Callable[[], None], now: Callable[[], Snapshot], missed: Callable[[], MissedEvents | None]
    ) -> None:
        self._wake = wake
        self._now = now
        self._missed = missed
        self.whole = False  # all entries
        self.facts = True  # about the session as a whole
        self.entries: dict[int, Entry] = {}  # by the event they began with
        self.all_mail = False  # the last messages between agents
        self.mail: set[str] = set()  # those that changed, by id
        self.rows: set[str] = set()  # calls with new output
        self.statuses: dict[str, str] = {}
        self.ended: list[str] = []  # calls that ended and whose rows are to be counted
        self.watched: set[str] = set()  # calls seen running
        self.gone = False
        self._with_status: set[str] = set()
        self._running = False  # as it was sent last
        self._forget_places()

    def happened(self, events: list[Event]) -> None:
        # A job that ends moves to the end of the entries, so that new entries may stand before known ones.
        moved = sum([isinstance(e, ToolResult) and e.id in self.calls and self.calls[e.id].is_job for e in events])
        self._placed -= min(moved, self._placed)
        self._place_new()
        self._notice_work()
        for event in events:
            self.facts = self.facts or changes_facts(event)
            self.mail.update(mail_of(event))
            if isinstance(event, ToolOutput):
                self._output(event)
            elif isinstance(event, Text | Reasoning):
                self.add(self._words[event.agent, event.block, isinstance(event, Reasoning)])
            elif isinstance(event, State):
                self.whole = self.whole or (event.key == BranchState.KEY and not event.agent)
            elif isinstance(event, Request | RequestResolved):
                self._add_waiting()
            elif (call := self.calls.get(getattr(event, "id", ""))) is not None:
                self.add(call)
                if isinstance(event, ToolResult):
                    self.ended.append(event.id)
        self._wake()

    def add(self, entry: Entry) -> None:
        self.entries[entry.seq] = entry

    def replaced(self) -> None:
        missed = self._missed()
        self._forget_places()
        self._place_new()
        self._notice_work()
        self.facts = self.all_mail = True
        self.whole = missed is None
        new = [] if missed is None else [entry for entry in self._now().entries if entry.seq > missed.after]
        self.entries = {entry.seq: entry for entry in new}
        self.ended = []
        for entry in reversed(self._now().entries):
            if isinstance(entry, TranscriptCall):
                self._call(entry)
                if entry.request:
                    self._waiting.append(entry)
        if missed is None:
            self._wake()
        else:
            self.ended = []  # what ended earlier was counted before the tab got its number
            self.happened(missed.events)

    def over(self) -> None:
        entries = self._now().entries
        self.gone = not entries
        self.facts = True
        for entry in entries:
            if isinstance(entry, TranscriptCall) and entry.content is None:
                self.add(entry)
        self._wake()

    def take_statuses(self) -> dict[str, str]:
        taken, self.statuses = self.statuses, {}
        self._with_status = {*self._with_status, *taken} - {job for job, text in taken.items() if not text}
        return taken

    def _forget_places(self) -> None:
        self.calls: dict[str, TranscriptCall] = {}
        self._waiting: list[TranscriptCall] = []  # for an answer, as it was sent last
        self._words: dict[tuple[str, int, bool], TranscriptText] = {}
        self._placed = 0

    def _notice_work(self) -> None:
        """The fold knows whether the agent works; no single kind of event does."""
        running, self._running = self._running, self._now().running
        self.facts = self.facts or running != self._running

    def _place_new(self) -> None:
        entries = self._now().entries
        for number in range(self._placed, len(entries)):
            entry = entries[number]
            if isinstance(entry, TranscriptCall):
                self.calls[entry.id] = entry
                self.watched.add(entry.id)
            elif isinstance(entry, TranscriptText):
                self._words[entry.agent, entry.block, entry.reasoning] = entry
            self.add(entry)
        self._placed = len(entries)

    def _call(self, call: TranscriptCall) -> None:
        if call.content is None:
            self.rows.add(call.id)
            if call.status:
                self.statuses[call.id] = call.status
        else:
            self.watched.discard(call.id)
            self.ended.append(call.id)

    def _add_waiting(self) -> None:
        """Calls that wait for an answer, or did until now: their clocks stand meanwhile, which no other event shows."""
        before, self._waiting = self._waiting, [call for call in self.calls.values() if call.request]
        for call in (*before, *self._waiting):
            self.add(call)

    def _output(self, event: ToolOutput) -> None:
        if event.stream == "status":
            self.statuses[event.id] = event.content
            return
        if not event.content:  # skipped bytes, which the end of the call counts
            return
        if event.id in self._with_status or event.id in self.statuses:
            self.statuses[event.id] = ""
        self.rows.add(event.id)
