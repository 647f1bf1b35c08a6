"""A component of an extension, as a dialog.

- The first answer counts; with it the component is disposed of, once.
- The keys are the component's. Ctrl+C closes it whatever it does with the key, escape if it does nothing with it.
- Answers `{"value": …}`, in plain data: None in it when there is no answer, and the extension continues.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from sightline.tty import Component, Input, Overlay, matches
from sightline.tty.components import Container
from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.extensions._guarded import Guarded


class CustomDialog(Container, Answerable):
    """Made empty: `hold` gives it its component, which may have answered before."""

    def __init__(self, drawing: DrawingOptions, *, overlay: bool, report: Callable[[Exception], None]) -> None:
        self.overlay = Overlay(anchor="bottom-center", width="100%", max_height="100%") if overlay else None
        """None: in place of the editor."""
        super().__init__()
        self._drawing = drawing
        self._report = report
        self._shown: Callable[[Any], None] | None = None
        self._answers: list[object] = []
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
        self.children = [Guarded(component, self._drawing.theme, self.fail)]
        if self._answers:
            self.dispose()

    def answer(self, value: object) -> None:
        """Called by the component."""
        try:
            self._finish({"value": msgspec.to_builtins(value, str_keys=True)})
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        self._report(error)
        self._finish({"value": None})

    def handle_input(self, event: Input) -> bool:
        known = super().handle_input(event)
        if not self._answers and (matches(event, "ctrl+c") or not known):
            if not self._drawing.bindings.matches(event, "interrupt"):
                return known
            self.answer(None)
        return True

    def dispose(self) -> None:
        if self.children and not self._disposed:
            self._disposed = True
            super().dispose()

    def _finish(self, answer: object) -> None:
        if self._answers:
            return
        self._answers.append(answer)
        self.dispose()
        if self._shown is not None:
            self._shown(answer)
