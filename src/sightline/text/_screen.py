"""The one interpreter of terminal output: text as `clean_output` leaves it becomes rows with style as data.

Rules:

- The screen has no bottom. The last `height` rows are live and may still change; a row above them is settled: it is
  handed out once and never changes. A move of the cursor stops at the oldest live row and at the last row.
- The program writes to a terminal of `rows` rows, which shows the last so many of ours: addresses (`CSI H`, `d`) are
  counted from the first of these, and erasing the display ends there. Rows that an address lies beyond are made.
- A scroll region (`CSI t;b r`) is made of rows of the terminal. In its last row a newline scrolls the region alone;
  what leaves it at the first row of the terminal is above the terminal then, as everything that scrolls off, and
  elsewhere gone. Moves, inserted and deleted rows end at its borders. While there is one, the terminal has all rows.
- A newline goes to the first column of the next row, and only a newline (or a full row) makes a new one. The row the
  last newline made counts as a row when something stands in it.
- With `columns` a full row continues in the next, as in a terminal: the step is taken by the character that no longer
  fits, not by the one that fills the row. Without, a row takes 64 K characters, and a move to the right ends at 4096.
- Time is bounded: erasing costs what it changes, and in a row wider than 4096 the cursor goes back to column 4096 when
  all of the row is erased. No terminal has such a row.
- Memory is bounded: only the last row may be wider than 4096. A newline that leaves such a row settles it, with
  everything above; text put into a row above the last continues in the next row there.
- A tab leads to the next multiple of eight. At the end of a row it leaves blanks, within one it only moves.
- Erasing takes no colour: what is erased is blank, and at the end of a row gone. Below the cursor, empty rows at the
  end are no rows.
- VS16 makes a narrow character wide where Unicode has it so (⚠, keycaps). One that no longer fits goes to the next row.
- The alternate screen begins below what is there, after a row that marks it. On leaving, what of it has not settled is
  gone: what a program draws is seen while it is there, and what it covered is never lost.
- Rows do not depend on how the text was cut into pieces, as long as no sequence was cut.
"""

import re

from sightline.text._output import ALLOWED
from sightline.text._row import EMOJI_STYLE, Pen, Row, ScreenLine, StyledRun, fitting, is_widened
from sightline.text._style import DEFAULT, Style, styled

_ROW_AT_MOST = 64 * 1024
_WIDE = 4096
_TAB = 8
_AT_END = -1  # the cursor stands behind the last character, in whichever column that is

_TERMINAL_END = 9999
_TERMINAL_ROWS = 24  # of the terminal commands are given, where they are given one
_ALTERNATE = "… full-screen program …"

_controls = re.compile(f"([\r\b]|\x1b{ALLOWED})").split


class OutputScreen:
    """Rows out of terminal output, piece by piece."""

    def __init__(self, columns: int | None = None, height: int = 50, rows: int = _TERMINAL_ROWS) -> None:
        self.style = DEFAULT
        self.settled = 0
        # A wide character must fit into a row, or it would fit nowhere.
        self._columns = None if columns is None else min(max(columns, 2), _WIDE)
        self._height = max(height, 1)
        self._terminal_rows = min(max(rows, 1), self._height)
        self._pen: Pen = (DEFAULT, "stdout")
        self._done: list[Row] = []
        self._begin()

    def _begin(self) -> None:
        self._line = ScreenLine()
        self._rows: list[Row | ScreenLine] = [self._line]
        self._y = 0
        self._x = _AT_END
        self._saved = (0, 0, DEFAULT)  # row and column of the terminal, and style
        self._alternate: int | None = None  # the number of the first row of the alternate screen
        self._region: tuple[int, int] | None = None  # first and last row of the terminal that scroll; None: all
        self._main: tuple[Style, tuple[int, int] | None] = (DEFAULT, None)  # style and region while the other is shown

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
        while len(rows) > self._y + 1 and not rows[-1]:
            rows.pop()
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
        whole = self._whole_rows(text, lines) if len(lines) > 2 and self._region is None else None
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
        elif not text.isascii() and (self._columns is not None or EMOJI_STYLE in text):
            return None
        return lines if max(map(len, lines)) <= limit else None

    def _add_rows(self, texts: list[str]) -> None:
        """Add rows where the cursor is on the last one and nothing stands in it."""
        style, stream = self._pen
        rows = [(StyledRun(text, style, stream),) if text else () for text in texts]
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
        if self._region is not None:
            self._newline_in_region()
            return
        if self._y < len(self._rows) - 1:
            self._go_to(self._y + 1, 0)
            return
        left = self._line
        if not left.cells:
            self._rows[-1] = left.row()
        self._line = ScreenLine()
        self._rows.append(self._line)
        self._x = _AT_END
        self._settle(self._height if left.size <= _WIDE else 1)

    def _newline_in_region(self) -> None:
        top, bottom = self._margins
        if self._y != bottom:
            self._go_to(min(self._y + 1, len(self._rows) - 1), 0)
            return
        if top > self._top:  # what leaves elsewhere than at the terminal's first row is gone, as in a terminal
            self._scroll(top, bottom, 1)
        else:
            self._rows.insert(bottom + 1, ())
            self._settle(self._height)
            self._y = self._margins[1]
        self._line = self._line_at(self._y)
        self._x = 0

    @property
    def _margins(self) -> tuple[int, int]:
        if self._region is None:
            return self._top, len(self._rows) - 1
        first, last = self._region
        return self._top + first, self._top + last

    def _scroll(self, top: int, bottom: int, count: int) -> None:
        """Rows from `top` to `bottom` move up, or down where the count is negative; what leaves is gone."""
        rows, moved = self._rows, min(abs(count), bottom + 1 - top)
        if count > 0:
            rows[top : bottom + 1] = [*rows[top + moved : bottom + 1], *[()] * moved]
        else:
            rows[top : bottom + 1] = [*[()] * moved, *rows[top : bottom + 1 - moved]]

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
        if EMOJI_STYLE not in text:
            self._put_characters(text)
            return
        first, *rest = text.split(EMOJI_STYLE)
        self._put_characters(first)
        for part in rest:
            self._put_emoji_style()
            self._put_characters(part)

    def _put_emoji_style(self) -> None:
        column = self._column
        self._line.to_cells()
        self._x = column
        before = self._line.before(column)
        if before is None:
            return
        if not is_widened(before[0]):
            self._line.join(EMOJI_STYLE, column)
        elif column < self._room(self._y):
            self._x = self._line.widen(column)
        else:
            self._line.erase_from(column - 1)
            self._continue_below()
            pen, self._pen = self._pen, before[1]
            self._put_characters(before[0])
            self._put_emoji_style()
            self._pen = pen

    def _put_characters(self, text: str) -> None:
        while text:
            if self._x != _AT_END and not self._line.cells and self._x >= self._line.width:
                self._line.pad(self._x, self._blank)
                self._x = _AT_END
            put = self._append(text) if self._x == _AT_END else self._overwrite(text)
            if put == len(text):
                return
            text = text[put:]
            if self._x != _AT_END:  # a wide character that does not fit takes away what stands in the last column
                self._line.erase_from(self._x)
            self._continue_below()

    def _continue_below(self) -> None:
        self._newline()
        self._line.continues = True

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
        return _ROW_AT_MOST if row == len(self._rows) - 1 and self._region is None else _WIDE

    def _room(self, row: int) -> int:
        return self._columns or self._most(row)

    @property
    def _blank(self) -> Pen:
        return (DEFAULT, self._pen[1])

    @property
    def _column(self) -> int:
        return self._line.width if self._x == _AT_END else self._x

    @property
    def _top(self) -> int:
        """The row that the program calls its first."""
        return max(len(self._rows) - self._terminal_rows, self._oldest)

    @property
    def _oldest(self) -> int:
        """The oldest row that the cursor can be moved to."""
        return 0 if self._alternate is None else max(self._alternate - self.settled, 0)

    def _obey(self, control: str) -> None:
        final, parameters = control[-1], control[2:-1]
        if control in ("\x1bD", "\x1bM"):
            self._index(up=final == "M")
        elif final == "m":
            self._set_style(styled(self.style, parameters))
        elif final == "\r":
            self._go_to(self._y, 0)
        elif final == "\b":
            self._move("D", 1)
        elif final == "K":
            self._erase(parameters)
        elif final in "ABCDEF":
            self._move(final, int(parameters or 1) or 1)
        else:
            self._obey_rare(final, parameters)

    def _obey_rare(self, final: str, parameters: str) -> None:
        first, _, second = parameters.partition(";")
        number = 1 if final in "hl" else int(first or 1) or 1
        match final:
            case "J":
                self._erase_display(parameters)
            case "H":
                self._go_to_address(number - 1, (int(second or 1) or 1) - 1)
            case "d":
                self._go_to_address(number - 1, self._cursor_column)
            case "@" | "P" | "X":
                self._edit(final, number)
            case "L":
                self._insert_rows(number)
            case "M":
                self._delete_rows(number)
            case "S" | "T":
                self._scroll_region(number if final == "S" else -number)
            case "r":
                self._set_region(number - 1, int(second or _TERMINAL_END) or _TERMINAL_END)
            case "s":
                self._saved = (self._y - self._top, self._column, self.style)
            case "u":
                row, column, style = self._saved
                self._set_style(style)
                self._go_to_address(max(row, 0), column, full=True)
            case "h":
                self._enter_alternate()
            case "l":
                self._leave_alternate()

    def _set_style(self, style: Style) -> None:
        self.style = style
        self._pen = (style, self._pen[1])

    @property
    def _cursor_column(self) -> int:
        """In a full row the cursor stands on the last column until a character takes the step to the next row."""
        return min(self._column, self._room(self._y) - 1)

    def _move(self, how: str, distance: int) -> None:
        row, column = self._y, self._cursor_column
        if how == "C":
            column = max(column, min(column + distance, (self._columns or _WIDE) - 1))
        elif how == "D":
            column = max(column - distance, 0)
        elif how in "AF":
            row = max(row - distance, self._farthest_up)
        else:
            row = min(row + distance, self._farthest_down)
        self._go_to(row, 0 if how in "EF" else min(column, self._room(row) - 1))

    @property
    def _farthest_up(self) -> int:
        """The row at which a move from the cursor's stops."""
        if self._region is None:
            return self._oldest
        top = self._margins[0]
        return top if self._y >= top else min(self._top, self._y)

    @property
    def _farthest_down(self) -> int:
        bottom = self._margins[1]
        return bottom if self._y <= bottom else len(self._rows) - 1

    def _index(self, *, up: bool) -> None:
        """A row up or down in the same column; at the border of what scrolls, all of that moves."""
        top, column = self._margins[0], self._cursor_column
        if not up:
            self._newline()
        elif self._y == top:
            self._insert_rows(1)
        elif self._y > self._top:
            self._go_to(self._y - 1, column)
        self._x = column

    def _set_region(self, first: int, end: int) -> None:
        """From a row of the terminal to before another. What is none is ignored."""
        end = min(end, self._terminal_rows)
        if end - first < 2:
            return
        self._region = None
        if end - first < self._terminal_rows:
            self._fill_terminal()
            self._region = (first, end - 1)
        self._go_to_address(0, 0)

    def _fill_terminal(self) -> None:
        """Make the rows that the terminal has below the last. Of those that scroll none is wide."""
        row, column = self._y + self.settled, min(self._x, _WIDE)
        if self._line_at(len(self._rows) - 1).size > _WIDE:
            self._make_rows(1)
        self._make_rows(max(self._top + self._terminal_rows - len(self._rows), 0))
        self._go_to(max(row - self.settled, 0), column)

    def _scroll_region(self, count: int) -> None:
        if self._region is None:
            self._fill_terminal()
        column = self._cursor_column
        self._scroll(*self._margins, count)
        self._line = self._line_at(self._y)
        self._x = column

    def _go_to(self, row: int, column: int) -> None:
        if row != self._y:
            self._y, self._line = row, self._line_at(row)
        self._x = column

    def _line_at(self, row: int) -> ScreenLine:
        line = self._rows[row]
        if isinstance(line, tuple):
            line = self._rows[row] = ScreenLine(line)
        return line

    def _go_to_address(self, row: int, column: int, *, full: bool = False) -> None:
        """Go to a row and column of the terminal. `full`: the column may be the one behind the last."""
        row = self._top + min(row, self._terminal_rows - 1)
        if row >= len(self._rows):
            row = self._make_rows(row + 1 - len(self._rows))
        self._go_to(row, min(column, (self._columns or _WIDE) - (not full)))

    def _make_rows(self, count: int) -> int:
        """Add rows below the last; the number of the last of them."""
        self._go_to(len(self._rows) - 1, 0)
        for _ in range(count):
            self._newline()
        return self._y

    def _erase(self, which: str) -> None:
        column = self._column
        if which == "2":
            self._line.clear()
        elif which == "1":
            self._line.erase_before(column + 1, self._blank)
        else:
            self._line.erase_from(column)
        if not self._line:  # in a row that no terminal has, the blanks before the cursor would be made again and again
            column = min(column, _WIDE)
        self._go_to(self._y, column)

    def _erase_display(self, which: str) -> None:
        rows = self._rows
        if which in ("1", "2"):
            top = self._top
            rows[top : self._y] = [()] * (self._y - top)
        if which != "1":
            rows[self._y + 1 :] = [()] * (len(rows) - self._y - 1)
        self._erase(which)

    def _edit(self, how: str, count: int) -> None:
        column = self._cursor_column
        if self._line.size > _WIDE:  # no terminal has such a row, and moving its cells about would take long
            return
        if how == "@":
            most = self._columns or _WIDE
            self._line.insert(column, min(count, most - column), most, self._blank)
        elif how == "P":
            self._line.delete(column, count)
        else:
            self._line.erase(column, count, self._blank)
        self._go_to(self._y, column)

    def _insert_rows(self, count: int) -> None:
        """Empty rows above the cursor's; what they push off the terminal is gone."""
        rows, length = self._rows, len(self._rows)
        if self._region is not None:
            self._scroll_from_cursor(-count)
            return
        most = max(length, min(length + count, self._top + self._terminal_rows, self._height))
        rows[self._y : self._y] = [()] * min(count, self._terminal_rows)
        del rows[most:]
        self._line = self._line_at(self._y)
        self._x = 0

    def _delete_rows(self, count: int) -> None:
        """What is below moves up."""
        rows, length = self._rows, len(self._rows)
        if self._region is not None:
            self._scroll_from_cursor(count)
            return
        del rows[self._y : self._y + count]
        last = rows[-1] if rows else ()
        # Only the last row may be wide: it stays the last.
        most = self._y + 1 if isinstance(last, ScreenLine) and last.size > _WIDE else length
        rows += [()] * (most - len(rows))
        self._line = self._line_at(self._y)
        self._x = 0

    def _scroll_from_cursor(self, count: int) -> None:
        """What scrolls, from the cursor's row on; outside of it nothing."""
        top, bottom = self._margins
        if top <= self._y <= bottom:
            self._scroll(self._y, bottom, count)
            self._line = self._line_at(self._y)
            self._x = 0

    def _enter_alternate(self) -> None:
        if self._alternate is not None:
            return
        self._main, self._region = (self.style, self._region), None
        self._go_to(len(self._rows) - 1, 0)
        if self._line:
            self._newline()
        pen, self._pen = self._pen, (Style(dim=True), self._pen[1])
        self._put_characters(_ALTERNATE)
        self._newline()
        self._pen = pen
        self._alternate = self.settled + self._y

    def _leave_alternate(self) -> None:
        if self._alternate is None:
            return
        first = self._oldest
        self._alternate = None
        self._line = ScreenLine()
        self._rows[first:] = [self._line]
        self._y, self._x = first, _AT_END
        (style, region), self._region = self._main, None
        self._set_style(style)
        if region is not None:
            self._fill_terminal()
            self._region = region


def _finished(row: Row | ScreenLine) -> Row:
    return row.row() if isinstance(row, ScreenLine) else row
