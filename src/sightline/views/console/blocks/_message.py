"""Messages to the model: the user's own, those of other agents, and automatic ones (a todo reminder, the end of a job).

A long text is shown by its first rows, any other message by one row. Unfolded, all are shown whole.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptMessage
from sightline.tty import expand_tabs, truncate
from sightline.views._mail import mail_from
from sightline.views.console._agent_names import agent_role
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._gradual import GradualBlock, wrapped_lazily
from sightline.views.console.shapes._output import job_name
from sightline.views.console.shapes._shape import line_count, plural

_POINTER, _SPOKEN = "› ", "you: "
_MARK = "· "
FOLDED, _FEW = 10, 25
"""Rows that are shown of a long text, and how many make a text long."""
_HOW = {"steer": "steering", "follow_up": "queued"}
# Sources of the user's own messages; those of any other source are automatic.
_USER = frozenset(("", "person", "agent", "claude", "codex", "gemini", "opencode"))
_TODO, _REMINDER = "todo", "Automatic todo reminder"
# Marks for the model around an automatic text.
_tag = re.compile(r"<(/?)([a-z]+(?:-[a-z]+)+)>")
# What an artifact's name has before the original file name: the session and a number.
_artifact_prefix = re.compile(r"[a-z][a-z0-9]{5}-\d{1,9}-(?=.)")


class MessageBlock(GradualBlock):
    """The text, with the names of attachments below."""

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
        if not is_from_user(message):
            return self._automatic(width)
        pointer = _SPOKEN if linear else _POINTER
        room = width - len(pointer)
        how = _HOW.get(message.how, "")
        below = [*self._attached(room), *([theme.style("dim", truncate(how, room))] if how else [])]
        indent = "" if linear else " " * len(pointer)
        return _beside(theme.style("muted", pointer), indent, self._text(room), below)

    def _text(self, width: int) -> Iterator[str]:
        theme, text = self._drawing.theme, clean_text(self._message.text)
        if self._drawing.unfolded or not _is_long(text, width):
            return (theme.style("strong", row) for row in wrapped_lazily(text, width))
        rows, left = _beginning(text, width)
        if self._message.left_out_lines:
            left += self._message.left_out_lines - 1  # the line in their place is counted already
        more = f"… {plural(left, 'more line')}" if left else "… more of this line"
        way = self._drawing.way_to("unfold")
        hint = truncate(f"{more} ({way})" if way else more, width)
        return iter([*(theme.style("strong", row) for row in rows), theme.style("muted", hint)])

    def _attached(self, width: int) -> list[str]:
        mark = "attached:" if self._drawing.linear else "+"
        names = [_name(url) for url in self._message.attachments]
        return [self._drawing.theme.style("muted", truncate(f"{mark} {name}", width)) for name in names]

    def _automatic(self, width: int) -> Iterator[str]:
        """The source and the first line; unfolded, all lines. The mark of an agent's message has its colour."""
        theme, drawing = self._drawing.theme, self._drawing
        role = agent_role(self._message.sender) if self._message.sender else "dim"
        mark = "" if drawing.linear else _MARK
        room = width - len(mark)
        first, *rest = automatic_lines(self._message)
        if rest and not drawing.unfolded:
            rows = iter([theme.style("dim", _with_more(first, len(rest), drawing.way_to("unfold"), room))])
        else:
            whole = wrapped_lazily("\n".join((first, *rest)), room)
            rows = (theme.style("dim", row) if row else "" for row in whole)
        return _beside(theme.style(role, mark), " " * len(mark), rows, self._attached(room))


def _beside(mark: str, indent: str, rows: Iterable[str], below: Iterable[str]) -> Iterator[str]:
    """Rows with a mark before the first, and an indent before the others."""
    first = True
    for row in rows:
        yield mark + row if first else indent + row if row else ""
        first = False
    for row in below:
        yield indent + row if row else ""


def _is_long(text: str, width: int) -> bool:
    return next(islice(wrapped_lazily(text, width), _FEW, None), None) is not None


def _beginning(text: str, width: int) -> tuple[list[str], int]:
    """The first rows, and how many lines are not among them."""
    rows: list[str] = []
    begun = 0
    for line in text.split("\n", FOLDED)[:FOLDED]:
        if len(rows) == FOLDED:
            break
        rows += islice(wrapped_lazily(line, width), FOLDED - len(rows))
        begun += 1
    return rows, line_count(text) - begun


def is_from_user(message: TranscriptMessage) -> bool:
    return message.source in _USER


def automatic_lines(message: TranscriptMessage) -> list[str]:
    """The lines of an automatic message, without marks for the model; the first names its source."""
    first, *rest = _without_tags(clean_text(message.text)).strip().split("\n")
    if message.mail:
        return [f"{mail_from(message.mail, message.sender, message.reply_to)}: {first}", *rest]
    if message.source == _TODO:
        return [_REMINDER, first, *rest]
    if message.job:  # the text has the full id, which the model uses
        first = first.replace(message.job, job_name(message.job))
    return [f"{clean_line(message.source)}: {first}", *rest]


def _without_tags(text: str) -> str:
    """The text without tags that are opened and closed; any other tag is part of the text."""
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
    return _artifact_prefix.sub("", clean_line(url.rpartition("/")[2]), count=1)
