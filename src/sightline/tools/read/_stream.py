"""Lines of a file of any size, without ever holding more of it than a piece.

Rules:

- What comes before a selected line is only counted. What comes after the last one is not even read, except in files
  small enough that knowing how many lines there are costs nothing.
- Of a line longer than what is shown, the rest is passed over.
- It runs in a thread and checks once per piece whether the call was cancelled.
"""

import os
from collections.abc import Callable

from sightline.tools.read._excerpt import Excerpt, ExcerptCollector, ExcerptPlan

PIECE = 256 * 1024
COUNTED_TO_THE_END = 32 * 1024**2


class Stopped(Exception):
    """The call was cancelled."""


class _Position:
    """Where in a file, and in which line, the next unread byte is."""

    def __init__(self, fd: int, stopped: Callable[[], bool]) -> None:
        self._fd = fd
        self._stopped = stopped
        self.piece = b""
        self.at = 0
        self.line = 1
        self.at_line_start = True
        self.ended = False

    def more(self) -> bool:
        """Read the next piece; false at the end of the file."""
        if self._stopped():
            raise Stopped
        if self.piece:
            self.at_line_start = self.piece.endswith(b"\n")
        piece = os.read(self._fd, PIECE)
        if not piece:
            self.piece, self.at, self.ended = b"", 0, True
            return False
        self.piece, self.at = piece, 0
        return True

    def skip_to(self, line: int) -> bool:
        """Go to the start of a line; false when the file has fewer."""
        while self.line < line:
            newlines = _newlines(self.piece[self.at :] if self.at else self.piece)
            if self.line + newlines >= line:
                self.at = _after_newline(self.piece, self.at, line - self.line)
                self.line = line
                break
            self.line += newlines
            if not self.more():
                return False
        return self.at < len(self.piece) or self.more()

    def take_line(self, most: int, *, raw: bool) -> tuple[bytes, int]:
        """The line here, at most this much of it, and its whole size, line end not included."""
        taken, size, end = b"", 0, -1
        while True:
            end = self.piece.find(b"\n", self.at)
            stop = len(self.piece) if end < 0 else end
            taken += self.piece[self.at : min(stop, self.at + max(0, most - len(taken)))]
            size += stop - self.at
            if end >= 0:
                self.at, self.line = end + 1, self.line + 1
                break
            self.at = stop
            if not self.more():
                break
        if end >= 0 and not raw and size == len(taken) and taken.endswith(b"\r"):
            return taken[:-1], size - 1
        return taken, size

    def lines_to_the_end(self) -> int:
        while True:
            self.line += _newlines(self.piece[self.at :])
            self.at = len(self.piece)
            if not self.more():
                return self.line - self.at_line_start


def stream(fd: int, plan: ExcerptPlan, size: int, stopped: Callable[[], bool] = lambda: False) -> Excerpt:
    """Read from the start of an open file of this size."""
    position = _Position(fd, stopped)
    collector = ExcerptCollector(plan)
    _skip_mark(position)
    for one in plan.ranges:
        if not position.skip_to(one.first) or not _take(position, collector, one.last, plan):
            break
    if position.ended:
        return collector.excerpt(position.line - position.at_line_start, size)
    total = position.lines_to_the_end() if size <= COUNTED_TO_THE_END else None
    return collector.excerpt(total, size)


def _take(position: _Position, collector: ExcerptCollector, last: int | None, plan: ExcerptPlan) -> bool:
    """The lines from here to `last`; false when there are no more, or no more may be shown."""
    while last is None or position.line <= last:
        if position.at >= len(position.piece) and not position.more():
            return False
        if collector.full:  # the next line may be the longest of all
            return False
        number = position.line
        # One character can be cut at its start, and a carriage return belongs to the line end.
        if not collector.add(number, *position.take_line(plan.longest_line + 5, raw=plan.raw)):
            return False
        if position.ended:
            return False
    return True


def _skip_mark(position: _Position) -> None:
    if position.more() and position.piece.startswith(b"\xef\xbb\xbf"):
        position.at = 3


def _newlines(data: bytes) -> int:
    # Deleting them goes from one to the next by memchr, where counting looks at every byte: two to three times as fast.
    return len(data) - len(data.replace(b"\n", b""))


def _after_newline(data: bytes, start: int, count: int) -> int:
    """Where the line after the `count`-th newline from `start` begins; by halves, so that it costs one more count."""
    end = len(data)
    while count > 1:
        middle = (start + end) // 2
        before = data.count(b"\n", start, middle)
        if before < count:
            count, start = count - before, middle
        else:
            end = middle
    return data.find(b"\n", start) + 1
