"""The base of shapes: how the body of a call is drawn. A shape is chosen by a call's data, never by its tool's name.

Rules:

- A shape reads the call it was made for whenever it draws: the fold changes it in place.
- It draws at most `room` rows. Where something is left out, a row shows how much, and the key that shows the rest.
- Details, arguments and output are untrusted. A guard that does not find what its shape needs returns None, and the
  next one is tried.
- Text of `details` came through an event, so that nothing in it drives a terminal; line breaks and tabs are up to the
  shape.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, takewhile
from typing import Generic, NamedTuple, Protocol, TypeVar

from sightline.events import DiffFact, FilesFact, SearchFact, TextFact, ui_fact
from sightline.text import clean_line, clean_text, cut_graphemes, first_line
from sightline.transcript import TranscriptCall
from sightline.tty import Rows, Theme, expand_tabs, measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions

FAILED_ROWS = 20
"""Rows of a failed call that are shown even folded."""
Fact = TypeVar("Fact")


class ShapeBody(NamedTuple):
    """The rows below a call's header."""

    rows: Sequence[str] = ()
    from_end: bool = False
    """Where not all rows can be shown at once, the last are."""


class LaidOutText(Protocol):
    """A component that lays out a text: code, Markdown."""

    @property
    def text(self) -> str: ...

    def finish(self) -> None: ...

    def render(self, width: int) -> Rows: ...


class Shape:
    """One way to draw a call."""

    folded = 10
    unfolded = 200
    """Maximum rows of the body."""

    title_rows = (3, 40)
    """Maximum rows of the title, folded and unfolded."""

    gutter = False
    """Draw a thin line beside the body: it is the output of another program."""

    _laid_out: LaidOutText | None = None

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self.call = call
        self.drawing = drawing

    @property
    def label(self) -> str:
        """The text before the title: the name of the tool."""
        return clean_line(self.call.name)

    @property
    def title(self) -> str:
        """The subject of the call, in one line or a few."""
        return subject_of(self.call, self.drawing.cwd)

    @property
    def suffix(self) -> str:
        """The outcome, in a few words."""
        return ""

    @property
    def behind(self) -> bool:
        """More is to be revealed by later frames, without a change of the call."""
        return False

    @property
    def source(self) -> str:
        """The text that is copied."""
        return self.call.content if self.call.content is not None else self.call.output

    def body(self, width: int) -> ShapeBody:
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Maximum rows of the body as the call is now."""
        failed = self.call.is_error and self.call.content is not None
        return max(self.most, FAILED_ROWS) if failed else self.most

    @property
    def most(self) -> int:
        """Maximum rows or items, folded or unfolded."""
        return self.unfolded if self.drawing.unfolded else self.folded

    def more(self, count: int, what: str, width: int) -> str:
        """The row that counts what is left out, with the key that shows it. A line of which a part is shown is left
        out."""
        return self._hint(f"… {count:,} more {what}{'' if count == 1 else 's'}", "view_output", width)

    def more_items(self, count: int, width: int) -> str:
        """The same for a list of which more is shown unfolded."""
        return self._hint(f"… {count} more …", "view_output" if self.drawing.unfolded else "unfold", width)

    def _hint(self, words: str, action: str, width: int) -> str:
        way = self.drawing.way_to(action)
        text = f"{words} ({way})" if way else words
        return self.drawing.theme.style("muted", truncate(text if measure(text) <= width else words, width))

    def first_of(self, rows: Sequence[str], width: int, *, what: str = "line", undrawn: int = 0) -> ShapeBody:
        """The first rows, and how many more there are; `undrawn` of them are not among `rows`."""
        room = self.room
        if len(rows) <= room:
            return ShapeBody(rows)
        return ShapeBody([*rows[: room - 1], self.more(max(len(rows) - room + 1 + undrawn, 1), what, width)])

    def beginning(self, text: str, width: int, draw: Callable[[str], Sequence[str]]) -> ShapeBody:
        """The rows of a text's first lines. Lines that cannot be shown are not drawn."""
        room = self.room
        lines = clipped_lines(text, room + 1)
        rows = draw("\n".join(lines))
        left = line_count(text) - len(lines)
        if left <= 0 and len(rows) <= room:
            return ShapeBody(rows)
        shown = rows[: room - 1]
        whole = whole_lines((wrapped(line, width) for line in lines), len(shown))
        return ShapeBody([*shown, self.more(max(left + len(lines) - whole, 1), "line", width)])

    def laid_out(self, text: str, width: int, make: Callable[[str], LaidOutText]) -> ShapeBody:
        """The first lines of a text in a component, which is made once for each text."""

        def draw(shown: str) -> Rows:
            if self._laid_out is None or self._laid_out.text != shown:
                self._laid_out = make(shown)
                self._laid_out.finish()
            return self._laid_out.render(width)

        return self.beginning(text, width, draw)

    def text_rows(self, text: str, width: int, role: str = "") -> ShapeBody:
        """The first lines of a text, wrapped."""

        def draw(shown: str) -> list[str]:
            rows = [row for line in shown.split("\n") for row in wrapped(line, width)] if shown else []
            return styled(self.drawing.theme, role, rows) if role else rows

        return self.beginning(text, width, draw)


class FactShape(Shape, Generic[Fact]):
    """A shape of a typed value that was found in the call."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: Fact) -> None:
        super().__init__(call, drawing)
        self._fact = fact


_LONGEST_LINE = 4000


def clipped_lines(text: str, count: int) -> list[str]:
    """The first lines of a text, each cut at `_LONGEST_LINE`."""
    lines = text.split("\n", count)
    if len(lines) > count or (lines and not lines[-1]):
        lines.pop()
    return [clean_text(line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…") for line in lines]


def line_count(text: str) -> int:
    return text.count("\n", 0, len(text) - text.endswith("\n")) + 1 if text else 0


def whole_lines(wrapped_lines: Iterable[Sequence[str]], shown: int) -> int:
    """Of lines that take several rows each, how many are whole in so many rows."""
    ends = accumulate(map(len, wrapped_lines))
    return sum(1 for _ in takewhile(lambda end: end <= shown, ends))


def wrapped(line: str, width: int) -> list[str]:
    return wrap(expand_tabs(line), width) or [""]


def short(text: str, most: int) -> str:
    """The first line that is not empty, cut to `most` characters."""
    return cut_graphemes(clean_line(first_line(text)[: 8 * most]), most)


def record(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def text_in(values: dict[str, object], *names: str) -> str:
    """The first of these fields that is a text and not empty."""
    return next((found for name in names if isinstance(found := values.get(name), str) and found), "")


def displayed(fact: TextFact | SearchFact | FilesFact, call: TranscriptCall) -> str:
    """The text a tool made for views; else the result the model reads."""
    shown = fact.displayed if isinstance(fact, TextFact) else fact.display_content
    return call.content or "" if shown is None else shown


PATHS = ("path", "file_path", "filePath", "notebook_path", "absolute_path", "file")
OLD_TEXT = ("old_string", "oldString", "old_text", "old_str")
NEW_TEXT = ("new_string", "newString", "new_text", "new_str")
FILE_TEXT = ("content", "contents", "file_text", "text")
COMMANDS = ("command", "cmd", "script")
_SKILLS = "skill://"
_SUBJECTS = (*PATHS, "pattern", "query", "url", "description", "title", "subject", "task", "prompt", "name")


def subject_of(call: TranscriptCall, cwd: str) -> str:
    """What a call works on: a path, a pattern, an address, or the argument its `tool_use` names."""
    fact = ui_fact(call.details)
    path = fact.path if isinstance(fact, TextFact | DiffFact) else text_in(record(call.details), "path")
    found = path or text_in(record(call.args), *_SUBJECTS) or call.arg
    if found.startswith(_SKILLS):  # its name, as every view shows it
        found = call.arg or found
    return near(short(found, 500), cwd)


def near(path: str, cwd: str) -> str:
    """The path relative to the working folder, if it is below it."""
    folder = cwd.rstrip("/") + "/"
    return path[len(folder) :] if len(folder) > 1 and path.startswith(folder) and path != folder else path


def plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def seconds_words(seconds: float) -> str:
    """A duration, in its two largest units."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def indented(rows: Iterable[str], by: str = "  ") -> list[str]:
    return [by + row if row else "" for row in rows]


def styled(theme: Theme, role: str, rows: Iterable[str]) -> list[str]:
    return [theme.style(role, row) if row else "" for row in rows]
