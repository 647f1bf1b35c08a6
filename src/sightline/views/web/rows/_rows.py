"""The rows of a call's output, by number: any of them, the newest, and those that contain something.

Rules:

- Rows are read from the artifact, so none is missing that the events skipped. Secrets are masked in what is read.
- The last row may change as long as the call runs; where the output moves the cursor up, the last fifty may.
- Nothing here waits or knows an event loop; what may take long is cut into steps by the caller.
"""

import re
import tempfile
import time
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from sightline.journal import ArtifactReader
from sightline.secrets import MaskedArtifact
from sightline.text import OutputScreen, clean_output, complete_prefix, row_text
from sightline.transcript import TranscriptCall
from sightline.views.web.rows._json import encode_row, note_row, skipped_row
from sightline.views.web.rows._line_rows import LineRows, feed
from sightline.views.web.rows._lines import HEIGHT, SLICE, LineIndex, RowStart

WINDOW = 200
_FIND_CHUNK = 1024 * 1024
_OVERLAP = 4 * 1024
_CAUGHT_UP_BYTES = 256 * 1024  # past this the window is read anew rather than extended
_SECONDS_A_SEARCH = 0.25
_ROWS_AT_ONCE = 500
_STORED_BYTES = 64 * 1024 * 1024
_ROWS_A_MARK = 32
_FULL = "… the rest is not shown here; Download has all of it"


class FoundRows(msgspec.Struct, frozen=True):
    """Rows that contain a text; `next` is where to continue when there may be more."""

    rows: list[int]
    more: bool
    next: int


class ArtifactRows:
    """The rows of an artifact, finished or growing. `look` counts what is new; everything else is of what was seen."""

    def __init__(self, reader: ArtifactReader) -> None:
        self.reader = reader
        self.finished = False
        self._index = LineIndex(reader)
        self._lines = LineRows(reader, self._index)
        self._screen: ScreenRows | None = None
        self._window: deque[bytes] = deque(maxlen=WINDOW)  # whole rows, up to `_window_end`
        self._window_end = RowStart()
        self._partial: bytes | None = None
        self.looked_finished = False

    @property
    def finished(self) -> bool:
        """Whether what is there now is all."""
        return self._finished

    @finished.setter
    def finished(self, finished: bool) -> None:
        self._finished = finished
        if isinstance(self.reader, MaskedArtifact):
            self.reader.grows = lambda: not finished

    @property
    def unseen(self) -> int:
        """Bytes that were not looked at yet."""
        return self.reader.size - self._seen

    @property
    def total(self) -> int:
        if self._screen is not None:
            return self._screen.total
        return self._index.tail.row + (self._partial is not None)

    @property
    def drawn_over(self) -> bool:
        """Whether the cursor moves up, which makes looking much more work."""
        return self._screen is not None

    def look(self, most: int = 2**62) -> None:
        """See what is new, or so many bytes of it."""
        finished, end = self.finished, self.reader.size
        stop = min(end, self._seen + most)
        self._index.scan(stop)
        if self._index.rise is not None:
            if self._screen is None:
                self._screen = ScreenRows(self.reader, self._index.base)
            self._screen.advance(min(end, max(stop, self._index.rise + 1)), finished=finished)
        else:
            self._partial = self._lines.partial(finished=finished and stop == end)
        self.looked_finished = finished and self._seen >= end

    def read(self, first: int, count: int) -> list[bytes]:
        first, count = max(first, 0), min(count, _ROWS_AT_ONCE)
        screen = self._screen
        if screen is not None and first >= screen.first:
            return screen.read(first, count)
        if screen is not None:
            return self._lines.read(first, min(count, screen.first - first)).rows
        stretch = self._lines.read(first, count)
        rows = stretch.rows
        if self._partial is not None and len(rows) < count and first + len(rows) == self._index.tail.row:
            rows.append(self._partial)
        return rows

    def newest(self) -> tuple[int, list[bytes]]:
        """The newest rows and the number of the first of them."""
        if self._screen is not None:
            first = max(self.total - WINDOW, 0)
            return first, self.read(first, WINDOW)
        self._extend_window()
        rows = list(self._window)
        first = self._window_end.row - len(rows)
        if self._partial is not None and self._window_end.row == self._index.tail.row:
            rows.append(self._partial)
        over = max(len(rows) - WINDOW, 0)
        return first + over, rows[over:]

    def find(self, text: str, first: int, limit: int) -> FoundRows:
        """Rows that contain a text, in any case, from one on. Gives an answer, if an empty one, after a moment."""
        if self._screen is not None and first >= self._screen.first:
            return self._find_in_rows(text, first, limit)
        deadline = time.monotonic() + _SECONDS_A_SEARCH
        found: list[int] = []
        for place, chunk in self._chunks(first):
            lines = _lines_with(text.casefold(), chunk, partial(self._texts, place, chunk))
            found += [row for row in (place.row + line for line in lines) if row >= first and row not in found[-1:]]
            if len(found) >= limit:
                return FoundRows(found[:limit], True, found[limit - 1] + 1)
            reached = place.row + chunk.count(b"\n")
            if time.monotonic() > deadline and reached > first:
                return FoundRows(found, True, reached)
        end = self._index.tail.row if self._screen is None else self._screen.first
        rest = self._find_in_rows(text, max(end, first), limit - len(found))
        return FoundRows(found + rest.rows, rest.more, rest.next)

    def last_part(self, most: int) -> tuple[int, int]:
        """Where to begin reading so that no more than so many bytes follow: the row, and the bytes before it."""
        if self._screen is not None and self._screen.size > most:
            return self._screen.last_part(most)
        over = self._index.scanned - most
        place = self._index.after(over) if over > 0 else RowStart()
        return place.row, place.offset

    def close(self) -> None:
        self.reader.close()
        if self._screen is not None:
            self._screen.close()

    @property
    def _seen(self) -> int:
        if self._index.rise is None:
            return self._index.scanned
        if self._screen is None:
            return self._index.base.offset
        return self.reader.size if self._screen.full else self._screen.fed

    def _extend_window(self) -> None:
        tail = self._index.tail
        place = self._window_end
        if tail.offset - place.offset > _CAUGHT_UP_BYTES or tail.row - place.row > WINDOW:
            first = max(tail.row - WINDOW, 0)
            place = self._index.before(first)
            self._window.clear()
        else:
            first = place.row
        while place.row < tail.row:
            stretch = self._lines.read_from(place, first, tail.row - first)
            if stretch.next.offset == place.offset:  # it was cut
                break
            self._window.extend(stretch.rows)
            place, first = stretch.next, max(stretch.next.row, first)
        self._window_end = place

    def _chunks(self, first: int) -> Iterator[tuple[RowStart, bytes]]:
        """Whole lines from the place before a row on; the parts of a line that is longer than a chunk."""
        place, end = self._index.before(first), self._index.tail.offset
        if self._screen is not None:
            end = self._index.base.offset
        while place.offset < end:
            chunk = self.reader.read(place.offset, min(_FIND_CHUNK, end - place.offset))
            if not chunk:
                return
            chunk = chunk[: chunk.rfind(b"\n") + 1] or chunk
            yield place, chunk
            # Parts of one line overlap, or what stands across their edge would not be found.
            step = len(chunk) if chunk.endswith(b"\n") or len(chunk) < _FIND_CHUNK else len(chunk) - _OVERLAP
            # A search needs no style.
            place = RowStart(place.offset + step, place.row + chunk.count(b"\n"))

    def _texts(self, place: RowStart, chunk: bytes) -> list[str]:
        """The texts of the rows of a chunk, for when its bytes alone are not enough."""
        if not chunk.endswith(b"\n"):
            return [chunk.decode("utf-8", "replace")]
        return [row_text(row) for row in self._lines.texts(place, chunk, chunk.count(b"\n"))]

    def _find_in_rows(self, text: str, first: int, limit: int) -> FoundRows:
        needle, found, deadline = text.casefold(), [], time.monotonic() + _SECONDS_A_SEARCH
        while first < self.total:
            rows = self.read(first, _ROWS_AT_ONCE)
            if not rows:
                break
            for number, row in enumerate(rows, first):
                if needle in text_of(row).casefold():
                    found.append(number)
                    if len(found) >= limit:
                        return FoundRows(found, True, number + 1)
            first += len(rows)
            if time.monotonic() > deadline:
                return FoundRows(found, first < self.total, first)
        return FoundRows(found, False, first)


# What changes how text looks, but not which characters stand in the row.
_only_looks = re.compile("\x1b\\[[0-9;:]*m").sub


def _lines_with(needle: str, chunk: bytes, rows: Callable[[], list[str]]) -> list[int]:
    """The numbers of the lines of a chunk that contain a text, in any case: found in the bytes where they are the text,
    else in the `rows` made of them."""
    text = clean_output(chunk.decode("utf-8", "replace"))
    if "\x1b" in text:
        text = _only_looks("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\x1b" in text or "\r" in text or "\b" in text:
        return [number for number, row in enumerate(rows()) if needle in row.casefold()]
    text, found, line, position = text.casefold(), [], 0, 0
    while (at := text.find(needle, position)) >= 0:
        line += text.count("\n", position, at)
        found.append(line)
        end = text.find("\n", at)
        if end < 0:
            break
        line, position = line + 1, end + 1
    return found


class ScreenRows:
    """The rows from a place on, of output that moves the cursor up: all of it goes through one screen. `first` is the
    number of the first row. Settled rows are stored in an unnamed temporary file, at most 64 MB; past that a last row
    reports that there is more."""

    def __init__(self, reader: ArtifactReader, base: RowStart) -> None:
        self.first = base.row
        self.fed = base.offset
        self._reader = reader
        self._screen = OutputScreen(height=HEIGHT)
        self._screen.style = base.style
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as this does
        self._marks = array("Q")
        self.size = 0
        self._settled = 0
        self._live: list[bytes] | None = None

    @property
    def full(self) -> bool:
        return self.size >= _STORED_BYTES

    @property
    def total(self) -> int:
        return self.first + self._settled + len(self._changing())

    def last_part(self, most: int) -> tuple[int, int]:
        """The row from which on there are no more than so many bytes, and the bytes of those before it."""
        mark = bisect_left(self._marks, self.size - most)
        return self.first + mark * _ROWS_A_MARK, self._marks[mark] if mark < len(self._marks) else self.size

    def close(self) -> None:
        self._file.close()

    def advance(self, end: int, *, finished: bool) -> None:
        """Interpret up to a place in the artifact."""
        while self.fed < end and not self.full:
            data = self._reader.read(self.fed, min(SLICE, end - self.fed))
            last = self.fed + len(data) >= end
            whole = len(data) if last and finished else complete_prefix(data)
            if not whole:
                return
            feed(self._screen, self._reader, self.fed, data[:whole])
            self.fed += whole
            self._live = None
            self._store_settled()

    def read(self, first: int, count: int) -> list[bytes]:
        rows = self._stored(first - self.first, count) if first - self.first < self._settled else []
        if len(rows) < count:
            begin = max(first - self.first - self._settled, 0)
            rows += self._changing()[begin : begin + count - len(rows)]
        return rows

    def _store_settled(self) -> None:
        lines = []
        for row in self._screen.take_settled():
            if self._settled % _ROWS_A_MARK == 0:
                self._marks.append(self.size)
            line = encode_row(row) + b"\n"
            lines.append(line)
            self.size += len(line)
            self._settled += 1
        self._file.seek(0, 2)
        self._file.write(b"".join(lines))

    def _stored(self, index: int, count: int) -> list[bytes]:
        mark = index // _ROWS_A_MARK
        last = (index + count) // _ROWS_A_MARK + 1
        end = self._marks[last] if last < len(self._marks) else self.size
        self._file.seek(self._marks[mark])
        skipped = index % _ROWS_A_MARK
        return self._file.read(end - self._marks[mark]).split(b"\n")[:-1][skipped : skipped + count]

    def _changing(self) -> list[bytes]:
        if self._live is None:
            self._live = [encode_row(row) for row in self._screen.live]
            if self.full:
                self._live = [note_row(_FULL)]
        return self._live


class FixedRows:
    """Rows of a call that has no artifact and will not change: its result, else what the fold has of its output."""

    def __init__(self, call: TranscriptCall) -> None:
        self._rows = _rows_of(call)
        self.total = len(self._rows)

    def read(self, first: int, count: int) -> list[bytes]:
        first = max(first, 0)
        return self._rows[first : first + min(count, _ROWS_AT_ONCE)]

    def find(self, text: str, first: int, limit: int) -> FoundRows:
        needle = text.casefold()
        found: list[int] = []
        for number in range(max(first, 0), self.total):
            if needle in text_of(self._rows[number]).casefold():
                if len(found) == limit:
                    return FoundRows(found, True, number)
                found.append(number)
        return FoundRows(found, False, self.total)

    def text(self) -> str:
        return "".join([text_of(row) + "\n" for row in self._rows])


def _rows_of(call: TranscriptCall) -> list[bytes]:
    screen = OutputScreen()
    rows: list[bytes] = []

    def settle() -> None:
        screen.finish()
        rows.extend([encode_row(row) for row in screen.take_settled()])

    if call.content:
        screen.feed(clean_output(call.content))
    elif call.skipped:
        rows.append(skipped_row(call.skipped))
    for piece in () if call.content else call.pieces:
        if piece.dropped:
            settle()
            rows.append(skipped_row(piece.dropped))
        screen.feed(clean_output(piece.text), piece.stream)
    settle()
    return rows


def text_of(row: bytes) -> str:
    """The characters of an encoded row."""
    runs = msgspec.json.decode(row)
    return "".join([run[0] for run in runs]) if isinstance(runs, list) else ""
