"""Things that lie over the window: dialogs, menus. They are drawn into the window's rows only, never into the frame."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from sightline.tty._component import Component
from sightline.tty.cells._width import pad, slice_columns, truncate

Anchor = Literal[
    "center", "top-left", "top-center", "top-right", "left", "right", "bottom-left", "bottom-center", "bottom-right"
]
Extent = int | str  # cells, or a share of the screen: `"50%"`


class Overlay(msgspec.Struct, frozen=True):
    """Where an overlay lies and how large it may be."""

    anchor: Anchor = "bottom-center"
    width: Extent | None = None
    max_height: Extent | None = None
    margin: int = 0
    whole: bool = False  # it has as many rows as the screen: nothing below it is seen
    visible: Callable[[int, int], bool] | None = None


class OverlayHandle:
    """One overlay that is shown. `hide` takes it away for good, `set_hidden` for a while."""

    def __init__(
        self, component: Component, options: Overlay, focus_before: Component | None, changed: Callable[[], None]
    ) -> None:
        self.component = component
        self.options = options
        self.focus_before = focus_before
        self.hidden = False
        self.gone = False
        self._changed = changed

    def hide(self) -> None:
        self.gone = True
        self._changed()

    def set_hidden(self, hidden: bool) -> None:
        self.hidden = hidden
        self._changed()

    def has_focus(self, component: Component | None) -> bool:
        return component is not None and self.component.contains(component)

    def is_visible(self, columns: int, rows: int) -> bool:
        visible = self.options.visible
        return not self.hidden and not self.gone and (visible is None or visible(columns, rows))

    def rows(self, columns: int, height: int) -> tuple[int, Sequence[str]]:
        room = max(1, columns - 2 * self.options.margin)
        width = min(room, _extent(self.options.width, columns) if self.options.width is not None else room)
        most = max(1, height - 2 * self.options.margin)
        if self.options.max_height is not None:
            most = min(most, _extent(self.options.max_height, height))
        return width, self.component.render(width)[:most]


def composite(window: list[str], overlays: Sequence[OverlayHandle], columns: int, height: int) -> list[str]:
    """The window with the overlays over it, the last on top. Grows to the height an overlay needs, never beyond."""
    for overlay in overlays:
        width, rows = overlay.rows(columns, height)
        left, top = _corner(overlay.options, width, len(rows), columns, height)
        if top + len(rows) > len(window):
            window = window + [""] * (top + len(rows) - len(window))
        for index, row in enumerate(rows):
            window[top + index] = _over(window[top + index], row, left, width, columns)
    return window


def _over(below: str, row: str, left: int, width: int, columns: int) -> str:
    before = pad(slice_columns(below, 0, left), left) if left else ""
    after = slice_columns(below, left + width, columns) if left + width < columns else ""
    row = truncate(row, width, "")
    return before + (pad(row, width) if after else row) + after


def _corner(options: Overlay, width: int, rows: int, columns: int, height: int) -> tuple[int, int]:
    anchor, margin = options.anchor, options.margin
    left = margin if "left" in anchor else columns - width - margin if "right" in anchor else (columns - width) // 2
    top = margin if "top" in anchor else height - rows - margin if "bottom" in anchor else (height - rows) // 2
    return max(0, left), max(0, top)


def _extent(extent: Extent, whole: int) -> int:
    if isinstance(extent, str):
        return max(1, whole * int(extent.rstrip("%")) // 100)
    return max(1, extent)
