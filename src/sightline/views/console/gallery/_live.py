"""A stage that moves: timers are the loop's, what changes is drawn, and all of it ends when the scene does."""

from collections.abc import Callable, Sequence
from typing import Any

from sightline.tty import Application, Component, Overlay, OverlayHandle
from sightline.tty.components import BlockColumn, TextComponent
from sightline.views.console.gallery._scene import Stage


class LiveStage(Stage):
    """Puts components into a transcript; `clear` ends whatever still moves among them."""

    moving = True

    def __init__(self, application: Application, transcript: BlockColumn) -> None:
        super().__init__(application.theme, bindings=application.bindings, images=application.display.images)
        self._run_program = application.run_program
        self._display = application.display
        self._loop = application.loop
        self._transcript = transcript
        self._scene = 0
        self._live: list[Component] = []

    def put(self, component: Component, *, live: bool) -> None:
        self._transcript.append(component, live=live)
        if live:
            self._live.append(component)

    def clear(self) -> None:
        """The scene is over: what it still shows stays as it is."""
        self._scene += 1
        for component in self._live:
            component.dispose()
            self._transcript.finish(component)
        self._live = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> Any:
        scene = self._scene
        return self._loop.call_later(delay, lambda: callback() if scene == self._scene else None)

    def request_render(self, component: Component) -> None:
        self._display.request_render(component)

    def finish(self, component: Component) -> None:
        if component in self._live:
            self._live.remove(component)
            self._transcript.finish(component)
            self._display.request_render(component)

    def show_overlay(self, component: Component, overlay: Overlay) -> OverlayHandle:
        return self._display.show_overlay(component, overlay)

    def run_program(self, argv: Sequence[str]) -> int:
        return self._run_program(argv)

    def say(self, text: str) -> None:
        self._transcript.append(TextComponent(f"→ {text}", "success", theme=self.theme))
