"""Overlays."""

from collections.abc import Iterator

from sightline.tty import Anchor, Component, Overlay, OverlayHandle, Rows, composite
from sightline.tty.components import Box, Item, SelectList, Text
from sightline.views.console.gallery._scene import Scene, Stage, State

_HEIGHT = 7
_CHOICES = (Item("once", "Yes, once"), Item("always", "Yes, always"), Item("no", "No"))


class _Window(Component):
    """A small window of lines with something over it."""

    def __init__(self, over: Component, overlay: Overlay) -> None:
        self._handle = OverlayHandle(over, overlay, None, lambda: None)
        self._rows: tuple[int, Rows] = (-1, ())

    def render(self, width: int) -> Rows:
        if self._rows[0] != width:
            below = [f"line {number} " + "· " * (width // 2 - 5) for number in range(1, _HEIGHT + 1)]
            self._rows = (width, composite([row[:width] for row in below], [self._handle], width, _HEIGHT))
        return self._rows[1]

    def invalidate(self) -> None:
        self._handle.component.invalidate()
        self._rows = (-1, ())


class _Dialog(Box):
    """A question with choices: keys go to the list."""

    def __init__(self, stage: Stage) -> None:
        self.choices = SelectList(_CHOICES, bindings=stage.bindings, theme=stage.theme)
        question = Text("Run `make test`?", theme=stage.theme)
        super().__init__(question, self.choices, title="Allow", border_role="border_active", theme=stage.theme)

    def handle_input(self, event: object) -> bool:
        return self.choices.handle_input(event)  # type: ignore[arg-type]


def _ask(stage: Stage, answer: Text) -> None:
    dialog = _Dialog(stage)
    handle = stage.show_overlay(dialog, Overlay(anchor="center", width="50%"))

    def close(words: str) -> None:
        if handle is not None:
            handle.hide()
        answer.set_text(words)
        stage.request_render(answer)

    dialog.choices.on_select = lambda item: close(f"You chose: {item.label}")
    dialog.choices.on_cancel = lambda: close("You chose nothing.")


def _states(stage: Stage) -> Iterator[State]:
    anchors: tuple[Anchor, ...] = ("center", "top-right", "bottom-left")
    for anchor in anchors:
        note = Box(Text("over it", theme=stage.theme), border_role="border_active", theme=stage.theme)
        yield State(anchor, _Window(note, Overlay(anchor=anchor, width=20)))
    yield State("a dialog, half as wide", _Window(_Dialog(stage), Overlay(anchor="center", width="50%")))
    if stage.moving:
        answer = Text("Press enter to be asked.", "hint", theme=stage.theme)
        yield State("a real one", answer, live=True, interactive=True, attempt=lambda: _ask(stage, answer))


SCENE = Scene("overlay", "what lies over the window: dialogs, menus", _states)
