"""Large pastes, folded: in the text a marker of one character, on the screen `[pasted #1, 120 lines]`.

A marker is unfolded when the text leaves the editor. Markers are known to one editor only and are never part of a text
outside it.
"""

from collections.abc import Iterable

from sightline.text import clean_text
from sightline.tty.components.editor._clusters import FIRST_MARKER, LAST_MARKER, MARKER

_LINES, _CHARACTERS = 10, 1000


def clean_paste(text: str) -> str:
    """What may become part of a buffer: terminals send a carriage return for a line break."""
    for line_break in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(line_break, "\n")
    return clean_text(text)


class Pastes:
    """The folded pastes of one editor."""

    def __init__(self) -> None:
        self._contents: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._folded = 0

    def fold(self, text: str) -> str:
        """The marker for a large text, the text itself when it is small or there are too many markers."""
        if text.count("\n") < _LINES and len(text) <= _CHARACTERS:
            return text
        marker = chr(FIRST_MARKER + self._folded)
        if marker > chr(LAST_MARKER):
            return text
        self._folded += 1
        lines = len(text.removesuffix("\n").split("\n"))
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        self._contents[marker] = text
        self._labels[marker] = f"[pasted #{self._folded}, {size}]"
        return marker

    def folded_in(self, text: str) -> list[str]:
        """What the markers of a text stand for."""
        return [self._contents[marker] for marker in MARKER.findall(text)]

    def refold(self, text: str, parts: Iterable[str]) -> str:
        """A text with these parts of it folded again, each to the marker it still has or a new one."""
        known = {content: marker for marker, content in self._contents.items()}
        done: list[str] = []
        for part in parts:
            head, found, text = text.partition(part)
            done += (head, known.get(part) or self.fold(part)) if found else (head,)
        return "".join((*done, text))

    def unfold(self, text: str) -> str:
        if not self._contents:
            return text
        return MARKER.sub(lambda marker: self._contents[marker.group()], text)

    def label(self, marker: str) -> str:
        return self._labels[marker]

    def forget_unless_in(self, texts: Iterable[str]) -> None:
        """Let go of what no text holds any more; with nothing left, numbers begin anew."""
        held = {marker for text in texts for marker in MARKER.findall(text)}
        self._contents = {marker: self._contents[marker] for marker in held}
        self._labels = {marker: self._labels[marker] for marker in held}
        if not held:
            self._folded = 0
