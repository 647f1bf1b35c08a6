"""A tool call and its result: one block."""

from sightline.text import clean_line, clean_text
from sightline.transcript import Call
from sightline.tty import Rows, Scrollback, expand_tabs, truncate
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block

_SIGNS = {"running": ("◌", "accent"), "ok": ("✓", "success"), "error": ("✕", "error")}
_FOLDED = 10


class CallBlock(Block, Scrollback):
    """Header and body."""

    def __init__(self, call: Call, drawing: Drawing) -> None:
        self._call = call
        self._drawing = drawing
        self._closed = False
        self._made_of: object = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        call, drawing = self._call, self._drawing
        made_of = (width, drawing.theme.name, drawing.unfolded, call.updates, call.content is None, len(call.written))
        if made_of != self._made_of:
            self._made_of, self._rows = made_of, tuple(self._draw(max(width, 4)))
        return self._rows

    def invalidate(self) -> None:
        self._made_of, self._rows = None, ()

    def live_from(self) -> int | None:
        return 0

    @property
    def done(self) -> bool:
        return self._call.content is not None or self._closed

    def close(self) -> None:
        self._closed = True

    @property
    def ticks(self) -> bool:
        return not self.done

    @property
    def source(self) -> str:
        return self._call.output or self._call.content or ""

    def _draw(self, width: int) -> list[str]:
        call, theme = self._call, self._drawing.theme
        state = "running" if call.content is None else "error" if call.is_error else "ok"
        sign, role = _SIGNS[state]
        title = truncate(f"{clean_line(call.name)} {clean_line(call.arg)}".rstrip(), width - 2)
        rows = [f"{theme.style(role, sign)} {title}"]
        text = call.output or call.content or ""
        lines = expand_tabs(clean_text(text)).rstrip("\n").split("\n") if text else []
        return rows + ["  " + truncate(line, width - 2) for line in lines[-_FOLDED:]]
