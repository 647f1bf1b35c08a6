"""Extensions on one console: loading them, showing their widgets, texts and title, and mounting their dialogs."""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from sightline.events import EditorTextState, ExtensionWidget, StatusTextsState, TitleState, WidgetsState
from sightline.text import clean_line
from sightline.tty import CachedComponent, truncate

if TYPE_CHECKING:
    from sightline.tty import Overlay
    from sightline.views.console._desk import Answerable, Desk
    from sightline.views.console._screen import ConsoleScreen
    from sightline.views.console._state import ConsoleState
    from sightline.views.console.extensions._extensions import ConsoleExtensions

_LINES_SHOWN = 10  # of one widget


class Widgets(CachedComponent):
    """The widgets of one place, in the order they were first shown."""

    def __init__(self, placement: Literal["above", "below"]) -> None:
        self._placement = placement
        self._value: object = None
        self._lines: tuple[str, ...] = ()

    def update(self, state: Mapping[str, object]) -> bool:
        """Read the session's state. Whether that changed anything."""
        value = state.get(WidgetsState.KEY)
        if value is self._value:
            return False
        self._value = value
        fact = WidgetsState.of(value)
        widgets = [widget for widget in fact.widgets.values() if widget.placement == self._placement] if fact else []
        before, self._lines = self._lines, tuple(line for widget in widgets for line in _lines(widget))
        return self._lines != before

    def _key(self) -> tuple[object, ...]:
        return self._lines

    def _draw(self, width: int) -> list[str]:
        return [truncate(line, width) for line in self._lines]


def _lines(widget: ExtensionWidget) -> list[str]:
    lines = [clean_line(line) for line in widget.lines]
    more = len(lines) - _LINES_SHOWN
    return lines if more <= 0 else [*lines[: _LINES_SHOWN - 1], f"… {more + 1:,} more lines"]


def status_texts(state: Mapping[str, object]) -> list[str]:
    fact = StatusTextsState.among(state)
    return [text for text in map(clean_line, fact.texts.values()) if text] if fact else []


def title(state: Mapping[str, object]) -> str:
    fact = TitleState.among(state)
    return clean_line(fact.title) if fact else ""


def editor_text(state: Mapping[str, object]) -> tuple[int, str]:
    """The last text an extension put into the editor, and its number."""
    fact = EditorTextState.among(state)
    return (fact.number, fact.text) if fact else (0, "")


class ExtensionScreen:
    """`load` once there is a session, `heard` after each of its events, `dialog_for` for each request."""

    def __init__(self, desk: "Desk", current: "ConsoleState", screen: "ConsoleScreen") -> None:
        self._desk = desk
        self._room = screen.room
        self._current = current
        self._above = Widgets("above")
        self._below = Widgets("below")
        screen.widgets_above.children.append(self._above)
        screen.widgets_below.children.append(self._below)
        self._loaded: asyncio.Future[ConsoleExtensions] | None = None
        self._loaded_for = ""
        self._order: int | None = None
        """The number of the last text for the editor: one from before this console was opened is not inserted."""

    async def load(self) -> None:
        """Load those of the session's folder; again when that changes."""
        desk = self._desk
        if self._loaded is not None and self._loaded_for == desk.cwd:
            return
        from sightline.views.console.extensions._extensions import open_extensions

        self._loaded_for = desk.cwd
        self._loaded = asyncio.ensure_future(open_extensions(desk, os.environ))
        await self._loaded

    def shown(self) -> None:
        """Another session is shown, or the same one anew: a text for the editor from before is not inserted."""
        self._order = editor_text(self._desk.state.state)[0]
        self.heard()

    def heard(self) -> None:
        """The session's state may have changed."""
        desk, state = self._desk, self._desk.state.state
        for widgets in (self._above, self._below):
            if widgets.update(state):
                desk.redraw(widgets)
        self._current.extension_texts, self._current.extension_title = status_texts(state), title(state)
        order, text = editor_text(state)
        if self._order is not None and order != self._order:
            desk.set_draft(text)
        self._order = order

    async def dialog_for(self, request: dict[str, object]) -> "tuple[Answerable, Overlay | None, bool]":
        """The dialog, its overlay, and whether it stands above the editor instead of in its place."""
        from sightline.views.console.dialogs import dialog_for
        from sightline.views.console.extensions._extensions import is_custom

        if not is_custom(request):
            return dialog_for(request, self._desk.drawing, self._room), None, True
        await self.load()
        assert self._loaded is not None
        custom = await (await self._loaded).dialog_for(request)
        return custom, custom.overlay, False
