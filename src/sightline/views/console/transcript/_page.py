"""Pages of the console's own in the transcript, stored nowhere: help is pairs by topic, in two columns."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from sightline.tty import Rows, measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock

_INDENT, _GAP = "  ", "  "
_LEFT_AT_MOST = 30
_SIDE_BY_SIDE_FROM = 50  # columns


Topic = tuple[str, Sequence[tuple[str, str]]]
"""Its name, and what it lists: what one can enter or press, and what that does."""


class Page(TranscriptBlock):
    """A block whose content never changes: its rows depend on width and theme alone."""

    def __init__(self, drawing: DrawingOptions) -> None:
        self._drawing = drawing
        self._made_of: tuple[int, str] | None = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        made_of = (width, self._drawing.theme.name)
        if made_of != self._made_of:
            self._made_of = made_of
            self._rows = tuple(truncate(row, width) for row in self._draw(max(width, 8)))
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None

    @property
    def done(self) -> bool:
        return True

    @abstractmethod
    def _draw(self, width: int) -> Iterable[str]: ...


class HelpPage(Page):
    """All topics have the same columns."""

    def __init__(self, topics: Sequence[Topic], drawing: DrawingOptions) -> None:
        super().__init__(drawing)
        self._topics = topics

    @property
    def source(self) -> str:
        return "\n".join(f"{left}  {about}" for _, rows in self._topics for left, about in rows)

    def _draw(self, width: int) -> Iterator[str]:
        longest = max((measure(left) for _, rows in self._topics for left, _ in rows), default=0)
        column = min(longest, _LEFT_AT_MOST) if width >= _SIDE_BY_SIDE_FROM and not self._drawing.linear else 0
        for number, (topic, rows) in enumerate(self._topics):
            if number:
                yield ""
            yield self._drawing.theme.style("title", truncate(topic, width))
            for left, about in rows:
                yield from self._pair(left, about, column, width)

    def _pair(self, left: str, about: str, column: int, width: int) -> Iterator[str]:
        """Side by side; what is too long for its column, and everything where there is no room, one below the other."""
        if self._drawing.linear:
            yield f"{left}: {about}"
            return
        name, space, args = left.partition(" ") if left.startswith("/") else (left, "", "")
        named = self._drawing.theme.style("key", name) + self._drawing.theme.style("muted", space + args)
        margin = _INDENT + " " * column + _GAP if column else _INDENT * 2
        lines = wrap(about, max(width - len(margin), 1)) or [""]
        if column and measure(left) <= column:
            yield _INDENT + named + " " * (column - measure(left)) + _GAP + lines[0]
            lines = lines[1:]
        else:
            yield truncate(_INDENT + named, width)
        yield from (margin + line for line in lines)
