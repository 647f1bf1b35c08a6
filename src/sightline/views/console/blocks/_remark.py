"""A notice, an error, or a line nobody could read."""

from sightline.text import clean_text
from sightline.transcript import Remark
from sightline.tty import Rows, expand_tabs, wrap
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block

_MARKS = {"info": ("· ", "info"), "warning": ("! ", "warning"), "error": ("✕ ", "error"), "fatal": ("✕ ", "error")}
_UNKNOWN = ("? ", "muted")
_SPOKEN = {"· ": "", "! ": "warning: ", "✕ ": "error: ", "? ": "unreadable: "}
_HINT = "hint: "


class RemarkBlock(Block):
    """What was said, and below it what to do about it."""

    def __init__(self, remark: Remark, drawing: Drawing) -> None:
        self._remark = remark
        self._drawing = drawing
        self._made_of: tuple[int, str] | None = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        made_of = (width, self._drawing.theme.name)
        if made_of != self._made_of:
            self._made_of, self._rows = made_of, tuple(self._draw(max(width, 4)))
        return self._rows

    def invalidate(self) -> None:
        self._made_of, self._rows = None, ()

    @property
    def done(self) -> bool:
        return True

    @property
    def source(self) -> str:
        remark = self._remark
        return f"{remark.text}\n{_HINT}{remark.hint}" if remark.hint else remark.text

    def _draw(self, width: int) -> list[str]:
        theme, remark = self._drawing.theme, self._remark
        mark, role = mark_of(remark, spoken=self._drawing.linear)
        said = wrap(expand_tabs(clean_text(remark.text)), width - len(mark)) or [""]
        indent = "" if self._drawing.linear else " " * len(mark)
        rows = [theme.style(role, (mark if not index else indent) + row) for index, row in enumerate(said)]
        if remark.hint:
            hint = wrap(expand_tabs(clean_text(_HINT + remark.hint)), width - len(mark))
            rows += [indent + theme.style("hint", row) for row in hint]
        return rows


def mark_of(remark: Remark, *, spoken: bool) -> tuple[str, str]:
    """What stands before it, with the blank after that, and the role of both."""
    mark, role = _MARKS.get(remark.level, _UNKNOWN)
    return (_SPOKEN[mark] if spoken else mark), role
