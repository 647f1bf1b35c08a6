"""From the bytes of a stream to events: lines are cut at newline bytes and nothing else."""

from sightline.events import UNKNOWN_CAP, Event
from sightline.providers._source import LINE_CAP, DisplayEventSource, unknown


class EventStream:
    """Feeds a source with whole lines, however the bytes were cut. A line over the cap is announced, not kept."""

    def __init__(self, source: DisplayEventSource) -> None:
        self._source = source
        self._parts: list[bytes] = []  # of the line that has no end yet
        self._length = 0
        self._discarding = False

    def feed(self, chunk: bytes) -> list[Event]:
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
            if len(line) > 1 or line.strip():  # a lone CR is an empty line too
                events += parse(line)
        if tail:
            self._extend(tail)
        return events

    def end(self) -> list[Event]:
        """The stream is over: the last line may lack its newline, and the source may have held something back."""
        events = self._finish_line() if self._parts else []
        end_events = getattr(self._source, "end_events", None)
        return events if end_events is None else events + end_events()

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
            return [unknown(line, length, "line over 16 MB", source=getattr(self._source, "provider", ""))]
        return self._source.parse_events(line) if line.strip() else []
