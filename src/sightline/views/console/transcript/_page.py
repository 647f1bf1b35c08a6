"""A help page in the transcript: pairs by topic, in two columns. It is not stored."""

from collections.abc import Iterator, Sequence

from sightline.tty import measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import PageBlock

_INDENT, _GAP = "  ", "  "
_LEFT_AT_MOST = 30
_SIDE_BY_SIDE_FROM = 50  # columns


Topic = tuple[str, Sequence[tuple[str, str]]]
"""Its name, and pairs of what can be entered or pressed and what that does."""


class HelpPage(PageBlock):
    """All topics have the same columns."""

    def __init__(self, topics: Sequence[Topic], drawing: DrawingOptions) -> None:
        self._topics = topics
        self._drawing = drawing

    def _key(self) -> tuple[object, ...]:
        return (self._drawing.theme.name,)

    @property
    def source(self) -> str:
        return "\n".join(f"{left}  {about}" for _, rows in self._topics for left, about in rows)

    def _draw(self, width: int) -> Iterator[str]:
        width = max(width, 8)
        longest = max((measure(left) for _, rows in self._topics for left, _ in rows), default=0)
        column = min(longest, _LEFT_AT_MOST) if width >= _SIDE_BY_SIDE_FROM and not self._drawing.linear else 0
        for number, (topic, rows) in enumerate(self._topics):
            if number:
                yield ""
            yield self._drawing.theme.style("title", truncate(topic, width))
            for left, about in rows:
                yield from self._pair(left, about, column, width)

    def _pair(self, left: str, about: str, column: int, width: int) -> Iterator[str]:
        """Two columns; one below the other where there is no room for that."""
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
