"""What is put on the display: blocks of text that wrap, chrome with a cursor, and wrappers that watch them."""

import textwrap
from collections.abc import Sequence

from wcwidth import width as cells_of

from sightline.testing.fidelity._shadow import Child
from sightline.tty._component import CURSOR, Component, Rows, Scrollback


class Block(Component):
    """Lines of text, wrapped at the width; raw ones are given as they are, whatever is in them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self._drawn: tuple[int, list[str], list[str]] | None = None

    def render(self, width: int) -> Rows:
        if self._drawn is None or self._drawn[0] != width or self._drawn[1] != self.lines:
            self._drawn = width, list(self.lines), [row for line in self.lines for row in _rows_of(line, width)]
        return self._drawn[2]


RAW = "\0raw:"
"""Begins a line that is not wrapped."""


def _rows_of(line: str, width: int) -> list[str]:
    if line.startswith(RAW):
        return [line.removeprefix(RAW)]
    style, _, text = line.rpartition("\0")
    rows = textwrap.wrap(text, max(1, width)) if text.isascii() else _wrapped(text, width)
    if "4" in style.split(";")[0][:1]:  # a background reaches to the edge
        rows = [row + " " * (width - cells_of(row)) for row in rows]
    return [f"\x1b[{style}m{row}\x1b[0m" if style else row for row in rows] or [""]


def _wrapped(text: str, width: int) -> list[str]:
    rows, row = [], ""
    for word in text.split(" "):
        joined = f"{row} {word}" if row else word
        if cells_of(joined) > width and row:
            rows.append(row)
            row = word
        else:
            row = joined
    return [*rows, row]


class Chrome(Component):
    """What stands below the transcript: a status that ticks, and an editor with the cursor."""

    def __init__(self) -> None:
        self.tick = 0
        self.widgets = 0
        self.text = ["type here"]
        self.cursor = (0, 0)
        self._drawn: tuple[object, list[str]] | None = None

    def render(self, width: int) -> Rows:
        key = (width, self.tick, self.widgets, tuple(self.text), self.cursor, self.focused)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, [row[: width + len(CURSOR)] for row in self._rows(width)]
        return self._drawn[1]

    def _rows(self, width: int) -> list[str]:
        rows = [f"\x1b[2mworking {'|/-'[self.tick % 3]} {self.tick}\x1b[0m" if width > 16 else f"w{self.tick}"]
        rows += [f"widget {index}" for index in range(self.widgets)]
        rows += ["─" * width]
        for index, text in enumerate(self.text):
            text = f"> {text}"[: width - 1]
            if self.focused and index == min(self.cursor[0], len(self.text) - 1):
                column = min(2 + self.cursor[1], len(text))
                text = text[:column] + CURSOR + text[column:]
            rows.append(text)
        return rows


class Popup(Component):
    """Rows that lie over others."""

    def __init__(self, rows: int, label: str) -> None:
        self.count = rows
        self.label = label
        self.asked = 0
        self.given: list[str] = []

    def render(self, width: int) -> Rows:
        self.asked = width
        rows = [f"\x1b[7m{f'{self.label} {index}'[:width]:{width}}\x1b[0m" for index in range(self.count)]
        if self.focused and rows:
            rows[-1] = f"{self.label[: width - 1]}{CURSOR}"
        self.given = rows
        return rows


class Seam(Scrollback):
    """A root with a seam of its own making: whoever drives it says which rows are final. It never lets go of any."""

    def __init__(self) -> None:
        self.blocks: list[Component] = []
        self.final = 0
        """Blocks that will not change."""
        self.safe = 0
        """Rows of the first block that may change, which will not."""
        self._rows: list[str] = []
        self._ends: list[int] = []

    def render(self, width: int) -> Rows:
        rows: list[str] = []
        self._ends = [0]
        for block in self.blocks:
            rows += block.render(width)
            self._ends.append(len(rows))
        if rows != self._rows:
            self._rows = rows
        return self._rows

    def live_from(self) -> int:
        return self._ends[min(self.final, len(self.blocks))]

    def safe_to(self) -> int | None:
        if not self.safe or self.final >= len(self.blocks):
            return None
        return min(self._ends[self.final] + self.safe, self._ends[self.final + 1])

    def contains(self, component: Component) -> bool:
        return component is self or component in self.blocks


class Watched(Component):
    """A root component without a seam, watched."""

    def __init__(self, inner: Component, child: Child) -> None:
        self.inner = inner
        self.child = child

    def render(self, width: int) -> Rows:
        rows = self.inner.render(width)
        self.child.rendered(rows, None)
        return rows

    def contains(self, component: Component) -> bool:
        return component is self or self.inner.contains(component)

    def refresh(self, component: Component) -> None:
        self.inner.refresh(component)

    def invalidate(self) -> None:
        self.inner.invalidate()
        self.child.retired = True


class WatchedSeam(Scrollback):
    """A root component with a seam, watched."""

    def __init__(self, inner: Scrollback, child: Child) -> None:
        self.inner = inner
        self.child = child

    def render(self, width: int) -> Rows:
        rows = self.inner.render(width)
        safe = self.inner.safe_to()
        self.child.rendered(rows, self.inner.live_from() if safe is None else safe)
        return rows

    def live_from(self) -> int | None:
        return self.inner.live_from()

    def safe_to(self) -> int | None:
        return self.inner.safe_to()

    def contains(self, component: Component) -> bool:
        return component is self or self.inner.contains(component)

    def refresh(self, component: Component) -> None:
        self.inner.refresh(component)

    def invalidate(self) -> None:
        self.inner.invalidate()

    def release(self, rows: int) -> int:
        gone = self.inner.release(rows)
        self.child.released += gone
        return gone

    def reclaimed(self) -> int:
        back = self.inner.reclaimed()
        if back:
            self.child.reclaimed(back)
        return back

    def restore(self) -> None:
        self.inner.restore()
        self.child.restored()


def watched(inner: Component, child: Child) -> Component:
    return WatchedSeam(inner, child) if isinstance(inner, Scrollback) else Watched(inner, child)
