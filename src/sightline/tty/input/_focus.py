"""Dispatch of input: listeners, and the focused component."""

from collections.abc import Callable

from sightline.tty._component import Component, Input
from sightline.tty.input._keys import is_release, matches

Listener = Callable[[Input], Input | None]

DEBUG_KEY = "ctrl+shift+d"


class Focus:
    """The focused component and those who listen before it."""

    def __init__(self) -> None:
        self.component: Component | None = None
        self._listeners: list[Listener] = []

    def set(self, component: Component | None) -> None:
        if self.component is component:
            return
        if self.component is not None:
            self.component.focused = False
        self.component = component
        if component is not None:
            component.focused = True

    def add_listener(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def dispatch(self, event: Input, on_debug: Callable[[], None] | None) -> bool | None:
        """Listeners, then the debug key, then the component: whether it was taken; None when there was no receiver."""
        for listener in tuple(self._listeners):
            heard = listener(event)
            if heard is None:
                return True
            event = heard
        if on_debug is not None and matches(event, DEBUG_KEY):
            on_debug()
            return True
        component = self.component
        if component is None or (is_release(event) and not component.wants_key_release):
            return None
        return component.handle_input(event)
