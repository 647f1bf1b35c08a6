"""The panel of queued messages, above the editor."""

from sightline.events import QueuedMessage
from sightline.text import clean_line, first_line
from sightline.tty import CachedComponent, truncate
from sightline.views.console._drawing import DrawingOptions

_ROWS = 4
_LOOKED_AT = 1000  # characters of a message: no row is longer


def waits_as(message: QueuedMessage, *, steers: bool) -> str:
    """What a message that waits does: `steers` is whether the agent reads one while it works."""
    return "steering" if steers and message.how == "steer" else "queued"


class QueuePanel(CachedComponent):
    """A row for each message that waits, at most four, and the key that moves them back into the editor."""

    def __init__(self, drawing: DrawingOptions) -> None:
        self._drawing = drawing
        self._messages: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self._messages)

    def set(self, messages: list[QueuedMessage], *, steers: bool) -> None:
        self._messages = tuple(
            (waits_as(one, steers=steers), clean_line(first_line(one.text)[:_LOOKED_AT])) for one in messages
        )

    def _key(self) -> tuple[object, ...]:
        return self._messages, self._drawing.bindings.keys("unqueue")

    def _draw(self, width: int) -> list[str]:
        if not self._messages:
            return []
        style, keys = self._drawing.theme.style, self._drawing.bindings.keys("unqueue")
        rows = []
        for when, text in self._messages[:_ROWS]:
            shown = truncate(f" {when}: {text}", width)
            at = min(len(f" {when}:"), len(shown))
            rows.append(style("muted", shown[:at]) + shown[at:])
        more = len(self._messages) - _ROWS
        words = [f"… {more} more"] if more > 0 else []
        words += [f"{key} to edit" for key in keys[:1]]
        return [*rows, style("hint", truncate(" " + " · ".join(words), width))] if words else rows
