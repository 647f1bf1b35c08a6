"""What the tests of the contract share: a component with a seam, a surface that takes anything, rows with numbers."""

from sightline.tty._component import Component, Rows, Scrollback
from sightline.tty.frame._display import Display
from tests.tty.paper import Paper
from tests.tty.support import a_display


class Seam(Scrollback):
    """Rows, and what is said of them."""

    def __init__(self, *rows: str, live_from: int | None = None, safe_to: int | None = None) -> None:
        self.rows = rows
        self._live_from = live_from
        self._safe_to = safe_to

    def render(self, width: int) -> Rows:
        return self.rows

    def live_from(self) -> int | None:
        return self._live_from

    def safe_to(self) -> int | None:
        return self._safe_to


def numbered(count: int, name: str = "row") -> list[str]:
    return [f"{name} {index}" for index in range(count)]


def drawn(paper: "Paper | Sink", *children: Component, multiplexer: str = "") -> Display:
    display = a_display(paper, multiplexer=multiplexer)
    for child in children:
        display.add(child)
    display.render_now()
    return display


class Sink:
    """Takes whatever is written."""

    def __init__(self, columns: int = 40, rows: int = 8) -> None:
        self.size = (columns, rows)
        self.busy = False
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)
