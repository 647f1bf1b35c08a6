"""Which rows of a block that still changes will not change any more, judged by watching it.

Two signs, each enough:

- *It only grows.* A block seen growing without rewriting a row above its last one is taken for append-only: all its
  rows but the last are safe. A rewrite suspends that until the block has been seen clean for some frames.
- *Its head stands still.* Rows that were the same for a whole run of frames are safe although rows below them still
  change. When one of them changes after all, what follows it is safe no longer, and never again: a row that ticks every
  few seconds would otherwise be promoted in each quiet stretch and doubled at each tick.
"""

from collections import deque
from collections.abc import Sequence

from sightline.tty.frame._ledger import visible

REARM_FRAMES = 12
STABLE_FRAMES = 24
_STRIDE = 256


class Settling:
    """Watches the rows of one block, frame by frame."""

    def __init__(self) -> None:
        self._rows: Sequence[str] = ()
        self._seen = False
        self._grew = False
        self._clean = REARM_FRAMES
        self._stable: deque[int] = deque(maxlen=STABLE_FRAMES)
        self._promoted = 0
        self._floor: int | None = None

    @property
    def safe(self) -> int:
        """How many rows from the top will not change."""
        if self._grew and self._clean >= REARM_FRAMES:
            return max(self._promoted, len(self._rows) - 1)
        return self._promoted

    def observe(self, rows: Sequence[str]) -> None:
        """One more frame in which the block looks like this."""
        old, self._rows = self._rows, rows
        if not self._seen:
            self._seen = True
            return
        common = len(old) if rows is old else _common(old, rows)
        inserted = self._inserted(old, rows, common)
        if self._floor is not None and common <= self._floor:
            self._floor += inserted
        if common >= len(old) - 1:
            self._grew = self._grew or len(rows) > len(old)
            self._clean += 1
        else:
            self._clean = 0
        self._watch_head(common, inserted)

    def _watch_head(self, common: int, inserted: int) -> None:
        if common < self._promoted:
            self._promoted = common
            if not inserted:
                self._floor = common if self._floor is None else min(self._floor, common)
        self._stable.append(common)
        if len(self._stable) == STABLE_FRAMES:
            stood = min(self._stable)
            self._promoted = max(self._promoted, stood if self._floor is None else min(stood, self._floor))

    def _inserted(self, old: Sequence[str], rows: Sequence[str], common: int) -> int:
        """How many rows came in at `common`, when that is all that happened."""
        added = len(rows) - len(old)
        if added <= 0 or self._floor is None or common >= len(old):
            return 0
        return added if _common(old[common:], rows[common + added :]) == len(old) - common else 0


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many rows from the top read the same. Of a long block nearly all are, which is seen many at a time."""
    end = min(len(old), len(new))
    for start in range(0, end, _STRIDE):
        if old[start : start + _STRIDE] == new[start : start + _STRIDE]:
            continue
        for index in range(start, min(start + _STRIDE, end)):
            before, after = old[index], new[index]
            if before is not after and before != after and visible(before) != visible(after):
                return index
    return end
