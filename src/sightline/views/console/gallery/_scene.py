"""Scenes of the gallery: each is a component in all its states, set on a stage.

A scene is a name, a description, and a function that makes its states anew each time. On a stage that does not move
(printed for review) nothing depends on time.
"""

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from sightline.tty import Bindings, Component, ImageStore, Overlay, OverlayHandle, Theme
from sightline.tty.frame._scheduler import Timer


class _NoTimer:
    def cancel(self) -> None:
        """Nothing to cancel."""


class Stage:
    """What states are made with. On this one nothing moves; `LiveStage` moves."""

    moving = False

    def __init__(self, theme: Theme, *, bindings: Bindings | None = None, images: ImageStore | None = None) -> None:
        self.theme = theme
        self.bindings = bindings or Bindings()
        self.images = images or ImageStore()

    def clock(self) -> float:
        return time.monotonic() if self.moving else 0.0

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return _NoTimer()

    def request_render(self, component: Component) -> None:
        """A component changed by itself."""

    def finish(self, component: Component) -> None:
        """A live component will not change any more."""

    def show_overlay(self, component: Component, overlay: Overlay) -> OverlayHandle | None:
        return None

    def run_program(self, argv: Sequence[str]) -> int:
        """Run a program in the terminal. Returns its exit code."""
        return 1

    def report(self, text: str) -> None:
        """Show the outcome of something that was tried."""


class SceneState(msgspec.Struct):
    """A component in one state."""

    caption: str
    component: Component
    live: bool = False
    """It changes by itself, until `Stage.finish`."""
    interactive: bool = False
    """It can be tried: it handles keys."""
    attempt: Callable[[], None] | None = None
    """How it is tried, where that is not by focus."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys to try, and what they do."""


class Scene(msgspec.Struct, frozen=True):
    """A component in all its states."""

    name: str
    about: str
    states: Callable[[Stage], Iterable[SceneState]]


def scene(name: str, about: str) -> Callable[[Callable[[Stage], Iterable[SceneState]]], Scene]:
    """A decorator: a scene of the states a function makes."""
    return lambda states: Scene(name, about, states)
