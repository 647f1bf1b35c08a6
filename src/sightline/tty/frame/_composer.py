"""From components to one frame: rows, and the boundary before which they are final.

Rows that became history leave the composition for good: a child that is history whole is only counted, one that is
partly so releases them (`Scrollback.release`) and renders less. A frame therefore has `start` rows that are not there
any more, and the rows from there on. `restore` brings everything back, for when history is written anew.
"""

from collections.abc import Collection

import msgspec

from sightline.tty._component import Component, Rows, Scrollback


class Frame(msgspec.Struct, gc=False):
    """`rows` are the rows from `start` on; those from `boundary` on may still change, those from `chrome` on always."""

    start: int
    rows: list[str]
    boundary: int
    chrome: int

    @property
    def length(self) -> int:
        return self.start + len(self.rows)

    def between(self, first: int, end: int) -> list[str]:
        """Rows by their numbers in the whole frame."""
        return self.rows[max(0, first - self.start) : max(0, end - self.start)]


class _Part(msgspec.Struct, gc=False):
    """A child as it was rendered last."""

    component: Component
    rows: Rows
    live_from: int | None
    safe_to: int | None


class Composer:
    """The children, and what each of them rendered last."""

    def __init__(self) -> None:
        self.children: list[Component] = []
        self._past: list[tuple[Component, int]] = []
        self._released = 0
        self._parts: list[_Part] = []
        self._width = -1
        self.frame = Frame(0, [], 0, 0)  # as it was composed last, without what has left since
        self.moved_at: int | None = None  # the first row that changed among those that were history whole

    def compose(self, width: int, only: Collection[Component] | None = None) -> Frame:
        """The frame at this width. With `only`, children with none of those components are not rendered again."""
        changed = self._changed_past()
        if width != self._width:
            only = None
        parts = self._render(width, only)
        if changed is not None:
            self.moved_at = sum(len(part.rows) for part in parts[:changed])
        if width == self._width and _same(parts, self._parts):
            return self.frame
        self._width = width
        self._parts = parts
        self.frame = self._joined()
        return self.frame

    def _changed_past(self) -> int | None:
        """A child that was history whole is gone, or has another before it: what follows it has to be written again."""
        for index, (child, _) in enumerate(self._past):
            if index >= len(self.children) or self.children[index] is not child:
                self.restore()
                return index
        return None

    def patch(self, only: Collection[Component]) -> list[tuple[int, str]] | None:
        """The rows these components changed since the last frame, by number, when that is all there is to it.

        None when something moved, or may become history: then the frame must be composed.
        """
        if self._width < 0 or len(self._parts) != len(self.children) - len(self._past):
            return None
        changed: list[tuple[int, str]] = []
        at = 0
        for part, child in zip(self._parts, self.children[len(self._past) :], strict=True):
            if part.component is not child:
                return None
            if any(child.contains(component) for component in only):
                if isinstance(child, Scrollback):
                    return None
                rows = child.render(self._width)
                if len(rows) != len(part.rows):
                    return None
                if rows is not part.rows:
                    changed += [(at + index, row) for index, row in enumerate(rows) if row != part.rows[index]]
                    part.rows = rows
            at += len(part.rows)
        for index, row in changed:
            self.frame.rows[index] = row
        return [(self.frame.start + index, row) for index, row in changed]

    def _render(self, width: int, only: Collection[Component] | None) -> list[_Part]:
        known = {id(part.component): part for part in self._parts}
        parts = []
        for child in self.children[len(self._past) :]:
            part = known.get(id(child))
            if part is None or only is None or any(child.contains(component) for component in only):
                part = self._rendered(child, width)
            parts.append(part)
        return parts

    def _rendered(self, child: Component, width: int) -> _Part:
        if not isinstance(child, Scrollback):
            return _Part(child, child.render(width), None, None)
        self._released -= child.reclaimed()
        rows = child.render(width)
        return _Part(child, rows, child.live_from(), child.safe_to())

    def _joined(self) -> Frame:
        start = self._released + sum(count for _, count in self._past)
        rows: list[str] = []
        boundary: int | None = None
        chrome = 0
        for part in self._parts:
            if boundary is None and part.live_from is not None:
                safe = part.safe_to if part.safe_to is not None else part.live_from
                boundary = start + len(rows) + safe
                chrome = start + len(rows) + len(part.rows)
            rows.extend(part.rows)
        end = start + len(rows)
        return Frame(start, rows, end, end) if boundary is None else Frame(start, rows, boundary, chrome)

    def release(self, committed: int) -> None:
        """Rows before `committed` are history: what is history whole is not composed again."""
        before = self.frame.start
        while self._parts:
            part = self._parts[0]
            rows = committed - self.frame.start
            if rows <= 0:
                break
            if isinstance(part.component, Scrollback):
                self._release_from(part.component, min(rows, len(part.rows)))
                break
            if rows < len(part.rows) or not part.rows:
                break
            self._past.append((part.component, len(part.rows)))
            self._drop(len(part.rows))
            del self._parts[0]
            part.component.invalidate()
        if self.frame.start != before:
            self._width = -1

    def _release_from(self, child: Scrollback, rows: int) -> None:
        gone = child.release(rows)
        if gone:
            self._released += gone
            self._drop(gone)
            self._parts = []

    def _drop(self, count: int) -> None:
        frame = self.frame
        self.frame = Frame(frame.start + count, frame.rows[count:], frame.boundary, frame.chrome)

    @property
    def start(self) -> int:
        """How many rows have left the composition."""
        return self.frame.start

    def restore(self) -> None:
        """Everything is composed again, from the first row."""
        for child in self.children:
            if isinstance(child, Scrollback):
                child.restore()
                child.reclaimed()
        self._past = []
        self._released = 0
        self._parts = []
        self._width = -1
        self.moved_at = None


def _same(parts: list[_Part], before: list[_Part]) -> bool:
    return len(parts) == len(before) and all(
        new is old
        or (
            new.rows is old.rows
            and new.component is old.component
            and new.live_from == old.live_from
            and new.safe_to == old.safe_to
        )
        for new, old in zip(parts, before, strict=True)
    )
