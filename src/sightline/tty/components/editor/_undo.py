"""Steps that can be taken back.

A step is what a person did at once: a typed word with the blanks after it, a run of deletions, a paste, a command.
Edits are exact in code points, so taking a step back restores the text to the character.
"""

from collections import deque

import msgspec

Position = tuple[int, int]  # line, and code point in the line

_STEPS = 1000
_CHARACTERS = 4_000_000


class Edit(msgspec.Struct, frozen=True, gc=False):
    """At a place, one text was replaced by another."""

    at: Position
    removed: str
    inserted: str

    @property
    def weight(self) -> int:
        return len(self.removed) + len(self.inserted) + 1


class UndoStep(msgspec.Struct):
    """Edits that are taken back together, and where the cursor was before and after them."""

    kind: str
    before: Position
    after: Position
    edits: list[Edit]


class UndoStack:
    """The last steps, bounded in number and in the text they hold."""

    def __init__(self) -> None:
        self._done: deque[UndoStep] = deque()
        self._undone: deque[UndoStep] = deque()
        self._weight = 0
        self._open = False
        self._held = 0

    def record(self, edit: Edit, kind: str, before: Position, after: Position) -> None:
        """Record an edit. It joins the last step when it continues it."""
        self._undone.clear()
        if self._open and self._joins(edit, kind, before):
            step = self._done[-1]
            step.edits.append(edit)
            step.after = after
        else:
            self._done.append(UndoStep(kind, before, after, [edit]))
        self._open = True
        self._weight += edit.weight
        self._forget_old()

    def seal(self) -> None:
        """The next edit begins a step of its own."""
        if not self._held:
            self._open = False

    def hold(self) -> None:
        """Every edit until `release` belongs to one step."""
        self.seal()
        self._held += 1

    def release(self) -> None:
        self._held = max(0, self._held - 1)
        self.seal()

    def undo(self) -> UndoStep | None:
        return self._shift(self._done, self._undone, -1)

    def redo(self) -> UndoStep | None:
        return self._shift(self._undone, self._done, 1)

    def _shift(self, source: deque[UndoStep], target: deque[UndoStep], sign: int) -> UndoStep | None:
        self._open = False
        if not source:
            return None
        step = source.pop()
        self._weight += sign * _weight_of(step)
        target.append(step)
        return step

    def _joins(self, edit: Edit, kind: str, before: Position) -> bool:
        if not self._done:
            return False
        if self._held:
            return True
        last = self._done[-1]
        if kind != last.kind or kind == "command" or before != last.after:
            return False
        return kind != "type" or edit.inserted.isspace() or not last.edits[-1].inserted[-1:].isspace()

    def _forget_old(self) -> None:
        while len(self._done) > _STEPS or (self._weight > _CHARACTERS and len(self._done) > 1):
            self._weight -= _weight_of(self._done.popleft())


def _weight_of(step: UndoStep) -> int:
    return sum(edit.weight for edit in step.edits)
