"""Components and a display for the engine's tests."""

from collections.abc import Callable, Iterable

from sightline.tty._component import Component, Input, Rows
from sightline.tty.frame._display import Display
from sightline.tty.terminal._capabilities import Capabilities
from tests.tty.paper import Paper


class Lines(Component):
    """Exactly these rows, until it is given others."""

    def __init__(self, *rows: str) -> None:
        self.rows: Rows = rows
        self.asked = 0
        self.heard: list[Input] = []

    def render(self, width: int) -> Rows:
        self.asked += 1
        return self.rows

    def handle_input(self, event: Input) -> bool:
        self.heard.append(event)
        return True

    def set(self, rows: Iterable[str]) -> None:
        self.rows = tuple(rows)


class Words(Component):
    """Words that are wrapped to the width."""

    def __init__(self, *words: str) -> None:
        self.words = list(words)

    def render(self, width: int) -> Rows:
        rows, row = [], ""
        for word in self.words:
            if row and len(row) + 1 + len(word) > width:
                rows.append(row)
                row = word
            else:
                row = f"{row} {word}".strip()
        return [*rows, row] if row else rows


class FakeClock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 100.0
        self._timers: list[tuple[float, _Timer]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object]) -> "_Timer":
        timer = _Timer(callback)
        self._timers.append((self.now + delay, timer))
        return timer

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [entry for entry in self._timers if entry[0] <= end and not entry[1].cancelled]:
            entry = min(due, key=lambda pair: pair[0])
            self._timers.remove(entry)
            self.now = max(self.now, entry[0])
            entry[1].callback()
        self.now = end


class _Timer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


def a_display(paper: Paper, *, multiplexer: str = "", synchronized: bool = True, cursor: bool = True) -> Display:
    capabilities = Capabilities(
        multiplexer=multiplexer, synchronized_output=synchronized, hardware_cursor=cursor, terminal="test"
    )
    return Display(paper, capabilities)
