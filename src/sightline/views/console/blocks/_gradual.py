"""Blocks of long texts, drawn a slice at a time: keys are read between two slices.

Rules:

- A text that can be drawn within a frame is drawn at once. A longer one (`LONG`) is `behind`: its block stays live, and
  each `advance` makes as many more rows as a slice has time for.
- Rows that are history are dropped. At another width or in another look, the rest is drawn at once; when history is
  written anew, a block that was behind starts over.
- The rows are those the whole text would have: a line is cut only where one of its rows ends.
"""

import time
from collections.abc import Iterable, Iterator
from unicodedata import category

from sightline.tty import Rows, Scrollback, expand_tabs, wrap
from sightline.tty.frame._continuation import HistoryMark, rest_after
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._pieces import LONG

SLICE = 0.012
"""Seconds: a frame is drawn on top of that."""
_CUT = 4096  # characters of a line that are wrapped in one go
_JOINED = frozenset(("Mn", "Mc", "Me", "Cf", "Sk"))  # what may be one cluster with a letter before it


class GradualBlock(TranscriptBlock, Scrollback):
    """A block whose rows never change. A subclass defines `_look` and `_draw`."""

    def __init__(self, length: int, *, at_once: bool) -> None:
        """`length` is that of its text. `at_once`: draw all of it, there are no frames to continue in."""
        self._is_long = self._behind = length > LONG and not at_once
        self._made_of: tuple[object, ...] | None = None
        self._waiting: Iterator[str] = iter(())
        self._rows: list[str] = []
        self._history = HistoryMark()

    def _look(self) -> tuple[object, ...]:
        """Everything but the width that the rows depend on."""
        raise NotImplementedError

    def _draw(self, width: int) -> Iterable[str]:
        raise NotImplementedError

    def render(self, width: int) -> Rows:
        made_of = (width, *self._look())
        if made_of != self._made_of:
            self._made_of, self._rows = made_of, []
            self._waiting = iter(self._draw(max(width, 4)))
            if self._behind and not self._history:
                self.advance()
            else:
                self._draw_rest()
        return self._rows

    def _draw_rest(self) -> None:
        self._rows, self._behind = list(self._waiting), False
        if self._history:
            done, rest = rest_after(self._rows, self._history)
            self._rows = self._rows[done:] if rest is None else [rest, *self._rows[done + 1 :]]

    def advance(self) -> None:
        if self._made_of is None:
            return  # it was never rendered
        end = time.perf_counter() + SLICE
        self._rows = list(self._rows)
        for row in self._waiting:
            self._rows.append(row)
            if time.perf_counter() >= end:
                return
        self._behind = False

    def begin_anew(self) -> None:
        super().begin_anew()
        self._behind = self._is_long

    @property
    def behind(self) -> bool:
        return self._behind

    @property
    def done(self) -> bool:
        return not self._behind

    def live_from(self) -> int | None:
        return len(self._rows)

    def release(self, rows: int) -> int:
        count = min(rows, len(self._rows))
        self._history.add(self._rows[:count])
        self._rows = self._rows[count:]
        return count

    def restore(self) -> None:
        self._history = HistoryMark()
        self._made_of = None

    def invalidate(self) -> None:
        if not self._behind:  # else it would have to be drawn at once
            self._made_of, self._rows, self._waiting = None, [], iter(())


def wrapped_lazily(text: str, width: int) -> Iterator[str]:
    """The rows of a plain text, each made when it is needed."""
    at = 0 if width > 0 else -1
    if at < 0:
        yield ""
    while at >= 0:
        end = text.find("\n", at)
        yield from _rows_of_line(expand_tabs(text[at:] if end < 0 else text[at:end]), width)
        at = end + 1 or -1


def _rows_of_line(line: str, width: int) -> Iterator[str]:
    """The rows `wrap` makes of a line, piece by piece. Where a row ends is decided by its letters and the next few, so
    all rows of a piece but the last are those of the line."""
    at, size = 0, max(_CUT, 8 * width)
    if len(line) > size:
        line = line.rstrip(" ") or line
    while len(line) - at > size and width > 1:  # in a single cell, what is wider is replaced
        rows = wrap(line[at : at + size], width)
        count = next((count for count in range(len(rows) - 2, 0, -1) if _stands_alone(rows[count][:1])), 0)
        if not count:  # hardly anything but blanks
            break
        for row in rows[:count]:
            yield row
            at = line.index(row, at) + len(row)
        at = line.index(rows[count], at)
    yield from wrap(line[at:], width) or [""]


def _stands_alone(letter: str) -> bool:
    """Whether a row may begin with it: it does not join with a space before it."""
    return bool(letter.strip(" ")) and category(letter) not in _JOINED
