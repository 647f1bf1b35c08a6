"""What vim's commands do to the text, and the register they fill."""

from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._clusters import units
from sightline.tty.components.editor._undo import Position
from sightline.tty.components.editor.vim._motions import first_letter

_PUT_AT_MOST = 1_000_000  # characters a count may multiply a register to: a slip of the finger must not fill the memory


class VimChanges:
    """Changes of a buffer, with one register."""

    def __init__(self, buffer: Buffer) -> None:
        self.register = ""
        self._linewise = False
        self._buffer = buffer

    def apply(self, operator: str, start: Position, end: Position) -> None:
        """Delete, change or yank what is between two positions."""
        text = self._buffer.slice(start, end)
        if text:
            self.register, self._linewise = text, False
        if operator != "y":
            self._buffer.replace(start, end, "")
        self._buffer.move(start)

    def apply_lines(self, operator: str, first: int, last: int) -> None:
        buffer = self._buffer
        start, end = (first, 0), (last, len(buffer.lines[last]))
        self.register, self._linewise = buffer.slice(start, end), True
        if operator == "c":
            buffer.replace(start, end, "")
        elif operator == "d":
            self._delete_lines(first, last)
            buffer.move(first_letter(buffer, min(first, len(buffer.lines) - 1)))
        elif first != buffer.cursor[0]:
            buffer.move((first, buffer.cursor[1]))

    def enter(self, name: str) -> None:
        """Put the cursor where an insert command begins."""
        buffer = self._buffer
        line, column = buffer.cursor
        end = len(buffer.line)
        match name:
            case "a" if column < end:
                buffer.move(buffer.right_of((line, column)))
            case "I":
                buffer.move(first_letter(buffer, line))
            case "A":
                buffer.move((line, end))
            case "o":
                buffer.replace((line, end), (line, end), "\n")
            case "O":
                buffer.replace((line, 0), (line, 0), "\n")
                buffer.move((line, 0))

    def do(self, name: str, count: int) -> None:
        """A command that needs no motion."""
        buffer = self._buffer
        match name[0]:
            case "u" | "\x12":
                step = buffer.undo if name == "u" else buffer.redo
                for _ in range(count):
                    if not step():
                        break
            case "p" | "P":
                self._put(count, before=name == "P")
            case "J":
                self._join(max(1, count - 1))
            case "r" | "~":
                end = self._right(buffer.cursor, count)
                if name == "~" or self._clusters_between(buffer.cursor, end) == count:
                    self.do_on(name, buffer.cursor, end)
                    buffer.move(end if name == "~" else buffer.left_of(end))

    def do_on(self, name: str, start: Position, end: Position) -> None:
        """The same on a selection."""
        buffer = self._buffer
        text = buffer.slice(start, end)
        if name == "J":
            buffer.move(start)
            self._join(max(1, end[0] - start[0]))
        elif name == "~":
            buffer.replace(start, end, text.swapcase())
            buffer.move(start)
        elif name[0] == "r":
            fresh = "\n".join(name[1] * sum(1 for _ in units(line)) for line in text.split("\n"))
            buffer.replace(start, end, fresh)
            buffer.move(start)

    def _put(self, count: int, *, before: bool) -> None:
        buffer = self._buffer
        if not self.register:
            return
        count = min(count, max(1, _PUT_AT_MOST // len(self.register)))
        line, column = buffer.cursor
        if self._linewise:
            text = "\n".join([self.register] * count)
            at = (line, 0) if before else (line, len(buffer.line))
            buffer.replace(at, at, f"{text}\n" if before else f"\n{text}")
            buffer.move(first_letter(buffer, line if before else line + 1))
            return
        at = (line, column) if before or not buffer.line else buffer.right_of((line, column))
        buffer.replace(at, at, self.register * count)
        buffer.move(buffer.left_of(buffer.cursor))

    def _join(self, times: int) -> None:
        """Put the next line behind this one, with one blank between them."""
        buffer = self._buffer
        buffer.hold()
        for _ in range(times):
            line = buffer.cursor[0]
            if line + 1 >= len(buffer.lines):
                break
            end = len(buffer.line)
            following = first_letter(buffer, line + 1)
            blank = " " if buffer.line and following[1] < len(buffer.lines[line + 1]) else ""
            buffer.replace((line, end), following, blank)
            buffer.move((line, end))
        buffer.release()

    def _delete_lines(self, first: int, last: int) -> None:
        buffer = self._buffer
        if last + 1 < len(buffer.lines):
            buffer.replace((first, 0), (last + 1, 0), "")
        elif first > 0:
            buffer.replace((first - 1, len(buffer.lines[first - 1])), (last, len(buffer.lines[last])), "")
        else:
            buffer.replace((0, 0), buffer.end, "")

    def _right(self, at: Position, count: int) -> Position:
        """So many clusters on, not past the end of the line."""
        for _ in range(count):
            further = self._buffer.right_of(at)
            if further[0] != at[0]:
                break
            at = further
        return at

    def _clusters_between(self, start: Position, end: Position) -> int:
        count, at = 0, start
        while at < end:
            at = self._buffer.right_of(at)
            count += 1
        return count
