"""What extensions keep on the screen: lines above and below the editor, words in the status line, a title."""

from collections.abc import Mapping
from typing import Any, Literal

from sightline.text import clean_line
from sightline.tty import Component, Rows, truncate
from sightline.views.console._drawing import Drawing

_LINES_SHOWN = 10  # of one widget


class Widgets(Component):
    """Those of one place, in the order they were first shown."""

    def __init__(self, drawing: Drawing, placement: Literal["above", "below"]) -> None:
        self._drawing = drawing
        self._placement = placement
        self._value: object = None
        self._lines: list[str] = []
        self._made_for: int | None = None
        self._rows: Rows = ()

    def update(self, state: Mapping[str, Any]) -> bool:
        """Take what the session's state says. Whether that changed anything."""
        value = state.get("ui.widgets")
        if value is self._value:
            return False
        self._value = value
        lines = [line for widget in _values(value) if self._is_here(widget) for line in _lines(widget)]
        if lines == self._lines:
            return False
        self._lines, self._made_for = lines, None
        return True

    def render(self, width: int) -> Rows:
        if self._made_for != width:
            self._made_for = width
            self._rows = tuple(truncate(line, width) for line in self._lines)
        return self._rows

    def invalidate(self) -> None:
        self._made_for = None

    def _is_here(self, widget: Any) -> bool:
        return isinstance(widget, dict) and (widget.get("placement") or "above") == self._placement


def status_texts(state: Mapping[str, Any]) -> list[str]:
    """What extensions say in the status line."""
    texts = [clean_line(str(text)) for text in _values(state.get("ui.status")) if isinstance(text, str)]
    return [text for text in texts if text]


def title(state: Mapping[str, Any]) -> str:
    """The window's title, if an extension has one."""
    return clean_line(str(state.get("ui.title") or ""))


def editor_text(state: Mapping[str, Any]) -> tuple[int, str]:
    """The last text an extension put into the editor, and its number: one that was not seen before is an order, one
    that was there when the console came is not."""
    value = state.get("ui.editor_text")
    value = value if isinstance(value, dict) else {}
    number = value.get("number")
    return number if isinstance(number, int) else 0, str(value.get("text") or "")


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []


def _lines(widget: dict[str, Any]) -> list[str]:
    lines = widget.get("lines")
    lines = [clean_line(str(line)) for line in lines] if isinstance(lines, list) else []
    more = len(lines) - _LINES_SHOWN
    return lines if more <= 0 else [*lines[: _LINES_SHOWN - 1], f"… {more + 1} more lines"]
