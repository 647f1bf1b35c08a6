"""Box."""

from collections.abc import Iterator

from sightline.tty.components import Box, Spacer, Text
from sightline.views.console.gallery._scene import Scene, Stage, State


def _states(stage: Stage) -> Iterator[State]:
    theme = stage.theme

    def text(words: str) -> Text:
        return Text(words, theme=theme)

    yield State("rounded, with a title", Box(text("What is inside wraps inside."), title="Notes", theme=theme))
    yield State("heavy", Box(text("Something important."), border="heavy", border_role="warning", theme=theme))
    yield State("active", Box(text("It has the focus."), border_role="border_active", title="Active", theme=theme))
    yield State(
        "without a border, on a background", Box(text("selected"), border="none", background="selection", theme=theme)
    )
    yield State(
        "several children, padded", Box(text("one"), Spacer(), text("two"), padding_x=3, padding_y=1, theme=theme)
    )
    inner = Box(text("inner"), title="inside", theme=theme)
    yield State("in another", Box(text("outer"), inner, title="outside", theme=theme))


SCENE = Scene("box", "a frame around other components", _states)
