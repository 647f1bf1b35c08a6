"""What a person said, or what was said in the person's place.

A text longer than anybody types is told by its first rows. What was said in the person's place was said to the model:
one row tells of it. Unfolded, all of both is there.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptMessage
from sightline.tty import expand_tabs, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._gradual import GradualBlock, wrapped_lazily
from sightline.views.console.shapes._output import job_name
from sightline.views.console.shapes._shape import line_count, plural

_POINTER, _SPOKEN = "› ", "you: "
_MARK = "· "
FOLDED, _FEW = 10, 25
"""Rows that are shown of a long text, and up to how many it is not one."""
_HOW = {"steer": "steering", "follow_up": "queued"}
# Whoever observes the person's own words; any other source said something in the person's place.
_PERSON = frozenset(("", "person", "agent", "claude", "codex", "gemini", "opencode"))
_TODO, _REMINDER = "todo", "Automatic todo reminder"
# Marks for a model around what is said to it.
_tag = re.compile(r"<(/?)([a-z]+(?:-[a-z]+)+)>")
# What an artifact's name has before the name of the file it was: the session, and a number of its own.
_kept_as = re.compile(r"[a-z][a-z0-9]{5}-\d{1,9}-(?=.)")


class MessageBlock(GradualBlock):
    """The words, with what was attached to them below."""

    def __init__(self, message: TranscriptMessage, drawing: DrawingOptions) -> None:
        super().__init__(len(message.text), at_once=drawing.linear)
        self._message = message
        self._drawing = drawing

    def _look(self) -> tuple[object, ...]:
        return self._drawing.theme.name, self._drawing.unfolded

    @property
    def source(self) -> str:
        return self._message.text

    def _draw(self, width: int) -> Iterator[str]:
        message, linear, theme = self._message, self._drawing.linear, self._drawing.theme
        if not is_persons(message):
            return self._in_place(width)
        pointer = _SPOKEN if linear else _POINTER
        room = width - len(pointer)
        how = _HOW.get(message.how, "")
        below = [*self._attached(room), *([theme.style("dim", truncate(how, room))] if how else [])]
        indent = "" if linear else " " * len(pointer)
        return _beside(theme.style("muted", pointer), indent, self._said(room), below)

    def _said(self, width: int) -> Iterator[str]:
        theme, text = self._drawing.theme, clean_text(self._message.text)
        if self._drawing.unfolded or not _is_long(text, width):
            return (theme.style("strong", row) for row in wrapped_lazily(text, width))
        rows, left = _beginning(text, width)
        if self._message.left_out_lines:
            left += self._message.left_out_lines - 1  # the line that says so is none of them
        more = f"… {plural(left, 'more line')}" if left else "… more of this line"
        way = self._drawing.way_to("unfold")
        hint = truncate(f"{more} ({way})" if way else more, width)
        return iter([*(theme.style("strong", row) for row in rows), theme.style("muted", hint)])

    def _attached(self, width: int) -> list[str]:
        mark = "attached:" if self._drawing.linear else "+"
        names = [_name(url) for url in self._message.attachments]
        return [self._drawing.theme.style("muted", truncate(f"{mark} {name}", width)) for name in names]

    def _in_place(self, width: int) -> Iterator[str]:
        """Who said it and how that begins; unfolded, all of it."""
        theme, drawing = self._drawing.theme, self._drawing
        mark = "" if drawing.linear else _MARK
        room = width - len(mark)
        first, *rest = said_in_place(self._message)
        if rest and not drawing.unfolded:
            rows = iter([theme.style("dim", _with_more(first, len(rest), drawing.way_to("unfold"), room))])
        else:
            whole = wrapped_lazily("\n".join((first, *rest)), room)
            rows = (theme.style("dim", row) if row else "" for row in whole)
        return _beside(theme.style("dim", mark), " " * len(mark), rows, self._attached(room))


def _beside(mark: str, indent: str, rows: Iterable[str], below: Iterable[str]) -> Iterator[str]:
    """Rows with a mark before the first, and room for it before the others."""
    first = True
    for row in rows:
        yield mark + row if first else indent + row if row else ""
        first = False
    for row in below:
        yield indent + row if row else ""


def _is_long(text: str, width: int) -> bool:
    return next(islice(wrapped_lazily(text, width), _FEW, None), None) is not None


def _beginning(text: str, width: int) -> tuple[list[str], int]:
    """The first rows, and how many lines have none among them."""
    rows: list[str] = []
    begun = 0
    for line in text.split("\n", FOLDED)[:FOLDED]:
        if len(rows) == FOLDED:
            break
        rows += islice(wrapped_lazily(line, width), FOLDED - len(rows))
        begun += 1
    return rows, line_count(text) - begun


def is_persons(message: TranscriptMessage) -> bool:
    """Words of the person's own."""
    return message.source in _PERSON


def said_in_place(message: TranscriptMessage) -> list[str]:
    """The lines that were said in the person's place, without marks for a model; the first names who said them."""
    first, *rest = _without_tags(clean_text(message.text)).strip().split("\n")
    if message.source == _TODO:
        return [_REMINDER, first, *rest]
    if message.job:  # it names the job as the model does, by an id that no other session has
        first = first.replace(message.job, job_name(message.job))
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
    more = f"… {plural(count, 'more line')}" + (f" ({way})" if way else "")
    room = width - len(more) - 1
    return truncate(f"{truncate(expand_tabs(line), room)} {more}" if room > len(more) // 2 else line, width)


def _name(url: str) -> str:
    return _kept_as.sub("", clean_line(url.rpartition("/")[2]), count=1)
