"""The window as it must be seen: its rows with what lies over them, and the cursor."""

from collections.abc import Sequence

import msgspec

from sightline.testing.emulators._types import Cell
from sightline.testing.fidelity._grid import BLANK, cells, laid_over, shown_text, take_cursor, text_of

Size = tuple[int, int]


class Covering(msgspec.Struct):
    """An overlay: where it lies, how large it may be, and what it gave when it was asked for its rows."""

    anchor: str
    width: int | str | None
    max_height: int | str | None
    margin: int
    rows: Sequence[str]
    asked: int
    """The width it was asked for."""

    def expected_width(self, size: Size) -> int:
        room = max(1, size[0] - 2 * self.margin)
        return room if self.width is None else min(room, _extent(self.width, size[0]))

    def shown(self, size: Size) -> list[str]:
        most = max(1, size[1] - 2 * self.margin)
        if self.max_height is not None:
            most = min(most, _extent(self.max_height, size[1]))
        return list(self.rows[:most])

    def corner(self, size: Size, width: int, rows: int) -> tuple[int, int]:
        return (
            _along(self.anchor, "left", "right", self.margin, size[0] - width),
            _along(self.anchor, "top", "bottom", self.margin, size[1] - rows),
        )


def _along(anchor: str, low: str, high: str, margin: int, free: int) -> int:
    if low in anchor:
        return max(0, margin)
    return max(0, free - margin if high in anchor else free // 2)


def _extent(extent: int | str, whole: int) -> int:
    return max(1, extent if isinstance(extent, int) else whole * int(extent[:-1]) // 100)


class Window:
    """Rows of the frame, covered by overlays, on a screen."""

    def __init__(
        self, rows: list[str], cursor: tuple[int, int] | None, overlays: Sequence[Covering], size: Size
    ) -> None:
        self.columns = size[0]
        self.cursor = cursor
        self._rows: list[str | list[Cell]] = list(rows)
        for overlay in overlays:
            self._cover(overlay, size)
        if self.cursor is not None:
            self.cursor = self.cursor[0], min(self.cursor[1], size[0] - 1)

    def _cover(self, overlay: Covering, size: Size) -> None:
        width = overlay.expected_width(size)
        rows, cursor = take_cursor(overlay.shown(size))
        left, top = overlay.corner(size, width, len(rows))
        self._rows += [""] * (top + len(rows) - len(self._rows))
        for index, row in enumerate(rows):
            self._rows[top + index] = laid_over(self.cells(top + index), cells(row, width), left)
        if cursor is not None:
            self.cursor = top + cursor[0], left + cursor[1]
        elif self._covered(left, top, width, len(rows)):
            self.cursor = None

    def _covered(self, left: int, top: int, width: int, rows: int) -> bool:
        if self.cursor is None:
            return False
        row, column = self.cursor
        return top <= row < top + rows and left <= column < left + width

    def __len__(self) -> int:
        return len(self._rows)

    def cells(self, index: int) -> list[Cell]:
        row = self._rows[index]
        return cells(row, self.columns) if isinstance(row, str) else row

    def texts(self) -> list[str]:
        return [shown_text(row, self.columns) if isinstance(row, str) else text_of(row) for row in self._rows]

    @property
    def parking(self) -> int:
        """The row on which a cursor nobody asked for is put."""
        return max(0, len(self._rows) - 1)


__all__ = ["BLANK", "Covering", "Size", "Window"]
