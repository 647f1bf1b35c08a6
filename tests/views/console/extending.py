"""An extension for tests: a component, what asks for it, and a terminal nobody looks at."""

from pathlib import Path
from typing import Any

BOARD = """
from sightline.extension import Component

class Board(Component):
    def __init__(self, props, done):
        self.props, self.done, self.rows = props, done, None
    def render(self, width):
        self.rows = self.rows or [f"board {self.props}"]
        return self.rows
    def handle_input(self, event):
        if event.name == "enter":
            self.done({"moved": self.props})
            self.done("again")
        return event.name == "enter"

def console(ui):
    @ui.component("board")
    def board(props, theme, bindings, done):
        return Board(props, done)
"""


def custom(name: str = "board", extension: str = "games", props: Any = 3, *, overlay: bool = False) -> dict[str, Any]:
    details = {"ui": {"kind": "custom"}, "extension": extension, "name": name, "props": props, "overlay": overlay}
    return {"id": "request-1", "what": "dialog", "text": name, "choices": [], "agent": "", "details": details}


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


class Surface:
    """A terminal nobody looks at."""

    size = (80, 24)
    busy = False

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)
