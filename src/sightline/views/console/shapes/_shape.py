"""What the body of a call is drawn as: a shape, found in what the call carries and never in its tool's name.

Rules:

- A shape reads the call it was made for whenever it draws: the fold changes it in place.
- It draws at most as many rows as it is given room for. A row says what is left out, and how one gets to see it.
- Details, arguments and output are untrusted. A shape that does not find what it needs does not apply: the guard that
  looks for it gives None, and the next one is tried.
- Text of `details` came through an event, so that nothing in it drives a terminal; line breaks and tabs are the
  shape's own business.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from sightline.events import DiffFact, FilesFact, SearchFact, TextFact, ui_fact
from sightline.text import clean_line, clean_text, cut_graphemes, first_line
from sightline.transcript import TranscriptCall
from sightline.tty import Theme, expand_tabs, measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions

FAILED_ROWS = 20
"""What went wrong is not folded away: so many rows of it are always shown."""


class ShapeBody(NamedTuple):
    """Rows of at most the width asked for."""

    rows: Sequence[str] = ()
    from_end: bool = False
    """What counts is the end: where not all rows can be shown at once, the last are."""


class Shape:
    """One way to draw a call."""

    folded = 10
    unfolded = 200
    """Rows at most, as the person wants it."""

    title_rows = (3, 40)
    """Rows of the title at most, folded and unfolded."""

    gutter = False
    """A thin line stands beside the body: it is what something else wrote."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self.call = call
        self.drawing = drawing

    @property
    def label(self) -> str:
        """What stands before the title: the name of what was called."""
        return clean_line(self.call.name)

    @property
    def title(self) -> str:
        """What it is about, in one line or a few."""
        return telling(self.call, self.drawing.cwd)

    @property
    def suffix(self) -> str:
        """What came of it, in a few words."""
        return ""

    @property
    def behind(self) -> bool:
        """There is more to show than was shown, without anything else happening."""
        return False

    @property
    def source(self) -> str:
        """For copying."""
        return self.call.content if self.call.content is not None else self.call.output

    def body(self, width: int) -> ShapeBody:
        raise NotImplementedError

    @property
    def room(self) -> int:
        """How many rows the body may take now."""
        most = self.unfolded if self.drawing.unfolded else self.folded
        failed = self.call.is_error and self.call.content is not None
        return max(most, FAILED_ROWS) if failed else most

    def more(self, count: int, what: str, width: int) -> str:
        """The row that says how much is left out and how to see it."""
        return self._hint(f"… {count:,} more {what}{'' if count == 1 else 's'}", "view_output", width)

    def more_items(self, count: int, width: int) -> str:
        """The same for a list of which more is shown unfolded."""
        return self._hint(f"… {count} more …", "view_output" if self.drawing.unfolded else "unfold", width)

    def _hint(self, words: str, action: str, width: int) -> str:
        way = self.drawing.way_to(action)
        text = f"{words} ({way})" if way else words
        return self.drawing.theme.style("muted", truncate(text if measure(text) <= width else words, width))

    def first_of(self, rows: Sequence[str], width: int) -> ShapeBody:
        """The first rows, and how many more there are."""
        room = self.room
        if len(rows) <= room:
            return ShapeBody(rows)
        return ShapeBody([*rows[: room - 1], self.more(len(rows) - room + 1, "line", width)])

    def beginning(self, text: str, width: int, draw: Callable[[str], Sequence[str]]) -> ShapeBody:
        """What is drawn of the first lines of a text; those that cannot be seen are not drawn."""
        room = self.room
        lines = clipped_lines(text, room + 1)
        rows = draw("\n".join(lines))
        left = line_count(text) - len(lines)
        if left <= 0 and len(rows) <= room:
            return ShapeBody(rows)
        shown = rows[: room - 1]
        return ShapeBody([*shown, self.more(max(left + len(lines) - len(shown), 1), "line", width)])

    def text_rows(self, text: str, width: int, role: str = "") -> ShapeBody:
        """The first lines of a text; more of it than can be shown is not even looked at."""

        def draw(shown: str) -> list[str]:
            rows = [row for line in shown.split("\n") for row in wrapped(line, width)] if shown else []
            return styled(self.drawing.theme, role, rows) if role else rows

        return self.beginning(text, width, draw)


_LONGEST_LINE = 4000


def clipped_lines(text: str, count: int) -> list[str]:
    """The first lines of a text, of each no more than anyone would read here."""
    lines = text.split("\n", count)
    if len(lines) > count or (lines and not lines[-1]):
        lines.pop()
    return [clean_text(line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…") for line in lines]


def line_count(text: str) -> int:
    return text.count("\n", 0, len(text) - text.endswith("\n")) + 1 if text else 0


def wrapped(line: str, width: int) -> list[str]:
    return wrap(expand_tabs(line), width) or [""]


def short(text: str, most: int) -> str:
    """The first line that says something, cut to so many characters."""
    return cut_graphemes(clean_line(first_line(text)[: 8 * most]), most)


def record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def details_of(call: TranscriptCall) -> dict[str, Any]:
    return record(call.details)


def texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text_in(values: dict[str, Any], *names: str) -> str:
    """The first of these fields that holds a text with something in it."""
    return next((found for name in names if isinstance(found := values.get(name), str) and found), "")


def displayed(fact: TextFact | SearchFact | FilesFact, call: TranscriptCall) -> str:
    """The text a tool puts aside for views; else what the model was told."""
    shown = fact.displayed if isinstance(fact, TextFact) else fact.display_content
    return call.content or "" if shown is None else shown


PATHS = ("path", "file_path", "filePath", "notebook_path", "absolute_path", "file")
_TELLING = (*PATHS, "pattern", "query", "url", "description", "title", "subject", "task", "prompt", "name")


def telling(call: TranscriptCall, cwd: str) -> str:
    """What a call is about: a path, a pattern, an address, or what its marker says."""
    fact = ui_fact(call.details)
    path = fact.path if isinstance(fact, TextFact | DiffFact) else text_in(details_of(call), "path")
    found = path or text_in(record(call.args), *_TELLING) or call.arg
    return near(short(found, 500), cwd)


def near(path: str, cwd: str) -> str:
    """A path below the working folder without the folder."""
    folder = cwd.rstrip("/") + "/"
    return path[len(folder) :] if len(folder) > 1 and path.startswith(folder) and path != folder else path


def plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def seconds_words(seconds: float) -> str:
    """A time as one reads it beside something that runs."""
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
