"""Rows of output that moves the cursor up: all of it goes through one screen, and settled rows are stored.

They are stored in an unnamed temporary file, at most 64 MB; past that a last row reports that there is more.
"""

import tempfile
from array import array
from bisect import bisect_left

from sightline.journal import ArtifactReader
from sightline.text import OutputScreen, complete_prefix
from sightline.views.web.rows._json import encode_row, note_row
from sightline.views.web.rows._line_rows import feed
from sightline.views.web.rows._lines import HEIGHT, SLICE, RowStart

_STORED_BYTES = 64 * 1024 * 1024
_ROWS_A_MARK = 32
_FULL = "… the rest is not shown here; Download has all of it"


class ScreenRows:
    """The rows from a place on. `first` is the number of the first of them."""

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
