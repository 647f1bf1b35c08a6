"""Recorded provider streams as read-only sessions: `r1`, `r2`, … and their calls `r1-0`, `r1-4`, …

A call's number is its position among the entries.
"""

import os
from pathlib import Path

from sightline.exceptions import UserMistake
from sightline.providers import EventStream, provider_names, recognise
from sightline.text import clean_line
from sightline.transcript import Snapshot, Transcript, TranscriptCall
from sightline.views.web.api._bodies import SessionBody
from sightline.views.web.rows._rows import FixedRows

_READ_SIZE = 1024 * 1024
_HEAD_CAP = 256 * 1024


class Recording:
    """One file, read and folded when the server starts."""

    def __init__(self, number: int, path: str) -> None:
        self.id = f"r{number}"
        self.snapshot = _folded(path)
        title = clean_line(os.path.basename(path))
        started = os.stat(path).st_mtime
        self.listed = SessionBody(self.id, "recording", title, clean_line(str(Path(path).parent)), "ended", started, [])
        self._rows: dict[int, FixedRows] = {}

    def call_id(self, number: int, call: TranscriptCall) -> str:
        return f"{self.id}-{number}"

    def total(self, number: int, call: TranscriptCall) -> int:
        rows = self.rows(number)
        return 0 if rows is None else rows.total

    def missing(self, number: int, call: TranscriptCall) -> bool:
        return False

    def rows(self, number: int) -> FixedRows | None:
        """The rows of the call at a position; None when there is no call."""
        entries = self.snapshot.entries
        entry = entries[number] if 0 <= number < len(entries) else None
        if not isinstance(entry, TranscriptCall):
            return None
        if number not in self._rows:
            self._rows[number] = FixedRows(entry)
        return self._rows[number]


def _folded(path: str) -> Snapshot:
    transcript = Transcript()
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_CAP)
            provider = recognise(head)
            if provider is None or provider.source is None:
                names = ", ".join(provider_names())
                raise UserMistake(f"cannot tell whose stream {path} is", f"it must be a recording of one of: {names}")
            stream = EventStream(provider.source())
            chunk = head
            while chunk:
                for event in stream.feed(chunk):
                    transcript.apply(event)
                chunk = file.read(_READ_SIZE)
    except OSError as error:
        raise UserMistake(f"cannot read {path}: {error.strerror}", "name a file with a recorded stream") from error
    for event in stream.end():
        transcript.apply(event)
    return transcript.now
