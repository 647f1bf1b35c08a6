"""Extensions on one console: they are loaded, what they show is kept up to date, and what they ask is mounted."""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from sightline.views.console._widgets import Widgets, editor_text, status_texts, title

if TYPE_CHECKING:
    from sightline.tty import Overlay
    from sightline.views.console._console import Console
    from sightline.views.console._desk import Ask
    from sightline.views.console._extensions import Extensions


class ExtensionScreen:
    """`load` once there is a session, `heard` after each of its events, `dialog_for` for what it asks."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._above = Widgets(console.drawing, "above")
        self._below = Widgets(console.drawing, "below")
        console.screen.widgets_above.children.append(self._above)
        console.screen.widgets_below.children.append(self._below)
        self._loaded: asyncio.Future[Extensions] | None = None
        self._loaded_for = ""
        self._order: int | None = None
        """The last text for the editor that was seen: one from before the console came is not followed."""

    async def load(self) -> None:
        """Those of the session's folder; again when that is another one."""
        console = self._console
        if self._loaded is not None and self._loaded_for == console.cwd:
            return
        from sightline.views.console._extensions import open_extensions

        self._loaded_for = console.cwd
        self._loaded = asyncio.ensure_future(open_extensions(console, os.environ))
        await self._loaded

    def shown(self) -> None:
        """Another session, or the same one anew: orders from before are not followed."""
        self._order = editor_text(self._console.state.state)[0]
        self.heard()

    def heard(self) -> None:
        """The session's state may have changed."""
        console, state = self._console, self._console.state.state
        for widgets in (self._above, self._below):
            if widgets.update(state):
                console.redraw(widgets)
        texts = status_texts(state)
        if texts != console.status.extras:
            console.status.extras = texts
            console.redraw(console.status)
        console.attention.own_title = title(state)
        order, text = editor_text(state)
        if self._order is not None and order != self._order:
            console.set_draft(text)
        self._order = order

    async def dialog_for(self, request: dict[str, Any]) -> "tuple[Ask, Overlay | None, bool]":
        """What to mount, over what, and whether it stands above the editor instead of in its place."""
        from sightline.views.console._extensions import is_custom
        from sightline.views.console.dialogs import dialog_for

        if not is_custom(request):
            return dialog_for(request, self._console.drawing, self._console.screen.room), None, True
        await self.load()
        assert self._loaded is not None
        custom = await (await self._loaded).dialog_for(request)
        return custom, custom.overlay, False
