"""The row of what goes with a prompt: `[1 shot.png 120 KB]`, and how to take it back."""

from sightline.text import clean_line
from sightline.tty import Component, Rows, Theme, measure, truncate
from sightline.views.console.input._submission import Attachment

_HINT = "backspace removes"
_NAME = 30


class Chips(Component):
    """One row while there is something attached; what does not fit is counted."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._attachments: tuple[Attachment, ...] = ()
        self._rows: tuple[object, Rows] | None = None

    def set(self, attachments: tuple[Attachment, ...]) -> None:
        self._attachments = attachments

    def render(self, width: int) -> Rows:
        state = (width, self._attachments)
        if self._rows is None or self._rows[0] != state:
            self._rows = (state, (self._draw(width),) if self._attachments else ())
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    def _draw(self, width: int) -> str:
        """The last chips rather than the first: backspace takes the last one."""
        labels = [f"[{number} {_label(one)}]" for number, one in enumerate(self._attachments, 1)]
        shown: list[str] = []
        room = width - 1
        for label in reversed(labels):
            left = len(labels) - len(shown) - 1
            if shown and measure(label) + 1 + (len(f" +{left}") if left else 0) > room:
                break
            shown.insert(0, label)
            room -= measure(label) + 1
        missing = len(labels) - len(shown)
        words = ([f"+{missing}"] if missing else []) + shown
        row = " " + self._theme.style("accent", truncate(" ".join(words), width - 1))
        return row + (" " + self._theme.style("hint", _HINT) if room > len(_HINT) else "")


def _label(attachment: Attachment) -> str:
    return f"{truncate(clean_line(attachment.name), _NAME)} {size_in_words(attachment.size)}"


def size_in_words(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
