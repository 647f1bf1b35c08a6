"""What editing keys do to a buffer, in a single line and in many: motions, deletions, the kill ring, steps back.

`DO` maps the names of actions (`_bindings`) to what they do. Whatever is not a kill or a yank interrupts both.
"""

from collections import deque
from collections.abc import Callable

from sightline.tty.components.editor._buffer import Buffer, end_of
from sightline.tty.components.editor._undo import Position
from sightline.tty.components.editor._words import word_after, word_before

_KILLS = 60


class KillRing:
    """The last kills, newest last. Kills in a row join, and a yank can be exchanged for an older kill."""

    def __init__(self) -> None:
        self._kills: deque[str] = deque(maxlen=_KILLS)
        self._joining = False

    def kill(self, text: str, *, backwards: bool) -> None:
        """Keep a text that was removed; right after another kill it joins it, on the side it was removed from."""
        if not text:
            return
        if self._joining and self._kills:
            last = self._kills[-1]
            self._kills[-1] = text + last if backwards else last + text
        else:
            self._kills.append(text)
        self._joining = True

    def interrupt(self) -> None:
        """Something else was done: the next kill stands for itself."""
        self._joining = False

    def newest(self) -> str:
        return self._kills[-1] if self._kills else ""

    def older(self) -> str:
        """Turn the ring: the kill before becomes the newest."""
        self._kills.rotate(1)
        return self.newest()

    def texts(self) -> tuple[str, ...]:
        return tuple(self._kills)


class Editing:
    """A buffer and its kill ring, under the hands of a person."""

    def __init__(self) -> None:
        self.buffer = Buffer()
        self.ring = KillRing()
        self._yanked: tuple[Position, Position] | None = None
        """Where the text that was yanked last begins and ends, while nothing else happened."""

    def type(self, text: str) -> None:
        self.settle()
        self.buffer.insert(text, "type")

    def paste(self, text: str) -> None:
        self.settle()
        self.buffer.seal()
        self.buffer.insert(text)

    def do(self, action: str) -> None:
        if action not in _CONTINUE_KILL:
            self.ring.interrupt()
        if action not in ("yank", "yank_pop"):
            self._yanked = None
        DO[action](self)

    def settle(self) -> None:
        """Something that is no command of this module was done."""
        self.ring.interrupt()
        self._yanked = None

    def word_left(self) -> Position:
        line, column = self.buffer.cursor
        if column == 0:
            return self.buffer.left_of((line, 0))
        return line, word_before(self.buffer.line, column)

    def word_right(self) -> Position:
        line, column = self.buffer.cursor
        if column == len(self.buffer.line):
            return self.buffer.right_of((line, column))
        return line, word_after(self.buffer.line, column)

    def line_start(self) -> Position:
        return self.buffer.cursor[0], 0

    def line_end(self) -> Position:
        return self.buffer.cursor[0], len(self.buffer.line)

    def delete_back(self) -> None:
        self.buffer.replace(self.buffer.left_of(self.buffer.cursor), self.buffer.cursor, "", "erase")

    def delete_forward(self) -> None:
        self.buffer.replace(self.buffer.cursor, self.buffer.right_of(self.buffer.cursor), "", "delete")

    def kill_back(self, start: Position) -> None:
        self._kill(start, self.buffer.cursor, backwards=True)

    def kill_forward(self, end: Position) -> None:
        self._kill(self.buffer.cursor, end, backwards=False)

    def kill_line(self) -> None:
        """To the end of the line; at its end, the line break."""
        end = self.line_end()
        self.kill_forward(end if end != self.buffer.cursor else self.buffer.right_of(end))

    def kill_line_back(self) -> None:
        start = self.line_start()
        self.kill_back(start if start != self.buffer.cursor else self.buffer.left_of(start))

    def yank(self) -> None:
        self._yank_over(self.buffer.cursor, self.buffer.cursor, self.ring.newest())

    def yank_pop(self) -> None:
        """Exchange what was just yanked for the kill before it."""
        if self._yanked is not None:
            self._yank_over(*self._yanked, self.ring.older())

    def _yank_over(self, start: Position, end: Position, text: str) -> None:
        self.buffer.replace(start, end, text)
        self._yanked = (start, end_of(start, text))

    def transpose(self) -> None:
        """Exchange the clusters around the cursor; at the end of a line the two before it."""
        line, column = self.buffer.cursor
        middle = (line, column) if column < len(self.buffer.line) else self.buffer.left_of((line, column))
        start, end = self.buffer.left_of(middle), self.buffer.right_of(middle)
        if column == 0 or start[0] != line or end[0] != line:
            return
        self.buffer.replace(start, end, self.buffer.slice(middle, end) + self.buffer.slice(start, middle))

    def _kill(self, start: Position, end: Position, *, backwards: bool) -> None:
        self.ring.kill(self.buffer.slice(start, end), backwards=backwards)
        self.buffer.replace(start, end, "")


_CONTINUE_KILL = ("delete_word_back", "delete_word_forward", "kill_line", "kill_line_back", "yank_pop")

DO: dict[str, Callable[[Editing], object]] = {
    "cursor_left": lambda editing: editing.buffer.move(editing.buffer.left_of(editing.buffer.cursor)),
    "cursor_right": lambda editing: editing.buffer.move(editing.buffer.right_of(editing.buffer.cursor)),
    "cursor_word_left": lambda editing: editing.buffer.move(editing.word_left()),
    "cursor_word_right": lambda editing: editing.buffer.move(editing.word_right()),
    "cursor_line_start": lambda editing: editing.buffer.move(editing.line_start()),
    "cursor_line_end": lambda editing: editing.buffer.move(editing.line_end()),
    "cursor_text_start": lambda editing: editing.buffer.move((0, 0)),
    "cursor_text_end": lambda editing: editing.buffer.move(editing.buffer.end),
    "delete_back": Editing.delete_back,
    "delete_forward": Editing.delete_forward,
    "delete_word_back": lambda editing: editing.kill_back(editing.word_left()),
    "delete_word_forward": lambda editing: editing.kill_forward(editing.word_right()),
    "kill_line": Editing.kill_line,
    "kill_line_back": Editing.kill_line_back,
    "yank": Editing.yank,
    "yank_pop": Editing.yank_pop,
    "transpose": Editing.transpose,
    "undo": lambda editing: editing.buffer.undo(),
    "redo": lambda editing: editing.buffer.redo(),
}
