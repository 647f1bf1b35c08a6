"""A window of rows on a text of any size: only what is near the window is read.

Rules:

- A position is a line, by the offset of its first byte, and a row of it: a long line is several rows. Nothing is
  counted from the beginning, so the end of a gigabyte is as near as its start.
- A line longer than `_LINE` bytes is cut there, going down; going up it is cut at the same distance from the position.
- Each line is drawn by itself, with its colours; a carriage return starts it over, nothing reaches another line.
"""

import re
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from sightline.text import clean_line, complete_prefix
from sightline.tty import Theme, truncate, wrap
from sightline.tty.components._text import styled_lines

_BLOCK = 64 * 1024
_LINE = 16 * 1024
_SEARCHED = 1024 * 1024
_LONGEST_QUERY = 1024

Paint = Callable[[str, Theme], str]


class PagerSource(Protocol):
    """Bytes to look at; there may be more of them later."""

    @property
    def size(self) -> int: ...

    def read(self, offset: int, size: int) -> bytes: ...


class ChangingText:
    """A text in memory: read again when its version has changed."""

    def __init__(self, text: Callable[[], str], version: Callable[[], object]) -> None:
        self._text, self._version = text, version
        self._made: tuple[object, bytes] | None = None

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, offset: int, size: int) -> bytes:
        return self._data[offset : offset + size]

    @property
    def _data(self) -> bytes:
        version = self._version()
        if self._made is None or self._made[0] != version:
            self._made = (version, self._text().encode(errors="replace"))
        return self._made[1]


class TextInMemory(ChangingText):
    def __init__(self, text: str) -> None:
        super().__init__(lambda: text, lambda: None)


class LineRow(msgspec.Struct, frozen=True, order=True):
    """A row of a line."""

    offset: int = 0
    row: int = 0


class PagerPosition:
    """A position in a source, and the rows from there. It blocks while it reads: not for the event loop."""

    def __init__(self, source: PagerSource, theme: Theme, paint: Paint | None = None) -> None:
        self.source = source
        self.wrapped = True
        self.top = LineRow()
        self.width, self.height = 80, 24
        self.query = ""
        self._theme = theme
        self._paint = paint
        self._block: tuple[int, int, bytes] = (0, 0, b"")

    def rows(self) -> list[str]:
        """From the top of the window on, as many as fit."""
        found: list[str] = []
        skip = self.top.row
        for offset, end in self._down(self.top.offset):
            found += self._drawn(offset, end)[skip:]
            skip = 0
            if len(found) >= self.height:
                break
        return [self._marked(row) for row in found[: self.height]]

    def move(self, rows: int) -> None:
        """Down, or up, as far as the text goes."""
        self.top = min(self._lower(rows) if rows > 0 else self._higher(-rows, self.top), self._last_top())

    def first(self) -> None:
        self.top = LineRow()

    def last(self) -> None:
        self.top = self._last_top()

    @property
    def at_end(self) -> bool:
        return self.top >= self._last_top()

    @property
    def share(self) -> int:
        """How much is above the end of the window, in percent, roughly."""
        return 100 if self.at_end else min(99, 100 * self.top.offset // max(1, self.source.size))

    def find(self, *, forward: bool = True, here: bool = False, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Move to the next line that matches the query. `here`: the one at the top counts."""
        pattern = self._pattern()
        if pattern is None:
            return False
        hits = self._hits_after(pattern, here, stopped) if forward else self._hits_before(pattern, stopped)
        hit = next(hits, None)
        if hit is None or stopped():
            return False
        self.top = LineRow(self._line_at(hit))
        return True

    def fit(self, width: int, height: int) -> None:
        """Set the size of the window, and forget what was read."""
        self._block = (0, 0, b"")
        if width != self.width:
            self.top = LineRow(self.top.offset)
        self.width, self.height = max(1, width), max(1, height)

    def _pattern(self) -> "re.Pattern[bytes] | None":
        query = self.query.encode(errors="replace")[:_LONGEST_QUERY]
        return re.compile(re.escape(query), re.IGNORECASE) if query else None

    def _hits_after(self, pattern: "re.Pattern[bytes]", here: bool, stopped: Callable[[], bool]) -> Iterator[int]:
        start = self.top.offset if here else self._end_of(self.top.offset)
        size = self.source.size
        while start < size and not stopped():
            data = self.source.read(start, _SEARCHED + _LONGEST_QUERY)
            if (match := pattern.search(data)) is not None:
                yield start + match.start()
                return
            start += _SEARCHED

    def _hits_before(self, pattern: "re.Pattern[bytes]", stopped: Callable[[], bool]) -> Iterator[int]:
        end = self.top.offset
        while end > 0 and not stopped():
            start = max(0, end - _SEARCHED)
            data = self.source.read(start, min(self.top.offset, end + _LONGEST_QUERY) - start)
            if hits := list(pattern.finditer(data)):
                yield start + hits[-1].start()
                return
            end = start

    def _drawn(self, offset: int, end: int) -> list[str]:
        text = self._read(offset, end).rstrip(b"\r\n").decode(errors="replace")
        if self._paint is not None:
            line = self._paint(clean_line(text), self._theme)
        elif text.isprintable():
            line = text
        else:
            # A text with a style is drawn as a terminal would: carriage returns and backspaces count.
            line = "".join(styled_lines("\x1b[m" + text.replace("\n", ""), self._theme))
        if not self.wrapped:
            return [truncate(line, self.width)]
        return list(wrap(line, self.width)) or [""]

    def _marked(self, row: str) -> str:
        """The row with its matches highlighted; its other styles are dropped."""
        plain = clean_line(row)
        if not self.query or self.query.lower() not in plain.lower():
            return row
        pieces = re.split(f"({re.escape(self.query)})", plain, flags=re.IGNORECASE)
        return "".join(self._theme.style("match", piece) if at % 2 else piece for at, piece in enumerate(pieces))

    def _lower(self, rows: int) -> LineRow:
        left = rows + self.top.row
        place = self.top
        for offset, end in self._down(self.top.offset):
            count = len(self._drawn(offset, end))
            place = LineRow(offset, min(left, count - 1))
            if left < count:
                break
            left -= count
        return place

    def _higher(self, rows: int, place: LineRow) -> LineRow:
        if place.row >= rows:
            return LineRow(place.offset, place.row - rows)
        left = rows - place.row
        offset = place.offset
        while left > 0 and offset > 0:
            start = self._start_before(offset)
            count = len(self._drawn(start, offset))
            if count >= left:
                return LineRow(start, count - left)
            left -= count
            offset = start
        return LineRow(offset)

    def _last_top(self) -> LineRow:
        return self._higher(self.height, LineRow(self.source.size))

    def _down(self, offset: int) -> Iterator[tuple[int, int]]:
        """Where each line from there on begins and ends."""
        size = self.source.size
        while offset < size:
            end = self._end_of(offset)
            yield offset, end
            offset = end

    def _end_of(self, offset: int) -> int:
        data = self._read(offset, min(offset + _LINE, self.source.size))
        at = data.find(b"\n")
        if at >= 0:
            return offset + at + 1
        return offset + (complete_prefix(data) or len(data) if len(data) == _LINE else len(data))

    def _start_before(self, offset: int) -> int:
        """Where the line begins that ends at `offset`."""
        start = max(0, offset - _LINE)
        data = self._read(start, offset - 1)
        at = data.rfind(b"\n")
        if at >= 0 or not start:
            return start + at + 1
        return start + next((index for index, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)

    def _line_at(self, offset: int) -> int:
        return self._start_before(offset + 1)

    def _read(self, start: int, end: int) -> bytes:
        """Through a cached block: neighbours are read one by one."""
        at, size, data = self._block
        if end > start and not (at <= start and end <= at + size):
            at = max(0, start - _BLOCK // 2)
            data = self.source.read(at, _BLOCK)
            self._block = (at, len(data), data)
        return data[start - at : end - at]
