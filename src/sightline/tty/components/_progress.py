"""How far something is."""

import math

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.theme._theme import PLAIN, Theme

_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL, _LEFT = "█", "░"
_SHORTEST, _LONGEST = 4, 40


class ProgressBar(CachedComponent):
    """A label, a bar and a number. Without a total: how much so far, and a bar that moves with it."""

    def __init__(self, value: float = 0, total: float | None = None, label: str = "", *, theme: Theme = PLAIN) -> None:
        self._theme = theme
        self._state: tuple[float, float | None, str] = (0, None, "")
        self.set(value, total, label)

    def set(self, value: float, total: float | None = None, label: str | None = None) -> None:
        """Where it stands now; without a label the one it had."""
        state = (_sane(value), None if total is None else _sane(total), self._state[2] if label is None else label)
        if state != self._state:
            self._state = state
            self.invalidate()

    def _draw(self, width: int) -> Rows:
        return (self._row(max(width, 1)),)

    def _row(self, width: int) -> str:
        value, total, label = self._state
        share = None if total is None else min(value / total, 1.0) if total > 0 else 1.0
        number = f"{value:g}" if share is None else f"{math.floor(share * 100):3d} %"
        label = clean_line(label)
        room = width - len(number) - 1
        if room < _SHORTEST:
            return truncate(number.strip(), width)
        if label:
            label = truncate(label, max(room - _SHORTEST - 1, 0))
            room -= measure(label) + (1 if label else 0)
        bar = self._bar(share, value, min(room, _LONGEST))
        return f"{label} {bar} {number}" if label else f"{bar} {number}"

    def _bar(self, share: float | None, value: float, cells: int) -> str:
        if share is None:
            piece = max(cells // 4, 1)
            start = int(value) % (cells - piece + 1)
            done = self._theme.style("progress_done", _FULL * piece)
            return self._left(start) + done + self._left(cells - start - piece)
        full, eighths = divmod(int(share * cells * 8), 8)
        done = _FULL * full + (_EIGHTHS[eighths] if eighths else "")
        return self._theme.style("progress_done", done) + self._left(cells - len(done))

    def _left(self, cells: int) -> str:
        return self._theme.style("progress_left", _LEFT * cells)


def _sane(number: float) -> float:
    return max(number, 0) if math.isfinite(number) else 0
