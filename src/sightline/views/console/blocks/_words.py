"""Words of a model, as it writes them; what it thinks is drawn only while that is asked for.

The text of an entry only ever grows: what is new is what is longer than what was read.
"""

from sightline.transcript import Words
from sightline.tty import Rows, Scrollback, on_background
from sightline.tty.components import Markdown
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block


class WordsBlock(Block, Scrollback):
    """One text, or one thought."""

    open_ended = True

    def __init__(self, words: Words, drawing: Drawing, start: int = 0) -> None:
        """`start`: what stands before it is shown by another block."""
        self._words = words
        self._drawing = drawing
        self._markdown = Markdown(theme=drawing.theme)
        self._start = self._read = start
        self._closed = self._finished = False
        self._made_of: Rows | None = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        if not self._shown:
            return ()
        self._read_on()
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
        return self._closed

    def close(self) -> None:
        self._closed = True

    @property
    def source(self) -> str:
        if not self._shown:
            return ""
        return self._words.text[self._start : self._read if self._finished else None]

    @property
    def rest(self) -> int | None:
        """Where the text goes on that came after this was complete; None: nothing did."""
        return self._read if self._finished and len(self._words.text) > self._read else None
