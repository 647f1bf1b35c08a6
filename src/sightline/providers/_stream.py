"""From the bytes of a stream to events: lines are cut at newline bytes and nothing else."""

from sightline.events import UNKNOWN_CAP, Event
from sightline.events.stamping import of_source
from sightline.providers._source import LINE_CAP, DisplayEventSource, ProviderSource, unknown

_MARK = b"\xef\xbb\xbf"


class EventStream:
    """Feeds a source with whole lines, however the bytes were cut. A line over the cap is announced, not stored.

    The events of our sources get their provider's name here: no source sets it itself.
    """

    def __init__(self, source: DisplayEventSource) -> None:
        self._source = source
        self._provider = source.provider if isinstance(source, ProviderSource) else ""
        self._parts: list[bytes] = []  # of the line that has no end yet
        self._length = 0
        self._discarding = False
        self._begun = False
        self._mark = b""  # as much of a byte order mark as has come

    def feed(self, chunk: bytes) -> list[Event]:
        if not self._begun:
            chunk = self._without_mark(chunk)
        if len(chunk) > LINE_CAP:  # it may hold a line over the cap, which no piece of it does
            return [event for at in range(0, len(chunk), LINE_CAP) for event in self.feed(chunk[at : at + LINE_CAP])]
        lines = chunk.split(b"\n")
        tail = lines.pop()
        if not lines:
            self._extend(tail)
            return []
        events: list[Event] = []
        if self._parts:
            self._extend(lines[0])
            events += self._finish_line()
            del lines[0]
        parse = self._source.parse_events
        for line in lines:
            if line and not line.isspace():
                events += parse(line)
        if tail:
            self._extend(tail)
        return of_source(self._provider, events) if self._provider else events

    def end(self) -> list[Event]:
        """The stream is over: the last line may lack its newline, and the source may have held something back."""
        if self._mark:
            self._extend(self._mark)
        events = self._finish_line() if self._parts else []
        end_events = getattr(self._source, "end_events", None)
        events = events if end_events is None else events + end_events()
        return of_source(self._provider, events) if self._provider else events

    def _without_mark(self, chunk: bytes) -> bytes:
        """Some programs put a byte order mark before the first line of a file; it is no part of it."""
        head = self._mark + chunk
        self._begun = len(head) >= len(_MARK) or not _MARK.startswith(head)
        self._mark = b"" if self._begun else head
        return head.removeprefix(_MARK) if self._begun else b""

    def _extend(self, part: bytes) -> None:
        self._length += len(part)
        if self._discarding:
            return
        self._parts.append(part)
        if self._length > LINE_CAP:
            self._parts = [b"".join(self._parts)[:UNKNOWN_CAP]]
            self._discarding = True

    def _finish_line(self) -> list[Event]:
        line, length, discarded = b"".join(self._parts), self._length, self._discarding
        self._parts, self._length, self._discarding = [], 0, False
        if discarded:
            return [unknown(line, length, "line over 16 MB")]
        return self._source.parse_events(line) if line.strip() else []
