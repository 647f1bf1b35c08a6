"""The block of a model's text as it streams; reasoning is drawn only while it is switched on.

- The text of an entry only grows: what is past the length that was read is new.
- More than can be read in a frame is read slice by slice (`advance`). What was read once is drawn whole.
"""

import time

from sightline.transcript import TranscriptText
from sightline.tty import Rows, Scrollback, on_background
from sightline.tty.components import Markdown
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._gradual import SLICE
from sightline.views.console.blocks._pieces import LONG

_READ_AT_ONCE = 2048  # characters


class WordsBlock(TranscriptBlock, Scrollback):
    """One text, or one piece of reasoning."""

    open_ended = True

    def __init__(
        self, words: TranscriptText, drawing: DrawingOptions, start: int = 0, *, at_once: bool = False
    ) -> None:
        """`start`: where in the text it begins; another block shows what is before. `at_once`: it is never behind."""
        self._words = words
        self._drawing = drawing
        self._markdown = Markdown(theme=drawing.theme)
        self._start = self._read = start
        self._closed = self._finished = False
        self._width = 0
        self._most = LONG  # characters that are read in one go
        self._at_once = at_once or drawing.linear or not self._shown
        self._made_of: Rows | None = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        if not self._shown:
            return ()
        self._width = width
        if not self.behind:
            self._read_on()
        elif self._read == self._start:
            self.advance()
        rows = self._markdown.render(width)
        if not self._words.reasoning:
            return rows
        if rows is not self._made_of:
            dim = self._drawing.theme.open("dim")
            self._made_of, self._rows = rows, [on_background(row, dim) for row in rows]
        return self._rows

    def _read_on(self) -> None:
        text = self._words.text
        if len(text) > self._read and not self._finished:
            self._markdown.append(text[self._read :])
            self._read = len(text)
        if self._closed and not self._finished:
            self._finished = True
            self._markdown.finish()

    @property
    def behind(self) -> bool:
        unread = len(self._words.text) - self._read
        return unread > self._most and not self._at_once and not self._finished

    def advance(self) -> None:
        if not self._shown:
            self._at_once = True  # it is not on the screen
        if not self._width:
            return  # it was never rendered
        self._most = _READ_AT_ONCE
        text, end = self._words.text, time.perf_counter() + SLICE
        while self.behind:
            piece = text[self._read : self._read + _READ_AT_ONCE]
            self._markdown.append(piece)
            self._read += len(piece)
            self._markdown.render(self._width)
            if time.perf_counter() >= end:
                return
        self._most = LONG

    @property
    def _shown(self) -> bool:
        return self._drawing.reasoning or not self._words.reasoning

    def live_from(self) -> int | None:
        return self._markdown.live_from() if self._shown else 0

    def safe_to(self) -> int | None:
        return self._markdown.safe_to() if self._shown else 0

    def release(self, rows: int) -> int:
        return self._markdown.release(rows)

    def restore(self) -> None:
        self._markdown.restore()

    def invalidate(self) -> None:
        self._markdown.invalidate()
        self._made_of, self._rows = None, ()

    @property
    def done(self) -> bool:
        return self._closed and not self.behind

    def close(self) -> None:
        self._closed = True

    @property
    def source(self) -> str:
        if not self._shown:
            return ""
        return self._words.text[self._start : self._read if self._finished else None]

    @property
    def long(self) -> TranscriptText | None:
        """The entry, if it is complete and longer than a frame can draw."""
        whole = self._closed and not self._start and len(self._words.text) >= LONG
        return self._words if whole and self._shown else None

    @property
    def rest(self) -> int | None:
        """Where the text that came after the block was finished begins; None: there is none."""
        return self._read if self._finished and len(self._words.text) > self._read else None
