"""From rows to bytes. Everything is relative to the cursor: where the window is on the screen is never queried.

Below the rows that are history, the terminal shows the painted rows. `update` turns them into the target: first the
rows that become history now (the chunk), then the window. Rows that moved are moved by the terminal itself (insert and
delete line), rows that changed are written over from the first cell that differs, and what is new at the end is
written after a line feed, which scrolls when it must. What leaves the screen at the top is therefore always the next
row of history, in order, and nothing else.

Rows that become history without having been on the screen (a long past that is filled in, a block that was taller than
the screen) are written above it where the window is the whole screen: its first two rows are a scroll region meanwhile,
through which they leave; all other rows stand still. In terminals, what leaves a region at the top becomes history.

`full` is for gestures only: it is the one place that clears the screen and the history of the terminal.
"""

from collections.abc import Iterable, Sequence

from sightline.tty._images import ImageRow
from sightline.tty.cells._width import is_doubtful, measure, pin
from sightline.tty.frame._cursor import Place
from sightline.tty.frame._reflow import Reflow, reflowed
from sightline.tty.frame._rows import fitted, may_overflow, rewrite
from sightline.tty.terminal._capabilities import Capabilities

BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
WRAP_OFF, WRAP_ON = "\x1b[?7l", "\x1b[?7h"
CLEAR_EVERYTHING = "\x1b[2J\x1b[H\x1b[3J"
ALTERNATE_SCREEN, NORMAL_SCREEN = "\x1b[?1049h", "\x1b[?1049l"

# The first two rows scroll by themselves; all rows do. Both put the cursor into the first cell.
_REGION, _NO_REGION = "\x1b[1;2r", "\x1b[r"
_LOSES_REGIONS = ("screen", "zellij")  # what leaves a region does not become history there, or not everywhere

_STRIDE = 16


class Painter:
    """Knows which rows the terminal shows below history, and where the cursor is among them."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.painted: list[str] = []
        self._used: list[int] = []  # cells of each painted row that were ever written: a multiplexer wraps rows by that
        self._row = 0
        self._column = 0  # -1 when it is not known
        self._bottom = 0  # the last row known to exist on the screen; to go beyond it takes a line feed
        self._out: list[str] = []
        self._pending: list[str] = []
        self._may_wrap = False  # the frame has a row that a terminal could take for wider than the screen
        self._jumped = False  # the frame writes in more than one place: then it must be shown at once
        self._cursor_shown = True

    def adopt(self, rows: Sequence[str], cursor: Place) -> None:
        """Take over rows that were drawn before us: they are painted, and the cursor is there."""
        self.painted = list(rows)
        self._used = [measure(row) for row in rows]
        self._row, self._column = cursor
        self._bottom = max(0, len(rows) - 1)

    def send(self, sequences: Iterable[str]) -> None:
        """What must reach the terminal before the rows of the next frame: the bytes of images."""
        self._pending.extend(sequences)

    def update(self, target: Sequence[str], chunk: int, cursor: Place | None, width: int, height: int) -> str:
        """Bytes that make the painted rows the target, the first `chunk` of which are history from now on."""
        self._send_pending()
        self.commit(target, chunk, width, height)
        self._place(cursor, width)
        return self._framed()

    def patch(self, rows: Iterable[tuple[int, str]], cursor: Place | None, width: int) -> str:
        """Bytes that change single rows of the window and nothing else."""
        self._send_pending()
        for index, row in rows:
            self._change_row(index, row, width)
        self._place(cursor, width)
        return self._framed()

    def commit(self, target: Sequence[str], chunk: int, width: int, height: int) -> None:
        """The same as a part of the frame that `update` then completes."""
        above = self._unseen(target, chunk, height)
        if above:
            self._write_above(target[:above], width)
            target, chunk = target[above:], chunk - above
        self._turn_into(target, width, height)
        del self.painted[:chunk], self._used[:chunk]
        self._row -= chunk
        self._bottom -= chunk

    def _unseen(self, target: Sequence[str], chunk: int, height: int) -> int:
        """How many rows of the chunk can be written above the window, because they are not in it."""
        painted = self.painted
        if not chunk or len(painted) != height or height < 3 or self.capabilities.multiplexer in _LOSES_REGIONS:
            return 0
        above = chunk
        if target[chunk:] != painted:
            if target[0] == painted[0]:  # it leaves the screen by being scrolled, and what follows it too
                return 0
            shown = (count for count in range(min(chunk, height), 0, -1) if any(painted[:count]))
            above -= next((count for count in shown if target[chunk - count : chunk] == painted[:count]), 0)
        graphics = any(isinstance(row, ImageRow) for row in (*painted, *target[:above]))
        return 0 if graphics else above

    def _write_above(self, rows: Sequence[str], width: int) -> None:
        self._out.append(_REGION)
        for index, row in enumerate((*rows, *self.painted[:2])):
            move = ("\x1b[K", "\r\n\x1b[K")[index] if index < 2 else "\r\n"
            self._out.append(move + pin(self._fitted(row, width)))
        self._out.append(_NO_REGION)
        self._used[:2] = [measure(fitted(row, width)) for row in self.painted[:2]]
        self._row = self._column = 0
        self._jumped = True

    def full(self, history: Iterable[str], window: Sequence[str], cursor: Place | None, width: int) -> str:
        """Clear screen and history, write both anew."""
        self._out.append(CLEAR_EVERYTHING)
        self.forget()
        self._send_pending()
        for row in history:
            self._out.append(pin(self._fitted(row, width)) + "\r\n")
        for row in window:
            self._append(row, width)
        self._place(cursor, width)
        return self._framed()

    def erase(self, width: int, height: int) -> None:
        """Take the painted rows off the screen; the cursor stands where the first of them was."""
        self._turn_into([], width, height)

    def switch(self, screen: str, width: int, height: int) -> None:
        """Go to the alternate screen or back, nothing being painted on either. The cursor then stands where the window
        begins, also in a multiplexer that has one screen only."""
        self.erase(width, height)
        self._out.append(f"\r{screen}")
        self._jumped = True
        self.forget()

    def settle(self, target: Sequence[str], width: int, height: int) -> str:
        """Release the window: the target is all that stays, the cursor goes to the row below it."""
        self._turn_into(target, width, height)
        if self.painted:
            self._go_to(len(self.painted))
        self._out.append("\r")
        if not self._cursor_shown:
            self._out.append(SHOW_CURSOR)
            self._cursor_shown = True
        written = self._framed()
        self.forget()
        return written

    def reflow(self, width: int, height: int) -> int:
        """The multiplexer wrapped what it shows anew: erase what can still be reached of the painted rows.

        Returns how many painted rows are out of reach: history, as they stand.
        """
        after: Reflow = reflowed(self.painted, self._used, (self._row, self._column), width, height)
        self.forget()
        self._out.append((f"\x1b[{after.up}A" if after.up else "") + "\r")
        if self._stores_deleted_rows:
            self._out.append("\x1b7" + "\x1b[K\x1b[B" * (height - 1) + "\x1b[K\x1b8")
        else:
            self._out.append(f"\x1b[{height}M")
        self._jumped = True
        return after.out_of_reach

    @property
    def _stores_deleted_rows(self) -> bool:
        """GNU screen moves rows that are deleted at its top into its history: there they are erased one by one."""
        return self.capabilities.multiplexer == "screen"

    def _send_pending(self) -> None:
        self._out.extend(self._pending)
        self._pending.clear()

    def forget(self) -> None:
        """What the terminal shows is not known: the window begins where the cursor is."""
        self.painted = []
        self._used = []
        self._row = self._column = self._bottom = 0

    def _turn_into(self, target: Sequence[str], width: int, height: int) -> None:
        old = self.painted
        same = _common_start(old, target)
        if same == len(old) == len(target):
            return
        added = len(target) - len(old)
        tail = _aligned_end(old, target, same) if added else 0
        if tail and self.capabilities.images == "kitty" and any(isinstance(row, ImageRow) for row in old[-tail:]):
            # Its graphics do not move with rows, but are placed anew for a few bytes; others would be sent whole again.
            tail = 0
        if added > 0 and tail and tail + added <= height:
            self._insert(target, same, tail, added, width, height)
        elif added < 0 and tail and not self._stores_deleted_rows:
            self._delete(target, same, tail, -added, width)
        else:
            self._overwrite(target, same, width)

    def _insert(self, target: Sequence[str], same: int, tail: int, added: int, width: int, height: int) -> None:
        """Rows came in above the last `tail` rows: scroll, then move those down with the terminal's own insert."""
        at = len(self.painted) - tail
        if len(target) - same > height:
            # What will have left the screen after that is written before.
            self._change(target, same, at, width)
            same = at
        self._go_to(len(self.painted) - 1 + added)
        self._go_to(at)
        self._out.append(f"\x1b[{added}L" if added > 1 else "\x1b[L")
        self._column = -1
        self.painted[at:at] = [""] * added
        self._used[at:at] = [0] * added
        self._change(target, same, len(target), width)

    def _delete(self, target: Sequence[str], same: int, tail: int, gone: int, width: int) -> None:
        at = len(target) - tail
        self._change(target, same, at, width)
        self._delete_rows(at, gone)
        self._change(target, at, len(target), width)

    def _delete_rows(self, at: int, count: int) -> None:
        """Also what is at the end is deleted, not erased: tmux takes an erased screen for history worth keeping."""
        self._go_to(at)
        self._out.append(f"\x1b[{count}M" if count > 1 else "\x1b[M")
        del self.painted[at : at + count], self._used[at : at + count]
        # Some terminals go to the first column for that, others stay.
        self._column = -1

    def _overwrite(self, target: Sequence[str], same: int, width: int) -> None:
        self._change(target, same, min(len(self.painted), len(target)), width)
        for row in target[len(self.painted) :]:
            self._append(row, width)
        if len(target) < len(self.painted) and self._stores_deleted_rows:
            for index in range(len(target), len(self.painted)):
                self._go_to(index)
                self._out.append("\r\x1b[K")
            self._column = 0
            del self.painted[len(target) :], self._used[len(target) :]
        elif len(target) < len(self.painted):
            self._delete_rows(len(target), len(self.painted) - len(target))

    def _change(self, target: Sequence[str], first: int, end: int, width: int) -> None:
        for index in range(first, end):
            if target[index] != self.painted[index]:
                self._change_row(index, target[index], width)

    def _change_row(self, index: int, new: str, width: int) -> None:
        old = self.painted[index]
        if isinstance(old, ImageRow):
            self._wipe(index, old.height, width)
        self._go_to(index)
        text = self._fitted(new, width)
        cells = measure(text)
        # A multiplexer remembers cells that were erased at a row's end, unless the whole row was.
        whole = bool(self.capabilities.multiplexer) and cells < self._used[index]
        self._out.append(rewrite(fitted(old, width), text, cursor=self._column, whole=whole))
        self.painted[index] = new
        self._used[index] = cells if whole else max(cells, self._used[index])
        self._column = _column_after(text, cells, width)
        self._draw_graphic(index)

    def _append(self, row: str, width: int) -> None:
        index = len(self.painted)
        self._go_to(index)
        text = self._fitted(row, width)
        self._out.append(("\r" if self._column else "") + pin(text))
        self.painted.append(row)
        self._used.append(measure(text))
        self._column = _column_after(text, self._used[-1], width)
        self._draw_graphic(index)

    def _draw_graphic(self, index: int) -> None:
        """The graphic that ends in this row, unless its first row is history already."""
        row = self.painted[index]
        if isinstance(row, ImageRow) and row.height <= index + 1:
            up = f"\x1b[{row.height - 1}A" if row.height > 1 else ""
            self._out.append(f"\x1b7{up}{row.sequence}\x1b8")
            self._jumped = True

    def _wipe(self, index: int, height: int, width: int) -> None:
        """Cells that showed a graphic are written over: nothing else takes its pixels away everywhere."""
        for row in range(max(0, index + 1 - height), index + 1):
            self._go_to(row)
            self._out.append("\r\x1b[K" + pin(self._fitted(self.painted[row], width)))
            self._column = -1

    def _fitted(self, row: str, width: int) -> str:
        text = fitted(row, width)
        self._may_wrap = self._may_wrap or may_overflow(text, width)
        return text

    def _go_to(self, row: int) -> None:
        distance = min(row, self._bottom) - self._row
        if distance == 1:
            self._out.append("\n")
            self._column = -1
        elif distance > 0:
            self._out.append(f"\x1b[{distance}B")
        elif distance < 0:
            self._out.append(f"\x1b[{-distance}A" if distance < -1 else "\x1b[A")
            self._jumped = True
        if row > self._bottom:
            self._out.append("\n" * (row - self._bottom))
            self._bottom = row
            self._column = -1
        self._row = row

    def _place(self, cursor: Place | None, width: int) -> None:
        """Place the cursor where the focused component has it; else hide it, at the end of what is shown."""
        row, column = cursor if cursor is not None else (max(0, len(self.painted) - 1), 0)
        row, column = min(row, max(0, len(self.painted) - 1)), min(column, width - 1)
        if self.painted:
            self._go_to(row)
        if cursor is None and self._column < 0 and self.capabilities.multiplexer:
            # Where the cursor is decides what a change of size does to its row: it must be known.
            self._out.append("\r")
            self._column = 0
        if cursor is not None and column != self._column:
            self._out.append(f"\x1b[{column + 1}G" if column else "\r")
            self._column = column
        if (cursor is not None) != self._cursor_shown:
            self._cursor_shown = cursor is not None
            self._out.append(SHOW_CURSOR if self._cursor_shown else HIDE_CURSOR)

    def _framed(self) -> str:
        """What was put together, shown by the terminal at once. What writes on in one place needs no frame for that."""
        text = "".join(self._out)
        self._out.clear()
        jumped, self._jumped = self._jumped, False
        if self._may_wrap:
            text = WRAP_OFF + text + WRAP_ON
            self._may_wrap = False
        if not text or not jumped:
            return text
        if self.capabilities.synchronized_output:
            return BEGIN_FRAME + text + END_FRAME
        return HIDE_CURSOR + text + SHOW_CURSOR if self._cursor_shown else text


def _column_after(text: str, cells: int, width: int) -> int:
    """Where the cursor is behind a row, when every terminal counts its cells alike and has a column left."""
    return cells if cells < width and not is_doubtful(text) else -1


def _common_start(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    while old[count : count + _STRIDE] == new[count : count + _STRIDE] and count < len(old):
        count += _STRIDE
    for before, after in zip(old[count : count + _STRIDE], new[count : count + _STRIDE], strict=False):
        if before != after:
            break
        count += 1
    return min(count, len(old), len(new))


def _aligned_end(old: Sequence[str], new: Sequence[str], same: int) -> int:
    """How many rows at the end stand against each other, counted up to the highest that is equal and not blank."""
    best = 0
    for count in range(1, min(len(old), len(new)) - same + 1):
        if old[-count] == new[-count] and (old[-count] or isinstance(old[-count], ImageRow)):
            best = count
    return best
