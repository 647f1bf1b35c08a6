"""Extensions on one console: they are loaded, what they show is kept up to date, and what they ask is mounted."""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from sightline.events import EditorTextState, ExtensionWidget, StatusTextsState, TitleState, WidgetsState
from sightline.text import clean_line
from sightline.tty import Component, Rows, truncate
from sightline.views.console._drawing import DrawingOptions

if TYPE_CHECKING:
    from sightline.tty import Overlay
    from sightline.views.console._desk import Answerable, Desk
    from sightline.views.console._screen import ConsoleScreen
    from sightline.views.console._state import ConsoleState
    from sightline.views.console.extensions._extensions import ConsoleExtensions

_LINES_SHOWN = 10  # of one widget


class Widgets(Component):
    """Those of one place, in the order they were first shown."""

    def __init__(self, drawing: DrawingOptions, placement: Literal["above", "below"]) -> None:
        self._drawing = drawing
        self._placement = placement
        self._value: object = None
        self._lines: list[str] = []
        self._made_for: int | None = None
        self._rows: Rows = ()

    def update(self, state: Mapping[str, Any]) -> bool:
        """Take what the session's state says. Whether that changed anything."""
        value = state.get(WidgetsState.KEY)
        if value is self._value:
            return False
        self._value = value
        fact = WidgetsState.of(value)
        shown = [widget for widget in fact.widgets.values() if widget.placement == self._placement] if fact else []
        lines = [line for widget in shown for line in _lines(widget)]
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


def status_texts(state: Mapping[str, Any]) -> list[str]:
    """What extensions say in the status line."""
    fact = StatusTextsState.among(state)
    return [text for text in map(clean_line, fact.texts.values()) if text] if fact else []


def title(state: Mapping[str, Any]) -> str:
    """The window's title, if an extension has one."""
    fact = TitleState.among(state)
    return clean_line(fact.title) if fact else ""


def editor_text(state: Mapping[str, Any]) -> tuple[int, str]:
    """The last text an extension put into the editor, and its number: one that was not seen before is an order, one
    that was there when the console came is not."""
    fact = EditorTextState.among(state)
    return (fact.number, fact.text) if fact else (0, "")


def _lines(widget: ExtensionWidget) -> list[str]:
    lines = [clean_line(line) for line in widget.lines]
    more = len(lines) - _LINES_SHOWN
    return lines if more <= 0 else [*lines[: _LINES_SHOWN - 1], f"… {more + 1:,} more lines"]


class ExtensionScreen:
    """`load` once there is a session, `heard` after each of its events, `dialog_for` for what it asks."""

    def __init__(self, desk: "Desk", current: "ConsoleState", screen: "ConsoleScreen") -> None:
        self._desk = desk
        self._room = screen.room
        self._current = current
        self._above = Widgets(desk.drawing, "above")
        self._below = Widgets(desk.drawing, "below")
        screen.widgets_above.children.append(self._above)
        screen.widgets_below.children.append(self._below)
        self._loaded: asyncio.Future[ConsoleExtensions] | None = None
        self._loaded_for = ""
        self._order: int | None = None
        """The last text for the editor that was seen: one from before the console came is not followed."""

    async def load(self) -> None:
        """Those of the session's folder; again when that is another one."""
        desk = self._desk
        if self._loaded is not None and self._loaded_for == desk.cwd:
            return
        from sightline.views.console.extensions._extensions import open_extensions

        self._loaded_for = desk.cwd
        self._loaded = asyncio.ensure_future(open_extensions(desk, os.environ))
        await self._loaded

    def shown(self) -> None:
        """Another session, or the same one anew: orders from before are not followed."""
        self._order = editor_text(self._desk.state.state)[0]
        self.heard()

    def heard(self) -> None:
        """The session's state may have changed."""
        desk, state = self._desk, self._desk.state.state
        for widgets in (self._above, self._below):
            if widgets.update(state):
                desk.redraw(widgets)
        self._current.extension_texts = status_texts(state)
        self._current.extension_title = title(state)
        order, text = editor_text(state)
        if self._order is not None and order != self._order:
            desk.set_draft(text)
        self._order = order

    async def dialog_for(self, request: dict[str, Any]) -> "tuple[Answerable, Overlay | None, bool]":
        """What to mount, over what, and whether it stands above the editor instead of in its place."""
        from sightline.views.console.dialogs import dialog_for
        from sightline.views.console.extensions._extensions import is_custom

        if not is_custom(request):
            return dialog_for(request, self._desk.drawing, self._room), None, True
        await self.load()
        assert self._loaded is not None
        custom = await (await self._loaded).dialog_for(request)
        return custom, custom.overlay, False
