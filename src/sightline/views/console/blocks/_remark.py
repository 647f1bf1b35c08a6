"""A notice, an error, or a line that could not be read."""

from collections.abc import Iterator

from sightline.text import clean_text
from sightline.transcript import Remark
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._gradual import GradualBlock, wrapped_lazily

_MARKS = {"info": ("· ", "info"), "warning": ("! ", "warning"), "error": ("✕ ", "error"), "fatal": ("✕ ", "error")}
_UNKNOWN = ("? ", "muted")
_SPOKEN = {"· ": "", "! ": "warning: ", "✕ ": "error: ", "? ": "unreadable: "}
_HINT = "hint: "


class RemarkBlock(GradualBlock):
    """A message, and below it the hint."""

    def __init__(self, remark: Remark, drawing: DrawingOptions) -> None:
        super().__init__(len(remark.text) + len(remark.hint), at_once=drawing.linear)
        self._remark = remark
        self._drawing = drawing

    def _look(self) -> tuple[object, ...]:
        return (self._drawing.theme.name,)

    @property
    def source(self) -> str:
        remark = self._remark
        return f"{remark.text}\n{_HINT}{remark.hint}" if remark.hint else remark.text

    def _draw(self, width: int) -> Iterator[str]:
        theme, remark = self._drawing.theme, self._remark
        mark, role = mark_of(remark, spoken=self._drawing.linear)
        indent = "" if self._drawing.linear else " " * len(mark)
        before = mark
        for row in wrapped_lazily(clean_text(remark.text), width - len(mark)):
            yield theme.style(role, before + row)
            before = indent
        if remark.hint:
            for row in wrapped_lazily(clean_text(_HINT + remark.hint), width - len(mark)):
                yield indent + theme.style("hint", row)


def mark_of(remark: Remark, *, spoken: bool) -> tuple[str, str]:
    """The mark before a remark, with the space after it, and its role."""
    mark, role = _MARKS.get(remark.level, _UNKNOWN)
    return (_SPOKEN[mark] if spoken else mark), role
