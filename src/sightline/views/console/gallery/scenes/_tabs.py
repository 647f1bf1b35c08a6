"""Tabs."""

from collections.abc import Iterator

from sightline.tty.components import Tabs
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_KEYS = (("left/right", "another tab"),)


@scene("tabs", "one of several")
def states(stage: Stage) -> Iterator[SceneState]:
    theme = stage.theme
    yield SceneState(
        "the first is active", Tabs(("Main", "Explore-1", "Read-2"), theme=theme), interactive=True, keys=_KEYS
    )
    yield SceneState("another is", Tabs(("Main", "Explore-1", "Read-2"), 2, theme=theme), interactive=True, keys=_KEYS)
    many = [f"agent {number}" for number in range(1, 30)]
    yield SceneState("more than there is room for", Tabs(many, 14, theme=theme), interactive=True, keys=_KEYS)
