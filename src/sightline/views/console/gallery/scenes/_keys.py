"""Key hints."""

from collections.abc import Iterator

from sightline.tty.components import KeyHints
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_FEW = (("enter", "send"), ("escape", "cancel"))
_MANY = (*_FEW, *((f"f{number}", f"does something {number}") for number in range(1, 12)))


@scene("keys", "which keys do what")
def states(stage: Stage) -> Iterator[SceneState]:
    yield SceneState("a few", KeyHints(_FEW, theme=stage.theme))
    yield SceneState("as many as fit, each whole, and the last one", KeyHints(_MANY, theme=stage.theme))
