"""Overlays."""

from collections.abc import Iterator

from sightline.tty import Anchor, CachedComponent, Component, Overlay, OverlayHandle, Rows, composite
from sightline.tty.components import Box, Item, SelectList, TextComponent
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_HEIGHT = 7


class _Window(CachedComponent):
    """A small window of lines with an overlay."""

    def __init__(self, over: Component, overlay: Overlay) -> None:
        self._handle = OverlayHandle(over, overlay, None, lambda: None)

    def _draw(self, width: int) -> Rows:
        below = [f"line {number} " + "· " * (width // 2 - 5) for number in range(1, _HEIGHT + 1)]
        return composite([row[:width] for row in below], [self._handle], width, _HEIGHT)

    def invalidate(self) -> None:
        super().invalidate()
        self._handle.component.invalidate()


def _dialog(stage: Stage, title: str, question: str, *labels: str) -> tuple[Box, SelectList]:
    """A question with choices: keys go to the list."""
    choices = SelectList([Item(label, label) for label in labels], bindings=stage.bindings, theme=stage.theme)
    words = TextComponent(question, theme=stage.theme)
    return Box(words, choices, title=title, border_role="border_active", theme=stage.theme), choices


def _ask(stage: Stage, answer: TextComponent) -> None:
    dialog, choices = _dialog(stage, "Allow", "Run `make test`?", "Yes, once", "Yes, always", "No")
    handle = stage.show_overlay(dialog, Overlay(anchor="center", width="50%"))

    def close(words: str) -> None:
        if handle is not None:
            handle.hide()
        answer.set_text(words)
        stage.request_render(answer)

    choices.on_select = lambda item: close(f"You chose: {item.label}")
    choices.on_cancel = lambda: close("You chose nothing.")


@scene("overlay", "what lies over the window: dialogs, menus")
def states(stage: Stage) -> Iterator[SceneState]:
    anchors: tuple[Anchor, ...] = ("center", "top-right", "bottom-left")
    for anchor in anchors:
        note = Box(TextComponent("over it", theme=stage.theme), border_role="border_active", theme=stage.theme)
        yield SceneState(anchor, _Window(note, Overlay(anchor=anchor, width=20)))
    painted, _ = _dialog(stage, "Delete", "Delete `notes.md`?", "Keep it", "Delete it")
    yield SceneState("a dialog, half as wide", _Window(painted, Overlay(anchor="center", width="50%")))
    if stage.moving:
        answer = TextComponent("Press enter to be asked.", "hint", theme=stage.theme)
        yield SceneState("a real one", answer, live=True, interactive=True, attempt=lambda: _ask(stage, answer))
