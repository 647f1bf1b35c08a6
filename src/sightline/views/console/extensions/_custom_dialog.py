"""A component of an extension's own, as something the person answers.

- The first answer counts; with it the component is taken down (`dispose`), once, whoever ended it.
- The keys are the component's. Ctrl+C closes it whatever it does with the key, escape if it does nothing with it.
- Answers `{"value": …}`, in plain data: None in it says that nothing came of it, and whoever waits goes on.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from sightline.tty import Component, Input, Overlay, Rows, matches
from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.extensions._guarded import Guarded


class CustomDialog(Answerable):
    """Made empty: `hold` gives it its component, which may have answered before."""

    def __init__(self, drawing: DrawingOptions, *, overlay: bool, report: Callable[[Exception], None]) -> None:
        self.overlay = Overlay(anchor="bottom-center", width="100%", max_height="100%") if overlay else None
        """Where it lies; None: in place of the editor."""
        self._drawing = drawing
        self._report = report
        self._component: Guarded | None = None
        self._shown: Callable[[Any], None] | None = None
        self._answers: list[Any] = []
        self._disposed = False

    @property
    def done(self) -> Callable[[Any], None]:
        """Closes it with an answer for the desk; None, unanswered."""
        return self._finish

    @done.setter
    def done(self, done: Callable[[Any], None]) -> None:
        self._shown = done
        if self._answers:
            done(self._answers[0])

    def hold(self, component: object) -> None:
        if not isinstance(component, Component):
            raise TypeError(f"{component!r} is not a component")
        self._component = Guarded(component, self._drawing.theme, self.fail)
        if self._answers:
            self.dispose()

    def answer(self, value: Any) -> None:
        """What the component calls."""
        try:
            self._finish({"value": msgspec.to_builtins(value, str_keys=True)})
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        self._report(error)
        self._finish({"value": None})

    def render(self, width: int) -> Rows:
        return () if self._component is None else self._component.render(width)

    def handle_input(self, event: Input) -> bool:
        known = self._component is not None and self._component.handle_input(event)
        if not self._answers and (matches(event, "ctrl+c") or not known):
            if not self._drawing.bindings.matches(event, "interrupt"):
                return known
            self.answer(None)
        return True

    @property
    def children(self) -> list[Component]:
        return [] if self._component is None else [self._component]

    @property
    def wants_key_release(self) -> bool:  # type: ignore[override]
        return self._component is not None and self._component.wants_key_release

    @property
    def focused(self) -> bool:
        return self._component is not None and self._component.focused

    @focused.setter
    def focused(self, focused: bool) -> None:
        if self._component is not None:
            self._component.focused = focused

    def contains(self, component: Component) -> bool:
        return component is self or (self._component is not None and self._component.contains(component))

    def refresh(self, component: Component) -> None:
        if self._component is not None:
            self._component.refresh(component)

    def invalidate(self) -> None:
        if self._component is not None:
            self._component.invalidate()

    def dispose(self) -> None:
        if self._component is not None and not self._disposed:
            self._disposed = True
            self._component.dispose()

    def _finish(self, answer: Any) -> None:
        if self._answers:
            return
        self._answers.append(answer)
        self.dispose()
        if self._shown is not None:
            self._shown(answer)
