"""What a person said, or what was said in the person's place."""

from sightline.text import clean_line, clean_text
from sightline.transcript import Message
from sightline.tty import Rows, expand_tabs, truncate, wrap
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block

_POINTER, _SPOKEN = "› ", "you: "
_HOW = {"steer": "said while it worked", "follow_up": "said for afterwards"}
# Whoever observes the person's own words; any other source said something in the person's place.
_PERSON = frozenset(("", "person", "agent", "claude", "codex", "gemini", "opencode"))
_FOLDED, _UNFOLDED = 3, 40


class MessageBlock(Block):
    """The words, with what was attached to them below."""

    def __init__(self, message: Message, drawing: Drawing) -> None:
        self._message = message
        self._drawing = drawing
        self._cut = False
        self._made_of: tuple[object, ...] | None = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        made_of = (width, self._drawing.theme.name, self._drawing.unfolded)
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

    @property
    def cut(self) -> bool:
        return self._cut

    def _draw(self, width: int) -> list[str]:
        message, pointer = self._message, _POINTER
        if self._drawing.linear:
            pointer = _SPOKEN if message.source in _PERSON else ""
        room = width - len(pointer)
        rows = self._said(room) if message.source in _PERSON else self._in_place(room)
        theme, indent = self._drawing.theme, " " * (0 if self._drawing.linear else len(pointer))
        attached = "attached:" if self._drawing.linear else "+"
        rows += [theme.style("muted", truncate(f"{attached} {name}", room)) for name in map(_name, message.attachments)]
        how = _HOW.get(message.how, "") if message.source in _PERSON else ""
        rows += [theme.style("dim", truncate(how, room))] if how else []
        return [theme.style("accent", pointer) + rows[0], *(indent + row if row else "" for row in rows[1:])]

    def _said(self, width: int) -> list[str]:
        rows = wrap(expand_tabs(clean_text(self._message.text)), width) or [""]
        return [self._drawing.theme.style("strong", row) for row in rows]

    def _in_place(self, width: int) -> list[str]:
        """Who said it, and the beginning of what was said: it was said to the model, and the person can look."""
        theme, drawing = self._drawing.theme, self._drawing
        most = _UNFOLDED if drawing.unfolded else _FOLDED
        text = clean_text(self._message.text).strip("\n")
        lines = text.split("\n", most)
        rows = [row for line in lines[:most] for row in wrap(expand_tabs(line), width) or [""]]
        self._cut = len(lines) > most or len(rows) > most
        shown = [theme.style("muted", row) for row in rows[:most]]
        if self._cut:
            way = "" if drawing.unfolded else drawing.way_to("unfold")
            shown.append(theme.style("dim", truncate(f"… more ({way})" if way else "… more", width)))
        return [theme.style("strong", truncate(clean_line(self._message.source), width)), *shown]


def _name(url: str) -> str:
    return clean_line(url.rpartition("/")[2])
