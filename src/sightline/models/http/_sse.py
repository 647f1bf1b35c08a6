"""Server-sent events, split out of bytes that arrive cut anywhere.

Rules of the format:

- Lines end with LF, CR LF or CR. A blank line ends an event; an event without data is none.
- `data` lines are joined by LF, `event` names the event, one space after the colon belongs to the format. Lines that
  begin with a colon are comments; any other field is passed over. A byte order mark at the start is too.
- What stands after the last blank line is no event. There are servers that forget that line, so it counts here when
  its data is whole: JSON to its end, or `[DONE]`.
"""

import msgspec

EVENT_LIMIT = 64 * 1024 * 1024
LAST = b"[DONE]"
_BOM = b"\xef\xbb\xbf"


class EventTooLong(Exception):
    """One event is longer than `EVENT_LIMIT`."""


class ServerEvent(msgspec.Struct, frozen=True, gc=False):
    event: str  # empty when the server did not name it
    data: bytes


class Splitter:
    """One stream. The cost of a long event is its length, however it is cut.

    That holds for memory as well: a list of its lines, or of pieces of a line, would take a hundred times as much.
    """

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self.found = False  # whether there was any event
        self._limit = limit
        self._started = False
        self._after_cr = False
        self._line = bytearray()  # its end has not come
        self._event = ""
        self._data = bytearray()  # of the event that has not ended, each line with its end

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        chunk = self._with_plain_line_ends(chunk)
        first, *lines = chunk.split(b"\n")
        self._line += first
        events: list[ServerEvent] = []
        if lines:
            lines.insert(0, bytes(self._line))
            self._line = bytearray(lines.pop())
            events = [event for line in lines if (event := self._take(line)) is not None]
        if len(self._line) + len(self._data) > self._limit:
            raise EventTooLong
        return events

    def end(self) -> ServerEvent | None:
        """The stream is over: what is left of it, if that is an event all the same."""
        if self._line:
            self._take(bytes(self._line))
        event = self._dispatch()
        return event if event is not None and _is_whole(event.data) else None

    def _with_plain_line_ends(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" not in chunk:
            return chunk
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _take(self, line: bytes) -> ServerEvent | None:
        if not self._started:
            self._started = True
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data += value.removeprefix(b" ")
            self._data += b"\n"
        elif field == b"event":
            self._event = value.removeprefix(b" ").decode("utf-8", "replace")
        return None

    def _dispatch(self) -> ServerEvent | None:
        event, data = self._event, self._data
        self._event, self._data = "", bytearray()
        if not data:
            return None
        self.found = True
        data.pop()  # the last line end
        return ServerEvent(event, bytes(data))


def _is_whole(data: bytes) -> bool:
    if data == LAST:
        return True
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
