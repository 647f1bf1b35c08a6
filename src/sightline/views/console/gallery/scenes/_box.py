"""Box."""

from collections.abc import Iterator

from sightline.tty.components import Box, Spacer, TextComponent
from sightline.views.console.gallery._scene import SceneState, Stage, scene


@scene("box", "a frame around other components")
def states(stage: Stage) -> Iterator[SceneState]:
    theme = stage.theme

    def text(words: str) -> TextComponent:
        return TextComponent(words, theme=theme)

    yield SceneState("rounded, with a title", Box(text("What is inside wraps inside."), title="Notes", theme=theme))
    yield SceneState("heavy", Box(text("Something important."), border="heavy", border_role="warning", theme=theme))
    yield SceneState("active", Box(text("It has the focus."), border_role="border_active", title="Active", theme=theme))
    yield SceneState(
        "without a border, on a background", Box(text("selected"), border="none", background="selection", theme=theme)
    )
    yield SceneState(
        "several children, padded", Box(text("one"), Spacer(), text("two"), padding_x=3, padding_y=1, theme=theme)
    )
    inner = Box(text("inner"), title="inside", theme=theme)
    yield SceneState("in another", Box(text("outer"), inner, title="outside", theme=theme))
