"""The row of attachments of a prompt: `[1 shot.png 120 KB]`, and the key that removes one."""

from sightline.text import clean_line
from sightline.tty import Theme, measure, truncate
from sightline.views.console._cached import CachedComponent
from sightline.views.console.input._submission import Attachment

_HINT = "backspace removes"
_NAME = 30


class Chips(CachedComponent):
    """One row while something is attached; what does not fit is counted."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._attachments: tuple[Attachment, ...] = ()

    def set(self, attachments: tuple[Attachment, ...]) -> None:
        self._attachments = attachments

    def _key(self) -> tuple[object, ...]:
        return self._attachments

    def _draw(self, width: int) -> list[str]:
        """The last chips rather than the first: backspace removes the last one."""
        if not self._attachments:
            return []
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
        return [row + (" " + self._theme.style("hint", _HINT) if room > len(_HINT) else "")]


def _label(attachment: Attachment) -> str:
    return f"{truncate(clean_line(attachment.name), _NAME)} {size_in_words(attachment.size)}"


def size_in_words(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
