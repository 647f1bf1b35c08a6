"""The ledger of what is history: pure arithmetic over row numbers.

Rows of the whole frame are numbered from 0. Three numbers define everything:

- `committed` (C): rows before it are history. They were written once, and are never written again.
- `top` (W): the first row of the window, the part of the frame that is drawn and redrawn in place.
- the boundary (B), which the components report: rows from it on may still change and must not become history.

For every frame of length L on a screen of H rows: W = max(C, L − H) and C' = max(C, min(B, W)). The rows from C to C'
are the chunk: the only rows that enter history in that frame. W ≥ C always, so nothing that is history is shown twice.

A multiplexer that changes its size pushes rows into its history by itself, also such as may still change. They are
history like any other, but at risk: rows from `firm` to C, until B has passed them. One that does change is written
again, with all that follows it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_LOOKED_AT = 24
_SAMPLES = 8
_TOLERATED = 1

_STYLE = re.compile(r"\x1b\[[0-9;:]*m")


class FrameStep(NamedTuple):
    """What a frame does: rows `start` to `end` become history, the window begins at `top`."""

    start: int
    end: int
    top: int


class Ledger:
    """Where history ends. `step` moves it on, frame by frame."""

    def __init__(self) -> None:
        self.committed = 0
        self.firm = 0  # rows of history from here on may still change
        self.top = 0

    def step(self, length: int, boundary: int, height: int, *, frozen: bool = False) -> FrameStep:
        """Advance by one frame. While something covers the window (`frozen`) nothing becomes history."""
        if self.committed and length <= self.committed:
            return self._anchored_anew(length, boundary, height)
        start = self.committed
        self.top = max(start, length - height)
        if not frozen:
            self.committed = max(start, min(boundary, self.top))
        self._make_firm(start, boundary)
        return FrameStep(start, self.committed, self.top)

    def _make_firm(self, start: int, boundary: int) -> None:
        at_risk = self.firm < start
        self.firm = min(self.committed, max(self.firm, boundary)) if at_risk else self.committed

    def pushed(self, rows: int, boundary: int, chrome: int) -> None:
        """The first rows of the window went to history by themselves. What is never final is no history anywhere."""
        self.committed += max(0, min(rows, chrome - self.top))
        self.firm = min(self.committed, max(self.firm, boundary))

    def continue_at(self, firm: int, row: int) -> None:
        """At another width history ends before `row`, and what was firm of it before `firm`."""
        self.firm, self.committed, self.top = firm, row, row

    def _anchored_anew(self, length: int, boundary: int, height: int) -> FrameStep:
        """The frame shrank into history: the old copy stays above, the window shows the end of what is left."""
        self.top = max(0, length - height)
        self.committed = self.firm = min(boundary, self.top)
        return FrameStep(self.committed, self.committed, self.top)

    def resync(self, row: int) -> None:
        """History from `row` on no longer is what the frame has: write it again from there. Doubled, never lost."""
        self.committed = min(self.committed, row)
        self.firm = min(self.firm, row)
        self.top = max(self.top, self.committed)

    def settle(self, boundary: int, length: int) -> FrameStep:
        """The window is released (suspended, ended): all that is final becomes history where it stands."""
        start = self.committed
        self.committed = max(start, min(boundary, length))
        self._make_firm(start, boundary)
        return FrameStep(start, self.committed, self.committed)

    def restart(self) -> None:
        """History is erased and will be written from the first row."""
        self.committed = self.firm = self.top = 0


def first_moved(written: Sequence[str], now: Sequence[str]) -> int | None:
    """Where rows that are history stopped agreeing with the frame, when they moved; None when they stand.

    Looks at the last rows only: one that differs was edited in place (what history shows of it is old, and stays);
    an insertion or removal anywhere above moves all of them.
    """
    samples = 0
    different = 0
    for index in range(len(written) - 1, max(-1, len(written) - 1 - _LOOKED_AT), -1):
        old = visible(written[index])
        if not old.strip():
            continue
        samples += 1
        different += index >= len(now) or visible(now[index]) != old
        if samples == _SAMPLES:
            break
    if different <= _TOLERATED:
        return None
    for index, (old, new) in enumerate(zip(written, now, strict=False)):
        if old != new and visible(old) != visible(new):
            return index
    return min(len(written), len(now))


def first_changed(written: Sequence[str], now: Sequence[str], start: int) -> int | None:
    """The first row from `start` on that cannot be read as it was written; None when all can."""
    for index in range(start, len(written)):
        if index >= len(now) or visible(now[index]) != visible(written[index]):
            return index
    return None


def visible(row: str) -> str:
    """The row without its style: what is compared where only what can be read counts."""
    return _STYLE.sub("", row) if "\x1b[" in row else row
