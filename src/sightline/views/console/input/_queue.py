"""What waits for the agent: the messages of the person that are not sent yet, above the editor."""

from sightline.events import QueuedMessage
from sightline.text import clean_line, first_line
from sightline.tty import Component, Rows, truncate
from sightline.views.console._drawing import DrawingOptions

_ROWS = 4
_LOOKED_AT = 1000  # characters of a message: no row is longer
_WHEN = {"steer": "next", "follow_up": "after"}


class QueuePanel(Component):
    """Shows the state `queue`: a row for each message, at most four, and the key that gives them back."""

    def __init__(self, drawing: DrawingOptions) -> None:
        self._drawing = drawing
        self._messages: tuple[tuple[str, str], ...] = ()
        self._rows: tuple[object, Rows] | None = None

    def __len__(self) -> int:
        return len(self._messages)

    def set(self, messages: list[QueuedMessage]) -> None:
        self._messages = tuple(
            (_WHEN.get(one.how, "next"), clean_line(first_line(one.text)[:_LOOKED_AT])) for one in messages
        )

    def render(self, width: int) -> Rows:
        keys = self._drawing.bindings.keys("unqueue")
        state = (width, self._messages, keys)
        if self._rows is None or self._rows[0] != state:
            self._rows = (state, tuple(self._draw(width, keys[0] if keys else "")))
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    def _draw(self, width: int, key: str) -> list[str]:
        if not self._messages:
            return []
        style = self._drawing.theme.style
        rows = []
        for when, text in self._messages[:_ROWS]:
            shown = truncate(f" {when}: {text}", width)
            at = min(len(f" {when}:"), len(shown))
            rows.append(style("muted", shown[:at]) + shown[at:])
        more = len(self._messages) - _ROWS
        words = [f"… {more} more"] if more > 0 else []
        words += [f"{key} to edit"] if key else []
        return [*rows, style("hint", truncate(" " + " · ".join(words), width))] if words else rows
