"""What a person said, or what was said in the person's place.

What was said in the person's place was said to the model: one row tells of it, and the rest is there unfolded.
"""

import re

from sightline.text import clean_line, clean_text
from sightline.transcript import Message
from sightline.tty import Rows, expand_tabs, truncate, wrap
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block

_POINTER, _SPOKEN = "› ", "you: "
_MARK = "· "
_HOW = {"steer": "said while it worked", "follow_up": "said for afterwards"}
# Whoever observes the person's own words; any other source said something in the person's place.
_PERSON = frozenset(("", "person", "agent", "claude", "codex", "gemini", "opencode"))
# Marks for a model around what is said to it.
_tag = re.compile(r"<(/?)([a-z]+(?:-[a-z]+)+)>")
# What an artifact's name has before the name of the file it was: the session, and a number of its own.
_kept_as = re.compile(r"[a-z][a-z0-9]{5}-\d{1,9}-(?=.)")


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
        message, linear, theme = self._message, self._drawing.linear, self._drawing.theme
        if not is_persons(message):
            return self._in_place(width)
        pointer = _SPOKEN if linear else _POINTER
        room = width - len(pointer)
        rows = [*self._said(room), *self._attached(room)]
        how = _HOW.get(message.how, "")
        rows += [theme.style("dim", truncate(how, room))] if how else []
        indent = "" if linear else " " * len(pointer)
        return [theme.style("accent", pointer) + rows[0], *(indent + row if row else "" for row in rows[1:])]

    def _said(self, width: int) -> list[str]:
        rows = wrap(expand_tabs(clean_text(self._message.text)), width) or [""]
        return [self._drawing.theme.style("strong", row) for row in rows]

    def _attached(self, width: int) -> list[str]:
        mark = "attached:" if self._drawing.linear else "+"
        names = [_name(url) for url in self._message.attachments]
        return [self._drawing.theme.style("muted", truncate(f"{mark} {name}", width)) for name in names]

    def _in_place(self, width: int) -> list[str]:
        """Who said it and how that begins; unfolded, all of it."""
        theme, drawing = self._drawing.theme, self._drawing
        mark = "" if drawing.linear else _MARK
        room = width - len(mark)
        first, *rest = said_in_place(self._message)
        attached = self._attached(room)
        self._cut = bool(rest) and not drawing.unfolded
        if not self._cut:
            rows = [row for line in (first, *rest) for row in wrap(expand_tabs(line), room) or [""]]
            rows = [theme.style("dim", row) if row else "" for row in rows]
        else:
            rows = [theme.style("dim", _with_more(first, len(rest), drawing.way_to("unfold"), room))]
        indent = " " * len(mark)
        return [theme.style("dim", mark) + rows[0], *(indent + row if row else "" for row in [*rows[1:], *attached])]


def is_persons(message: Message) -> bool:
    """Words of the person's own."""
    return message.source in _PERSON


def said_in_place(message: Message) -> list[str]:
    """The lines that were said in the person's place, without marks for a model; the first names who said them."""
    first, *rest = _without_tags(clean_text(message.text)).strip().split("\n")
    return [f"{clean_line(message.source)}: {first}", *rest]


def _without_tags(text: str) -> str:
    """Without those that are opened and closed; any other is meant as it stands."""
    tags = _tag.findall(text)
    closed = {name for slash, name in tags if slash} & {name for slash, name in tags if not slash}
    if not closed:
        return text
    tag = rf"</?(?:{'|'.join(sorted(closed))})>"
    return re.sub(rf"^{tag}\n|{tag}", "", text, flags=re.MULTILINE)


def _with_more(line: str, count: int, way: str, width: int) -> str:
    """The line in one row, with how many more there are."""
    more = f"… {count:,} more line{'' if count == 1 else 's'}" + (f" ({way})" if way else "")
    room = width - len(more) - 1
    return truncate(f"{truncate(expand_tabs(line), room)} {more}" if room > len(more) // 2 else line, width)


def _name(url: str) -> str:
    return _kept_as.sub("", clean_line(url.rpartition("/")[2]), count=1)
