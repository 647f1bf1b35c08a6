"""What the gallery is made of: scenes, each a component in all its states, set on a stage.

A scene is a name, a line about it, and a function that makes its states anew each time: what moves or is tried in one
showing leaves the next one alone. On a stage that does not move (printed for review) nothing depends on time.
"""

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from sightline.tty import Bindings, Component, ImageStore, Overlay, OverlayHandle, Theme


class _NoTimer:
    def cancel(self) -> None:
        """It never was one."""


class Stage:
    """What states are made with. This one stands still; the session's own moves."""

    moving = False

    def __init__(self, theme: Theme, *, bindings: Bindings | None = None, images: ImageStore | None = None) -> None:
        self.theme = theme
        self.bindings = bindings or Bindings()
        self.images = images or ImageStore()

    def clock(self) -> float:
        return time.monotonic() if self.moving else 0.0

    def call_later(self, delay: float, callback: Callable[[], None]) -> "_NoTimer":
        return _NoTimer()

    def request_render(self, component: Component) -> None:
        """A component changed by itself."""

    def finish(self, component: Component) -> None:
        """A component that was live will not change any more."""

    def show_overlay(self, component: Component, overlay: Overlay) -> OverlayHandle | None:
        return None

    def run_program(self, argv: Sequence[str]) -> int:
        """Let a program have the terminal. Its exit code."""
        return 1

    def say(self, text: str) -> None:
        """What came of something that was tried."""


class SceneState(msgspec.Struct):
    """A component in one state."""

    caption: str
    component: Component
    live: bool = False
    """It changes by itself, until `Stage.finish`."""
    interactive: bool = False
    """It can be tried: keys mean something to it."""
    attempt: Callable[[], None] | None = None
    """How it is tried, where that is not by giving it the focus."""
    keys: tuple[tuple[str, str], ...] = ()
    """What one should know to try it: keys and what they do."""


class Scene(msgspec.Struct, frozen=True):
    """A component in all its states."""

    name: str
    about: str
    states: Callable[[Stage], Iterable[SceneState]]
