"""Text being edited: lines, a cursor that stands between clusters, and steps back.

Every change is one `replace` with the kind of the change, so that typing can be undone word by word. A change costs
what the touched lines weigh, whatever the rest of the text does.
"""

from typing import Literal

from sightline.tty.components.editor._clusters import after, before, ceiling
from sightline.tty.components.editor._undo import Edit, Position, UndoStack

Kind = Literal["type", "erase", "delete", "command"]


class Buffer:
    """Lines of cleaned text, in which a folded paste is one character (`_clusters`)."""

    def __init__(self, text: str = "") -> None:
        self.lines = text.split("\n")
        self.cursor: Position = (0, 0)
        self.version = 0  # grows with every change of the text
        self.goal: int | None = None  # the column up and down aim at, while nothing else moves the cursor
        self._undo = UndoStack()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def line(self) -> str:
        return self.lines[self.cursor[0]]

    @property
    def end(self) -> Position:
        return len(self.lines) - 1, len(self.lines[-1])

    def slice(self, start: Position, end: Position) -> str:
        if start[0] == end[0]:
            return self.lines[start[0]][start[1] : end[1]]
        first, last = self.lines[start[0]][start[1] :], self.lines[end[0]][: end[1]]
        return "\n".join([first, *self.lines[start[0] + 1 : end[0]], last])

    def move(self, position: Position, *, keep_goal: bool = False) -> None:
        """Put the cursor somewhere; a place inside a cluster means the end of it."""
        line = min(max(0, position[0]), len(self.lines) - 1)
        column = ceiling(self.lines[line], max(0, position[1]))
        if (line, column) != self.cursor:
            self._undo.seal()
        self.cursor = (line, column)
        if not keep_goal:
            self.goal = None

    def insert(self, text: str, kind: Kind = "command") -> None:
        self.replace(self.cursor, self.cursor, text, kind)

    def replace(self, start: Position, end: Position, text: str, kind: Kind = "command") -> None:
        """Put `text` in place of what is between two positions, and the cursor behind it."""
        removed = self.slice(start, end)
        if not removed and not text:
            return
        was = self.cursor
        line, column = self._splice(start, end, text)
        self.cursor = (line, ceiling(self.lines[line], column))
        self.goal = None
        self._undo.record(Edit(start, removed, text), kind, was, self.cursor)

    def set_text(self, text: str) -> None:
        """Another text, as one step."""
        self.replace((0, 0), self.end, text)

    def forget(self) -> None:
        """Begin anew: an empty text with no steps."""
        self.lines = [""]
        self.cursor = (0, 0)
        self.goal = None
        self.version += 1
        self._undo = UndoStack()

    def left_of(self, position: Position) -> Position:
        """One cluster back, over the end of the line before too."""
        line, column = position
        if column > 0:
            return line, before(self.lines[line], column)
        return (line - 1, len(self.lines[line - 1])) if line > 0 else (0, 0)

    def right_of(self, position: Position) -> Position:
        line, column = position
        if column < len(self.lines[line]):
            return line, after(self.lines[line], column)
        return (line + 1, 0) if line + 1 < len(self.lines) else position

    def undo(self) -> bool:
        step = self._undo.undo()
        if step is None:
            return False
        for edit in reversed(step.edits):
            self._splice(edit.at, end_of(edit.at, edit.inserted), edit.removed)
        self.cursor, self.goal = step.before, None
        return True

    def redo(self) -> bool:
        step = self._undo.redo()
        if step is None:
            return False
        for edit in step.edits:
            self._splice(edit.at, end_of(edit.at, edit.removed), edit.inserted)
        self.cursor, self.goal = step.after, None
        return True

    def seal(self) -> None:
        """What comes next is a step of its own."""
        self._undo.seal()

    def hold(self) -> None:
        """What comes next is one step, until `release`."""
        self._undo.hold()

    def release(self) -> None:
        self._undo.release()

    def _splice(self, start: Position, end: Position, text: str) -> Position:
        head, tail = self.lines[start[0]][: start[1]], self.lines[end[0]][end[1] :]
        fresh = "".join((head, text, tail)).split("\n") if "\n" in text else ["".join((head, text, tail))]
        self.lines[start[0] : end[0] + 1] = fresh
        self.version += 1
        return start[0] + len(fresh) - 1, len(fresh[-1]) - len(tail)


def end_of(start: Position, text: str) -> Position:
    breaks = text.count("\n")
    if not breaks:
        return start[0], start[1] + len(text)
    return start[0] + breaks, len(text) - text.rfind("\n") - 1
