"""What a tab has yet to be told about the session it shows: which entries, which calls' rows, never their contents.

So a slow tab costs nothing, and what it gets is always the latest.
"""

from collections.abc import Callable

import msgspec

from sightline.events import Event, Reasoning, Text, ToolOutput, ToolResult
from sightline.transcript import Call, Snapshot, Words


class Missed(msgspec.Struct, frozen=True):
    """What happened while a tab was away, and how many entries it knows."""

    events: list[Event]
    entries: int


class Unsaid:
    """Listens to a session's fold. `wake` is called when there is something to say.

    `missed` is asked each time the fold is another: None when the tab knows nothing of it.
    """

    def __init__(
        self, wake: Callable[[], None], now: Callable[[], Snapshot], missed: Callable[[], Missed | None]
    ) -> None:
        self._wake = wake
        self._now = now
        self._missed = missed
        self.whole = False  # all entries
        self.entries: set[int] = set()  # positions
        self.rows: set[str] = set()  # calls with new output
        self.statuses: dict[str, str] = {}
        self.ended: list[str] = []  # calls that ended and whose rows are to be counted
        self.watched: set[str] = set()  # calls seen running
        self.gone = False
        self._with_status: set[str] = set()
        self._forget_places()

    def happened(self, events: list[Event]) -> None:
        self._place_new()
        for event in events:
            if isinstance(event, ToolOutput):
                self._output(event)
            elif isinstance(event, Text | Reasoning):
                self.entries.add(self._words[event.agent, event.block, isinstance(event, Reasoning)])
            elif (place := self.places.get(getattr(event, "id", ""))) is not None:
                self.entries.add(place)
                if isinstance(event, ToolResult):
                    self.ended.append(event.id)
        self._wake()

    def replaced(self) -> None:
        missed = self._missed()
        self._forget_places()
        self._place_new()
        self.whole = missed is None
        self.entries = set() if missed is None else set(range(missed.entries, self._placed))
        self.ended = []
        for entry in reversed(self._now().entries):
            if isinstance(entry, Call):
                self._call(entry)
        if missed is None:
            self._wake()
        else:
            self.ended = []  # what ended before was counted, or the tab would not know so much
            self.happened(missed.events)

    def over(self) -> None:
        entries = self._now().entries
        self.gone = not entries
        self.entries.update(self.places[entry.id] for entry in entries if isinstance(entry, Call) and _open(entry))
        self._wake()

    def take_statuses(self) -> dict[str, str]:
        taken, self.statuses = self.statuses, {}
        self._with_status = {*self._with_status, *taken} - {job for job, text in taken.items() if not text}
        return taken

    def _forget_places(self) -> None:
        self.places: dict[str, int] = {}
        self._words: dict[tuple[str, int, bool], int] = {}
        self._placed = 0

    def _place_new(self) -> None:
        entries = self._now().entries
        for number in range(self._placed, len(entries)):
            entry = entries[number]
            if isinstance(entry, Call):
                self.places[entry.id] = number
                self.watched.add(entry.id)
            elif isinstance(entry, Words):
                self._words[entry.agent, entry.block, entry.reasoning] = number
            self.entries.add(number)
        self._placed = len(entries)

    def _call(self, call: Call) -> None:
        if _open(call):
            self.rows.add(call.id)
            if call.status:
                self.statuses[call.id] = call.status
        else:
            self.watched.discard(call.id)
            self.ended.append(call.id)

    def _output(self, event: ToolOutput) -> None:
        if event.stream == "status":
            self.statuses[event.id] = event.content
            return
        if not event.content:  # bytes passed over, which the end of the call counts
            return
        if event.id in self._with_status or event.id in self.statuses:
            self.statuses[event.id] = ""
        self.rows.add(event.id)


def _open(call: Call) -> bool:
    return call.content is None
