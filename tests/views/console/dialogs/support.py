"""A dialog on a bench: its rows as text, its keys by name, its answers in a list."""

from typing import Any

from sightline.text import clean_line
from sightline.tty import PLAIN, ImageStore, Key, Theme, measure, theme_for
from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions

WIDTHS = (20, 40, 80, 200)
HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202egnp.exe 日本語 👩‍👩‍👧 \x9b31m"


def drawing(*, theme: Theme = PLAIN, linear: bool = False, keys: dict[str, str] | None = None) -> DrawingOptions:
    return DrawingOptions(theme, ImageStore(), bindings_from(keys or {}), cwd="/project", linear=linear)


def coloured() -> Theme:
    return theme_for(dark=True, depth="true")


class Bench:
    """Shows a dialog, presses keys, and keeps what it answered."""

    def __init__(self, dialog: Answerable, width: int = 80) -> None:
        self.dialog = dialog
        self.width = width
        self.answers: list[Any] = []
        dialog.done = self.answers.append
        dialog.focused = True
        dialog.render(width)

    def press(self, *specs: str) -> "Bench":
        """`enter`, `ctrl+c`, `y`."""
        for spec in specs:
            self.dialog.render(self.width)
            self.dialog.handle_input(character_key(spec) if len(spec) == 1 else parse_key(spec))
        return self

    def type(self, text: str) -> "Bench":
        for character in text:
            self.dialog.handle_input(character_key(character))
        return self

    def text(self, width: int = 0) -> str:
        return "\n".join(clean_line(row).rstrip() for row in self.dialog.render(width or self.width))

    @property
    def answer(self) -> Any:
        (answer,) = self.answers
        return answer


def check_rows(dialog: Answerable, width: int) -> None:
    """No row is too wide or holds what a terminal would obey, and unchanged rows are the same object."""
    rows = dialog.render(width)
    assert rows
    for row in rows:
        assert measure(row) <= width, row
        assert "\x07" not in row
        assert "\u202e" not in row
        assert "\x1b]" not in row
        assert "\x1b[2J" not in row
        assert "\n" not in row
    assert dialog.render(width) is rows


def released(spec: str) -> Key:
    key = parse_key(spec)
    return Key(key.name, key.ctrl, key.alt, key.shift, key.meta, kind="release")
