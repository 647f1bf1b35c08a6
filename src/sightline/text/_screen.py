"""The one interpreter of terminal output: text as `clean_output` leaves it becomes rows with style as data.

Rules:

- The screen has no bottom. The last `height` rows are live and may still change; a row above them is settled: it is
  handed out once and never changes. A move of the cursor stops at the oldest live row and at the last row.
- A newline goes to the first column of the next row, and only a newline (or a full row) makes a new one. The row the
  last newline made counts as a row when something stands in it.
- With `columns` a full row goes on in the next, as in a terminal: the step is taken by the character that no longer
  fits, not by the one that fills the row. Without, a row takes 64 K characters, and a move to the right ends at 4096.
- Memory is bounded: only the last row may be wider than 4096. A newline that leaves such a row settles it, with
  everything above; text put into a row above the last goes on in the next row there.
- A tab leads to the next multiple of eight. At the end of a row it leaves blanks, within one it only moves.
- Erasing takes no colour: what is erased is blank, and at the end of a row gone.
- Rows do not depend on how the text was cut into pieces, as long as no sequence was cut.
"""

import re

from sightline.text._row import Line, Pen, Row, Run, fitting
from sightline.text._style import DEFAULT, styled

_ROW_AT_MOST = 64 * 1024
_WIDE = 4096
_TAB = 8
_AT_END = -1  # the cursor stands behind the last character, in whichever column that is

_controls = re.compile("([\r\b]|\x1b\\[(?:[0-9;:]{0,64}m|[012]?K|[0-9]{0,4}[A-F]))").split


class Screen:
    """Rows out of terminal output, piece by piece."""

    def __init__(self, columns: int | None = None, height: int = 50) -> None:
        self.style = DEFAULT
        self.settled = 0
        # A wide character must fit into a row, or it would fit nowhere.
        self._columns = None if columns is None else min(max(columns, 2), _WIDE)
        self._height = max(height, 1)
        self._pen: Pen = (DEFAULT, "stdout")
        self._done: list[Row] = []
        self._begin()

    def _begin(self) -> None:
        self._line = Line()
        self._rows: list[Row | Line] = [self._line]
        self._y = 0
        self._x = _AT_END

    def feed(self, text: str, stream: str = "stdout") -> None:
        """Interpret a piece that does not end inside a sequence."""
        self._pen = (self.style, stream)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if not ("\x1b" in text or "\r" in text or "\b" in text):
            self._write(text)
            return
        parts = _controls(text)
        self._write(parts[0])
        for index in range(1, len(parts), 2):
            self._obey(parts[index])
            if plain := parts[index + 1]:
                self._write(plain)

    def take_settled(self) -> list[Row]:
        """The rows that became final since the last call, in order, each once."""
        done, self._done = self._done, []
        return done

    @property
    def live(self) -> list[Row]:
        """The rows that may still change, oldest first."""
        rows = [_finished(row) for row in self._rows]
        if not rows[-1]:
            rows.pop()
        return rows

    def finish(self) -> None:
        """The output is over: everything settles."""
        rows = self.live
        self._done += rows
        self.settled += len(rows)
        self._begin()

    def _write(self, text: str) -> None:
        """Text with no control but tab and newline."""
        if "\n" not in text:
            self._put(text)
            return
        lines = text.split("\n")
        if lines[0]:
            self._put(lines[0])
        whole = self._whole_rows(text, lines) if len(lines) > 2 else None
        for index in range(1, len(lines)):
            self._newline()
            if whole is not None and self._y == len(self._rows) - 1 and not self._line:
                self._add_rows(whole[index:-1])
                self._put(lines[-1])
                return
            if lines[index]:
                self._put(lines[index])

    def _whole_rows(self, text: str, lines: list[str]) -> list[str] | None:
        """The lines as rows, when each that begins at column 0 is one row with one style as it stands; else None."""
        limit = self._columns or _WIDE
        if "\t" in text:
            if not text.isascii() or self.style != DEFAULT:
                return None
            lines = text.expandtabs(_TAB).split("\n")
            limit -= 1  # a tab does not lead past the last column
        elif self._columns is not None and not text.isascii():
            return None
        return lines if max(map(len, lines)) <= limit else None

    def _add_rows(self, texts: list[str]) -> None:
        """Add rows where the cursor is on the last one and nothing stands in it."""
        style, stream = self._pen
        rows = [(Run(text, style, stream),) if text else () for text in texts]
        self._rows[-1:] = [*rows, self._line]
        self._settle(self._height)

    def _settle(self, height: int) -> None:
        rows = self._rows
        excess = len(rows) - height
        if excess > 0:
            self._done += map(_finished, rows[:excess])
            del rows[:excess]
            self.settled += excess
        self._y = len(rows) - 1

    def _newline(self) -> None:
        if self._y < len(self._rows) - 1:
            self._go_to(self._y + 1, 0)
            return
        left = self._line
        if not left.cells:
            self._rows[-1] = left.row()
        self._line = Line()
        self._rows.append(self._line)
        self._x = _AT_END
        self._settle(self._height if left.size <= _WIDE else 1)

    def _put(self, text: str) -> None:
        """Text with no control but tab."""
        if "\t" not in text:
            self._put_text(text)
            return
        first, *rest = text.split("\t")
        self._put_text(first)
        for part in rest:
            self._tab()
            self._put_text(part)

    def _put_text(self, text: str) -> None:
        while text:
            if self._x != _AT_END and not self._line.cells and self._x >= self._line.width:
                self._line.pad(self._x, self._blank)
                self._x = _AT_END
            put = self._append(text) if self._x == _AT_END else self._overwrite(text)
            if put == len(text):
                return
            text = text[put:]
            self._newline()

    def _append(self, text: str) -> int:
        line = self._line
        count = len(text)
        if self._columns is not None:
            count = fitting(text, self._columns - line.width)
        if line.size + count > _WIDE:
            count = min(count, max(self._most(self._y) - line.size, 0))
        if count:
            line.append(text[:count], self._pen)
        return count

    def _overwrite(self, text: str) -> int:
        count = fitting(text, self._room(self._y) - self._x)
        if count:
            self._line.pad(self._x, self._blank)
            self._x = self._line.overwrite(self._x, text[:count], self._pen)
        return count

    def _tab(self) -> None:
        column = self._column
        stop = min(column // _TAB * _TAB + _TAB, self._room(self._y) - 1)
        if stop <= column:
            return
        if self._line.cells or column < self._line.width:
            self._x = stop
        else:
            self._line.pad(stop, self._blank)
            self._x = _AT_END

    def _most(self, row: int) -> int:
        """How many characters a row may take."""
        return _ROW_AT_MOST if row == len(self._rows) - 1 else _WIDE

    def _room(self, row: int) -> int:
        """How many columns a row may take."""
        return self._columns or self._most(row)

    @property
    def _blank(self) -> Pen:
        return (DEFAULT, self._pen[1])

    @property
    def _column(self) -> int:
        return self._line.width if self._x == _AT_END else self._x

    def _obey(self, control: str) -> None:
        final = control[-1]
        if final == "m":
            self.style = styled(self.style, control[2:-1])
            self._pen = (self.style, self._pen[1])
        elif final == "\r":
            self._go_to(self._y, 0)
        elif final == "\b":
            self._move("D", 1)
        elif final == "K":
            self._erase(control[2:-1])
        else:
            self._move(final, int(control[2:-1] or 1) or 1)

    def _move(self, how: str, distance: int) -> None:
        # In a full row the cursor stands on the last column until a character takes the step to the next row.
        row, column = self._y, min(self._column, self._room(self._y) - 1)
        if how == "C":
            column = max(column, min(column + distance, (self._columns or _WIDE) - 1))
        elif how == "D":
            column = max(column - distance, 0)
        elif how in "AF":
            row = max(row - distance, 0)
        else:
            row = min(row + distance, len(self._rows) - 1)
        self._go_to(row, 0 if how in "EF" else min(column, self._room(row) - 1))

    def _go_to(self, row: int, column: int) -> None:
        if row != self._y:
            target = self._rows[row]
            if isinstance(target, tuple):
                target = self._rows[row] = Line(target)
            self._y, self._line = row, target
        self._x = column

    def _erase(self, which: str) -> None:
        column = self._column
        if which == "2":
            self._line.clear()
        elif which == "1":
            self._line.erase_before(column + 1, self._blank)
        else:
            self._line.erase_from(column)
        self._go_to(self._y, column)


def _finished(row: Row | Line) -> Row:
    return row.row() if isinstance(row, Line) else row
