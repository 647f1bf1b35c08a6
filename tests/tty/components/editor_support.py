"""Typing into an editor in tests: keys by their spelling, and what is on its rows."""

from collections.abc import Callable

from sightline.tty._component import CURSOR, Component
from sightline.tty.components._select import Item
from sightline.tty.components.editor import Editor
from sightline.tty.input._keys import Paste, character_key, parse_key

FAMILY, FLAG, ACCENT = "👨‍👩‍👧‍👦", "🇯🇵", "e\u0301"


def editor(text: str = "", **options: object) -> Editor:
    made = Editor(**options)  # type: ignore[arg-type]
    made.focused = True
    if text:
        made.set_text(text)
    made.render(80)
    return made


def press(component: Component, *specs: str) -> None:
    """Each argument is one key (`ctrl+k`, `left`), or text to type when it begins with a quotation mark."""
    for spec in specs:
        if spec.startswith("'"):
            type_text(component, spec[1:])
        else:
            component.handle_input(parse_key(spec))


def type_text(component: Component, text: str) -> None:
    for character in text:
        component.handle_input(parse_key("enter") if character == "\n" else character_key(character))


def paste(component: Component, text: str) -> None:
    component.handle_input(Paste(text))


def shown(component: Component, width: int = 40) -> list[str]:
    """The rows, the cursor as a bar."""
    return [row.replace(CURSOR, "|") for row in component.render(width)]


def body(component: Component, width: int = 40) -> list[str]:
    """The rows of an editor between its rules, without what is around them."""
    rows = shown(component, width)
    return [row.strip() for row in rows if not row.startswith("─")]


def items(*labels: str) -> list[Item]:
    return [Item(label, label) for label in labels]


class Clock:
    """A `call_later` whose time passes when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[tuple[float, Callable[[], None], Timer]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> "Timer":
        timer = Timer()
        self._timers.append((self.now + delay, callback, timer))
        return timer

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        while due := [entry for entry in self._timers if entry[0] <= self.now]:
            self._timers = [entry for entry in self._timers if entry not in due]
            for _, callback, timer in due:
                if not timer.cancelled:
                    callback()


class Timer:
    cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
