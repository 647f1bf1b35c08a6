"""Text that arrives in pieces and becomes rows line by line, each of them final as early as it can be.

Rules:

- `append` only stores the piece; the work is done by the next `render`, so that `live_from` always belongs to the rows
  returned last.
- A reader takes whole lines and gives rows that will never change. The unfinished line at the end is shown by a copy of
  the reader that is thrown away: what a frame costs is that line and what is open around it, not the text.
- A line over the limit is cut there, and the reader knows it: an endless line costs no more than a long one.
- Rows depend on the text and the width alone, not on the pieces. So rows that are history are dropped, and made again
  from the source when the history is written anew (`restore`). At another width the rows begin after what was dropped.
- The text is filtered piece by piece; a sequence that is cut by a piece's end is found nevertheless.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Protocol

from sightline.text import StreamFilter
from sightline.tty._component import Rows, Scrollback
from sightline.tty.cells._width import expand_tabs, wrap
from sightline.tty.frame._continuation import HistoryMark, rest_after

LINE_AT_MOST = 1024
_NARROWEST = 2  # a wide character must fit into a row; where there is less room, rows are broken once more


class StreamedReader(Protocol):
    """Takes lines, gives rows that are final."""

    def copy(self) -> "StreamedReader":
        """A reader that continues from here without touching this one; its rows begin here."""

    def feed(self, line: str, *, ended: bool) -> None:
        """Read a line; `ended` is false when it was cut and continues."""

    def continue_line(self, piece: str, *, ended: bool) -> None:
        """Read more of the line that was cut."""

    def end(self, *, streaming: bool) -> None:
        """The text is over, or (`streaming`) shown as far as it came."""

    def take(self) -> tuple[list[str], list[int]]:
        """The rows since the last call, and the unit each of them belongs to."""

    @property
    def unit(self) -> int:
        """The unit the next row will belong to. Units are lines of code, rows of a table and other blocks: they are
        counted the same at every width."""


class Streamed(Scrollback):
    """A component whose text grows at its end."""

    def __init__(self, text: str = "") -> None:
        self._source: list[str] = []
        self._finished = False
        self._history = 0  # units that are history
        self._released = HistoryMark()  # and how much of the next one is
        self._width = -1
        self._rows: list[str] | None = None
        self._reset()
        self.append(text)

    def _reader(self, width: int) -> StreamedReader:
        raise NotImplementedError

    def _is_decided(self, partial: str) -> bool:
        """Whether it is clear already how an unfinished line is shown."""
        return bool(partial)

    @property
    def text(self) -> str:
        """All of it, as it was given."""
        if len(self._source) > 1:
            self._source = ["".join(self._source)]
        return self._source[0] if self._source else ""

    def append(self, text: str) -> None:
        if not text:
            return
        if self._finished:
            raise ValueError("this text is finished: begin a new component, or replace it with set_text()")
        self._source.append(text)
        self._pending.append(text)
        self._rows = None

    def set_text(self, text: str) -> None:
        """Another text; one that begins with the old one is as good as appended."""
        before = self.text
        if text.startswith(before) and not (self._finished and text != before):
            self.append(text[len(before) :])
            return
        self._source, self._finished = [text], False
        self.restore()

    def finish(self) -> None:
        """Nothing more follows: every row is final."""
        if not self._finished:
            self._finished = True
            self._source = [self.text] if self._source else []  # one string, not one for each piece
            self._rows = None

    def invalidate(self) -> None:
        self._reset()

    def restore(self) -> None:
        self._history, self._released = 0, HistoryMark()
        self._reset()

    def live_from(self) -> int | None:
        return len(self._settled)

    def release(self, rows: int) -> int:
        count = max(0, min(rows, len(self._settled)))
        if count:
            self._remember(count)
            del self._settled[:count], self._units[:count]
            self._rows = None
        return count

    def render(self, width: int) -> Rows:
        if width != self._width:
            self._width = max(width, 0)
            self._reset()
        if self._rows is None:
            self._advance()
            self._rows = self._settled + self._tail
        return self._rows

    def _reset(self) -> None:
        """Forget the rows: the next render reads the source from its beginning."""
        self._filter = StreamFilter()
        self._open: StreamedReader | None = None
        self._ended = False
        self._line = ""  # the unfinished line
        self._cut = False  # its beginning was fed already
        self._settled: list[str] = []
        self._units: list[int] = []
        self._tail: list[str] = []
        self._pending = list(self._source)
        self._rows = None

    def _advance(self) -> None:
        reader, anew = self._open, self._open is None
        if reader is None:
            reader = self._open = self._reader(max(self._width, _NARROWEST))
        elif not self._pending and self._ended == self._finished:
            return  # rows were released, nothing else
        self._read(reader)
        if self._finished:
            self._end_line(reader, self._line)
            reader.end(streaming=False)
            self._ended = True
        for row, unit in zip(*reader.take(), strict=True):
            fitting = self._fitting(row)
            self._settled += fitting
            self._units += [unit] * len(fitting)
        if anew:
            self._skip_history()
        self._tail = [] if self._finished else [part for row in self._unsettled(reader) for part in self._fitting(row)]

    def _remember(self, count: int) -> None:
        """Rows are history: the units that are so altogether, and what of the next one is."""
        last = self._units[count - 1]
        following = self._units[count] if count < len(self._units) else self._open.unit if self._open else last
        if following > last:
            self._history, self._released = last + 1, HistoryMark()
            return
        if last > self._history:
            self._history, self._released = last, HistoryMark()
        begin = bisect_left(self._units, last)
        self._released.add(self._settled[begin:count])

    def _skip_history(self) -> None:
        """Skip rows that were released, whatever the width: the next letter is the one after them."""
        begin = bisect_left(self._units, self._history)
        del self._settled[:begin], self._units[:begin]
        if not self._released:
            return
        done, rest = rest_after(self._settled[: bisect_right(self._units, self._history)], self._released)
        del self._settled[:done], self._units[:done]
        if rest is not None:
            self._settled[0] = rest

    def _read(self, reader: StreamedReader) -> None:
        text = self._filter.feed("".join(self._pending))
        self._pending.clear()
        if self._finished:
            text += self._filter.end()
        *lines, rest = (self._line + text).split("\n")
        for line in lines:
            if len(line) > LINE_AT_MOST:
                line = self._feed_cut(reader, line)
            if self._cut:
                reader.continue_line(expand_tabs(line), ended=True)
                self._cut = False
            else:
                reader.feed(expand_tabs(line) if "\t" in line else line, ended=True)
        self._line = self._feed_cut(reader, rest)

    def _feed_cut(self, reader: StreamedReader, line: str) -> str:
        """Feed what exceeds the limit; returns the rest of the line."""
        while len(line) > LINE_AT_MOST:
            piece, line = expand_tabs(line[:LINE_AT_MOST]), line[LINE_AT_MOST:]
            if self._cut:
                reader.continue_line(piece, ended=False)
            else:
                reader.feed(piece, ended=False)
            self._cut = True
        return line

    def _end_line(self, reader: StreamedReader, line: str) -> None:
        """The unfinished line is as long as it gets."""
        if self._cut:
            reader.continue_line(expand_tabs(line), ended=True)
        elif line:
            reader.feed(expand_tabs(line), ended=True)

    def _unsettled(self, reader: StreamedReader) -> list[str]:
        """What the text would show if it ended here."""
        twin = reader.copy()
        if self._cut or self._is_decided(self._line):
            self._end_line(twin, self._line)
        twin.end(streaming=True)
        return twin.take()[0]

    def _fitting(self, row: str) -> Sequence[str]:
        """The row, or what becomes of it where there is less room than rows are made for: no letter is cut off, it
        could become history."""
        return (row,) if self._width >= _NARROWEST else wrap(row, self._width)
