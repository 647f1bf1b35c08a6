"""The editor itself, with what a prompt needs besides: a first look at what comes in, and rows for attachments."""

from collections.abc import Callable
from typing import Any

from sightline.tty import Component, Input, Rows
from sightline.tty.components import Editor


class Field(Editor):
    """An editor that asks `on_first` before anything else, and tells `on_text` of texts that were put into it too."""

    on_first: Callable[[Input], bool] | None = None
    on_text: Callable[[str], None] | None = None

    def __init__(self, above: Component, **options: Any) -> None:
        super().__init__(**options)
        self._above = above
        self._parts: tuple[Rows, Rows] = ((), ())
        self._joined: Rows = ()

    def handle_input(self, event: Input) -> bool:
        if self.on_first is not None and self.on_first(event):
            return True
        return super().handle_input(event)

    def set_text(self, text: str) -> None:
        super().set_text(text)
        if self.on_text is not None:
            self.on_text(self.text)

    def render(self, width: int) -> Rows:
        rows, above = super().render(width), self._above.render(width)
        if not above:
            return rows
        if rows is not self._parts[0] or above is not self._parts[1]:
            self._parts = (rows, above)
            self._joined = (rows[0], *above, *rows[1:])
        return self._joined

    def contains(self, component: Component) -> bool:
        return component is self or component is self._above

    def invalidate(self) -> None:
        super().invalidate()
        self._above.invalidate()
