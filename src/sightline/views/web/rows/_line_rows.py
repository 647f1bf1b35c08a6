"""Rows of output in which a line is a row: read from the nearest remembered place, interpreted line by line.

A line over 64 KB is not interpreted whole: where it draws over itself its end is shown, else its beginning.
"""

import msgspec

from sightline.journal import ArtifactReader
from sightline.text import OutputScreen, Row, Style, clean_output, complete_prefix
from sightline.views.web.rows._json import encode_row
from sightline.views.web.rows._lines import SLICE, LineIndex, RowStart, style_after

_CHUNK = 4 * SLICE
# What one response may read and hold; a client requests the rows that are missing.
_READ_AT_MOST = 4 * 1024 * 1024
_ANSWER_AT_MOST = 1024 * 1024


class Stretch(msgspec.Struct, frozen=True):
    """Some rows, encoded, and where the next one begins."""

    rows: list[bytes]
    next: RowStart


class LineRows:
    """The rows of an artifact up to where its index has come."""

    def __init__(self, reader: ArtifactReader, index: LineIndex) -> None:
        self._reader = reader
        self._index = index
        self._partial = _Partial(reader)

    def read(self, first: int, count: int) -> Stretch:
        """Whole rows from `first` on; fewer when they are long, or when there are no more."""
        return self.read_from(self._index.before(first), first, count)

    def read_from(self, place: RowStart, first: int, count: int) -> Stretch:
        """The same, beginning at a place that is not after the first."""
        rows: list[bytes] = []
        end, begun, length = self._index.tail, place.offset, 0
        while place.offset < end.offset and len(rows) < count and (not rows or length < _ANSWER_AT_MOST):
            chunk = self._reader.read(place.offset, min(_CHUNK, end.offset - place.offset))
            whole = chunk[: chunk.rfind(b"\n") + 1]
            if not whole:
                if len(chunk) < _CHUNK:  # it was deleted, or cut
                    break
                place = self._long_line(place, rows if place.row >= first else None)
            elif place.row < first:
                place = _skip(place, whole, first - place.row)
            else:
                new, place = self._lines(place, whole, count - len(rows))
                rows += new
                length += sum(map(len, new))
            if rows and place.offset - begun > _READ_AT_MOST:
                break
        return Stretch(rows, place)

    def partial(self, *, finished: bool) -> bytes | None:
        """The row that has no newline yet, when there is something in it."""
        tail, size = self._index.tail, self._index.scanned - self._index.tail.offset
        if not size:
            return None
        if size > SLICE:
            return self._long_row(tail, tail.offset + size)
        row = self._partial.row(tail, self._index.scanned, finished=finished)
        return encode_row(row) if row else None

    def texts(self, place: RowStart, data: bytes, lines: int) -> list[Row]:
        """The rows of so many whole lines that begin at a place."""
        rows, _ = self._interpreted(place.offset, data, place.style)
        return rows if len(rows) == lines else [row for row, _ in self._cut_rows(place, data)]

    def _lines(self, place: RowStart, data: bytes, count: int) -> tuple[list[bytes], RowStart]:
        parts = data.split(b"\n", count)
        lines = len(parts) - 1
        data = data[: len(data) - len(parts[-1])]
        rows, style = self._interpreted(place.offset, data, place.style)
        after = RowStart(place.offset + len(data), place.row + lines, style)
        if len(rows) == lines:
            return [encode_row(row) for row in rows], after
        # Some line is so long that it makes two rows, or has so many tabs.
        return [encode_row(row, more) for row, more in self._cut_rows(place, data)], after

    def _interpreted(self, offset: int, data: bytes, style: Style) -> tuple[list[Row], Style]:
        screen = OutputScreen()
        screen.style = style
        feed(screen, self._reader, offset, data)
        screen.finish()
        return screen.take_settled(), screen.style

    def _cut_rows(self, place: RowStart, data: bytes) -> list[tuple[Row, int]]:
        found: list[tuple[Row, int]] = []
        offset, style = place.offset, place.style
        for line in data.split(b"\n")[:-1]:
            start, size = _shown_part(line)
            rows, _ = self._interpreted(offset + start, line[start : start + size], style)
            found.append((rows[0] if rows else (), len(line) - size))
            style = style_after(style, line)
            offset += len(line) + 1
        return found

    def _long_line(self, place: RowStart, rows: list[bytes] | None) -> RowStart:
        end = self._index.line_end(place.offset)
        if rows is not None:
            rows.append(self._long_row(place, end))
        # Looking for the style through all of such a line would take too long; the next place known has it.
        return RowStart(end + 1, place.row + 1, self._index.before(place.row + 2).style)

    def _long_row(self, place: RowStart, end: int) -> bytes:
        last = self._reader.read(end - SLICE, SLICE)
        start, size = _shown_part(last)
        if start:
            offset, data = end - SLICE + start, last[start:]
        else:
            offset, data = place.offset, self._reader.read(place.offset, size)
        rows, _ = self._interpreted(offset, data, place.style)
        return encode_row(rows[0] if rows else (), 0 if start else end - place.offset - len(data))


class _Partial:
    """The row being written. What came since the last look is added, so that a progress bar costs what it adds."""

    def __init__(self, reader: ArtifactReader) -> None:
        self._reader = reader
        self._begins = -1
        self._fed = 0
        self._screen = OutputScreen()

    def row(self, tail: RowStart, end: int, *, finished: bool) -> Row:
        if tail.offset != self._begins or self._fed > end:
            self._begins = self._fed = tail.offset
            self._screen = OutputScreen()
            self._screen.style = tail.style
        data = self._reader.read(self._fed, end - self._fed)
        if not finished:
            data = data[: complete_prefix(data)]
        feed(self._screen, self._reader, self._fed, data)
        self._fed += len(data)
        rows = self._screen.live
        return rows[0] if rows else ()


def feed(screen: OutputScreen, reader: ArtifactReader, offset: int, data: bytes) -> None:
    """Interpret some of an artifact, each stream's stretches as its own."""
    for run in reader.streams(offset, offset + len(data)):
        start = run.offset - offset
        text = data[start : start + run.size].decode("utf-8", "replace")
        screen.feed(clean_output(text), run.stream)


def _skip(place: RowStart, data: bytes, lines: int) -> RowStart:
    parts = data.split(b"\n", lines)
    size = len(data) - len(parts[-1])
    return RowStart(place.offset + size, place.row + len(parts) - 1, style_after(place.style, data[:size]))


def _shown_part(line: bytes) -> tuple[int, int]:
    """Which part of a line is interpreted: where it begins and its size."""
    if len(line) < SLICE:
        return 0, len(line)
    again = line.find(b"\r", len(line) - SLICE, -1)
    return (again + 1, len(line) - again - 1) if again >= 0 else (0, SLICE)
