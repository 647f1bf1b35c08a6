"""A row of labels of which one is active."""

from collections.abc import Callable, Sequence

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Input, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.input._bindings import Bindings
from sightline.tty.theme._theme import PLAIN, Theme

_BEFORE, _AFTER = "‹ ", " ›"
_LONGEST_LABEL = 30


class Tabs(CachedComponent):
    """The active label stands in brackets. What does not fit is beyond the marks at either end."""

    def __init__(
        self,
        labels: Sequence[str],
        active: int = 0,
        *,
        on_change: Callable[[int], None] | None = None,
        bindings: Bindings | None = None,
        theme: Theme = PLAIN,
    ) -> None:
        self._labels = [truncate(clean_line(label), _LONGEST_LABEL) for label in labels]
        self._active = min(max(active, 0), max(len(self._labels) - 1, 0))
        self._first = 0
        self._on_change = on_change
        self._bindings = bindings or Bindings()
        self._theme = theme

    @property
    def active(self) -> int:
        return self._active

    def activate(self, index: int) -> None:
        """Go to a tab; past either end is the other."""
        if not self._labels or (index := index % len(self._labels)) == self._active:
            return
        self._active = index
        self.invalidate()
        if self._on_change is not None:
            self._on_change(index)

    def handle_input(self, event: Input) -> bool:
        if self._bindings.matches(event, "tab_next"):
            self.activate(self._active + 1)
        elif self._bindings.matches(event, "tab_previous"):
            self.activate(self._active - 1)
        else:
            return False
        return True

    def _draw(self, width: int) -> Rows:
        return (self._row(max(width, 1)),) if self._labels else ()

    def _row(self, width: int) -> str:
        cells = [measure(label) + 2 for label in self._labels]
        first, last = self._visible(cells, width)
        self._first = first
        before = _BEFORE if first > 0 else ""
        after = _AFTER if last < len(cells) else ""
        if sum(cells[first:last]) + len(before) + len(after) > width:
            return self._theme.style("tab_active", truncate(f"[{self._labels[self._active]}]", width))
        tabs = "".join(self._tab(index) for index in range(first, last))
        return self._theme.style("hint", before) + tabs + self._theme.style("hint", after)

    def _visible(self, cells: list[int], width: int) -> tuple[int, int]:
        """The first tab shown and the one behind the last; moved no further than it takes to show the active one."""
        first = min(self._first, self._active)
        while first < self._active and sum(cells[first : self._active + 1]) > width - self._marks(first, self._active):
            first += 1
        last = self._active + 1
        while last < len(cells) and sum(cells[first : last + 1]) <= width - self._marks(first, last):
            last += 1
        while first > 0 and sum(cells[first - 1 : last]) <= width - self._marks(first - 1, last - 1):
            first -= 1
        return first, last

    def _marks(self, first: int, last: int) -> int:
        """Cells of the marks when the tabs from `first` to `last` are shown."""
        return (len(_BEFORE) if first > 0 else 0) + (len(_AFTER) if last < len(self._labels) - 1 else 0)

    def _tab(self, index: int) -> str:
        if index == self._active:
            return self._theme.style("tab_active", f"[{self._labels[index]}]")
        return self._theme.style("tab", f" {self._labels[index]} ")
