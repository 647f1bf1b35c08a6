"""What a person said, or what was said in the person's place."""

from sightline.text import clean_line, clean_text
from sightline.transcript import Message
from sightline.tty import Rows, expand_tabs, truncate, wrap
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block

_POINTER = "› "
_HOW = {"steer": "said while it worked", "follow_up": "said for afterwards"}


class MessageBlock(Block):
    """The words, with what was attached to them below."""

    def __init__(self, message: Message, drawing: Drawing) -> None:
        self._message = message
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
        return self._message.text

    def _draw(self, width: int) -> list[str]:
        theme, message = self._drawing.theme, self._message
        indent = " " * len(_POINTER)
        rows = wrap(expand_tabs(clean_text(message.text)), width - len(_POINTER)) or [""]
        drawn = [indent + theme.style("strong", row) if row else "" for row in rows]
        drawn[0] = theme.style("accent", _POINTER) + theme.style("strong", rows[0])
        said = [clean_line(name.rpartition("/")[2]) for name in message.attachments]
        drawn += [indent + theme.style("muted", truncate(f"+ {name}", width - len(_POINTER))) for name in said]
        how = clean_line(message.source) or _HOW.get(message.how, "")
        if how:
            drawn.append(indent + theme.style("dim", truncate(how, width - len(_POINTER))))
        return drawn
