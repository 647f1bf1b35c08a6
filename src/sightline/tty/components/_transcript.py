"""A list of blocks that become history: the component that decides which rows are final.

- A block that is finished is frozen: it is drawn as it was when it finished, whatever becomes of it later. Rows of it
  may be history already, and history does not change.
- The first block that is still live is the boundary. It may report itself which of its rows are final (`Scrollback`);
  else that is found by watching it (`_settling`).
- Blocks that are history are released: of each only its number of rows is stored, and it is rendered again only when
  history is written anew.
- A long past can be shown from its end: `hold`, append the last blocks, and they are on the screen but not history;
  `fill` in what was before them, from the oldest on, and it becomes history above; `release_hold` when nothing is left.
"""

from array import array
from collections.abc import Callable, Iterable

from sightline.tty._component import Component, Rows, Scrollback
from sightline.tty.components._settling import Settling
from sightline.tty.frame._continuation import HistoryMark, rest_after

MOST_REPLAYED = 100_000  # rows at most when history is written anew, in whole blocks; a row counts what is left out
_WORTH_DROPPING = 256
_LEFT_OUT = "… {:,} earlier rows are not shown again"


class _Entry:
    """A block in the composition."""

    __slots__ = ("block", "dropped", "gap", "live", "mark", "released", "rows", "settling", "shown", "stale", "width")

    def __init__(self, block: Component, *, live: bool) -> None:
        self.block = block
        self.live = live
        self.gap = 0
        self.released = 0  # first rows that are history and no longer composed, with the blank one before it
        self.width = -1
        self.stale = False  # it looks different although its width is the same
        self.rows: Rows = ()  # as the block rendered them last
        self.shown: Rows = ()  # composed: a blank row before it, and its rows without those that were dropped
        self.dropped = 0  # how many of them those are, where the block itself does not know
        self.mark = HistoryMark()
        self.settling: Settling | None = None


class BlockColumn(Scrollback):
    """Blocks below each other with a blank row between them."""

    def __init__(self, *, gap: int = 1) -> None:
        self._gap = gap
        self._blocks: list[Component] = []
        self._live: set[int] = set()
        self._counts = array("I")  # rows of each block that was released
        self._entries: list[_Entry] = []
        self._rows: list[str] = []
        self._boundary = 0
        self._live_from = 0
        self._width = -1
        self._changed = True
        self._reclaimed = 0
        self._history = 0  # rows at the top of the composition that are history already
        self._left_out = 0  # blocks at the beginning that were left out when history was written anew
        self._head: list[str] = []  # the row that reports them
        self.held: int | None = None  # blocks before those that are held back from history; None when none is
        self._unwanted: set[int] = set()  # blocks that were removed before they were filled in

    def __len__(self) -> int:
        return len(self._blocks)

    def append(self, block: Component, *, live: bool = False) -> None:
        """Add a block at the end. A live one may change until `finish`."""
        self.insert(len(self._blocks), block, live=live)

    def insert(self, index: int, block: Component, *, live: bool = False) -> None:
        """Add a block before the one at `index`. Blocks after it that are history are written again, after it."""
        index = max(0, min(index, len(self._blocks)))
        if self.held is not None and index < self.held:
            self.held += 1
        if index < self._left_out:
            self._left_out += 1
            self._counts.insert(index, 0)
            self._blocks.insert(index, block)
            return
        self._take_back(index)
        self._blocks.insert(index, block)
        self._entries.insert(index - len(self._counts), _Entry(block, live=live))
        if live:
            self._live.add(id(block))
        self._changed = True

    def remove(self, block: Component) -> None:
        """Take a block out, or leave out one that is still to be filled in. What of it is history stays there."""
        self._live.discard(id(block))
        index = next((index for index, known in enumerate(self._blocks) if known is block), None)
        if index is None:
            self._unwanted.add(id(block))
            return
        if self.held is not None and index < self.held:
            self.held -= 1
        if index < self._left_out:
            self._left_out -= 1
            del self._counts[index], self._blocks[index]
            return
        if index < len(self._counts):
            self._take_back(index)
        del self._blocks[index]
        del self._entries[index - len(self._counts)]
        self._changed = True

    def finish(self, block: Component) -> None:
        """The block will not change any more."""
        self._live.discard(id(block))
        for entry in self._entries:
            if entry.block is block and entry.live:
                entry.live, entry.stale = False, True
        self._changed = True

    def clear(self) -> None:
        """Begin anew, with nothing."""
        self._blocks.clear()
        self._live.clear()
        self._unwanted.clear()
        self.held = None
        self.restore()

    def hold(self) -> None:
        """Blocks that are appended from now on do not become history before `release_hold`."""
        self.held = len(self._blocks)
        self._changed = True

    def fill(self, blocks: Iterable[Component], *, is_live: Callable[[Component], bool] = lambda block: False) -> None:
        """Add blocks before those that are held, and after all that were filled in before."""
        if self.held is None:
            raise ValueError("nothing is held: call hold() before fill()")
        for block in blocks:
            if id(block) in self._unwanted:
                self._unwanted.discard(id(block))
                continue
            self.insert(self.held, block, live=is_live(block))
            self.held += 1

    def release_hold(self) -> None:
        """Nothing is missing any more: what was held becomes history like any other."""
        self._unwanted.clear()
        self.held = None
        self._changed = True

    def _take_back(self, index: int) -> None:
        """Compose blocks from `index` on again, whole, also one of which a part was released."""
        gone = len(self._counts)
        if index <= gone and self._entries and self._entries[0].released:
            entry = self._entries[0]
            self._reclaimed += entry.released
            self._entries[0] = _restored(entry.block, live=entry.live)
        if index < gone:
            self._reclaimed += sum(self._counts[index:])
            self._entries[:0] = [_restored(block, live=False) for block in self._blocks[index:gone]]
            del self._counts[index:]

    def render(self, width: int) -> Rows:
        changed = self._changed or width != self._width
        self._width = width
        self._changed = False
        for index, entry in enumerate(self._entries):
            if self._draw(entry, width, first=index == 0 and not self._counts):
                changed = True
        if changed:
            self._rows = [*self._head, *(row for entry in self._entries for row in entry.shown)]
        self._find_boundary()
        return self._rows

    def _draw(self, entry: _Entry, width: int, *, first: bool) -> bool:
        """Ask a live block for its rows, a frozen one only at another width. Whether it looks different now."""
        rows, changed = entry.rows, entry.width != width or entry.stale
        if entry.live or changed:
            rows = entry.block.render(width)
            if entry.live and not isinstance(entry.block, Scrollback):
                entry.settling = entry.settling or Settling()
                entry.settling.observe(rows)
        gap = 0 if first or entry.released or not rows or entry.block.joins_previous else self._gap
        if rows is entry.rows and not changed and gap == entry.gap:
            return False
        entry.width, entry.stale, entry.rows, entry.gap = width, False, rows, gap
        entry.shown = _shown(entry)
        return True

    def _find_boundary(self) -> None:
        row = len(self._head)
        held = None if self.held is None else self.held - len(self._counts)
        for index, entry in enumerate(self._entries):
            if index == held:
                break
            if entry.live:
                self._live_from = row
                self._boundary = row + self._safe_rows(entry)
                return
            row += len(entry.shown)
        self._live_from = self._boundary = row

    def _safe_rows(self, entry: _Entry) -> int:
        block = entry.block
        if isinstance(block, Scrollback):
            safe = block.safe_to()
            safe = block.live_from() if safe is None else safe
            safe = safe or 0
        else:
            safe = entry.settling.safe if entry.settling is not None else 0
        return min(len(entry.shown), safe + entry.gap) if safe > 0 else 0

    def live_from(self) -> int:
        return self._live_from

    def safe_to(self) -> int:
        return self._boundary

    def contains(self, component: Component) -> bool:
        return component is self or any(entry.block.contains(component) for entry in self._entries)

    def refresh(self, component: Component) -> None:
        for entry in self._entries:
            if entry.block.contains(component):
                entry.stale = True

    def refresh_rest(self) -> None:
        """Blocks look different although they were done: render those again of which nothing is history yet."""
        row = len(self._head)
        for entry in self._entries:
            if row >= self._history and not entry.released:
                entry.block.invalidate()
                entry.stale = True
            row += len(entry.shown)

    def invalidate(self) -> None:
        for entry in self._entries:
            entry.block.invalidate()
            entry.stale = True
        self._changed = True

    def release(self, rows: int) -> int:
        released = min(rows, len(self._head))
        self._head = self._head[released:]
        while self._entries and not self._head:
            entry = self._entries[0]
            count = len(entry.shown)
            if entry.live or count > rows - released or (count == 0 and entry.width < 0):
                break
            if len(self._counts) == self.held:
                break
            self._counts.append(count + entry.released)
            entry.block.invalidate()
            del self._entries[0]
            released += count
        if released < rows and self._entries:
            released += self._release_part(self._entries[0], rows - released)
        self._history = rows - released
        if released:
            self._rows = self._rows[released:]
            self._live_from -= released
            self._boundary -= released
        return released

    def _release_part(self, entry: _Entry, rows: int) -> int:
        """Release the head of a block: what a live one can do without, or much of a long frozen one."""
        body = rows - entry.gap
        if entry.live:
            gone = entry.block.release(body) if isinstance(entry.block, Scrollback) and body > 0 else 0
            entry.stale = entry.stale or bool(gone)
        else:
            gone = body if body >= _WORTH_DROPPING else 0
            entry.dropped += gone
            entry.mark.add(entry.shown[entry.gap : entry.gap + gone])
        if not gone:
            return 0
        gone += entry.gap
        entry.shown = entry.shown[gone:]
        entry.released += gone
        entry.gap = 0
        self._changed = True
        return gone

    def reclaimed(self) -> int:
        count, self._reclaimed = self._reclaimed, 0
        return count

    def restore(self) -> None:
        self._left_out = self._too_old()
        self._counts = self._counts[: self._left_out]
        self._head = [_LEFT_OUT.format(sum(self._counts))] if self._left_out else []
        blocks = self._blocks[self._left_out :]
        self._entries = [_restored(block, live=id(block) in self._live) for block in blocks]
        self._reclaimed = 0
        self._changed = True

    def _too_old(self) -> int:
        """How many blocks at the beginning are left out, so that writing history anew stays bounded."""
        rows = 0
        for index in range(len(self._counts) - 1, -1, -1):
            rows += self._counts[index]
            if rows > MOST_REPLAYED:
                return index + 1
        return 0


def _restored(block: Component, *, live: bool) -> _Entry:
    if isinstance(block, Scrollback):
        block.restore()
    return _Entry(block, live=live)


def _shown(entry: _Entry) -> Rows:
    rows = entry.rows
    if entry.dropped:
        entry.dropped, rest = rest_after(rows, entry.mark)
        return rows[entry.dropped :] if rest is None else [rest, *rows[entry.dropped + 1 :]]
    return [*[""] * entry.gap, *rows] if entry.gap else rows
