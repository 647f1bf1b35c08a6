"""A call whose arguments the model is still writing, growing at its end.

The text of a file, a command or code grows as code, a replacement as a diff. A few lines are revealed each frame, more
when much is waiting, so that text flows however it arrives.
"""

from sightline.text import clean_text
from sightline.transcript import TranscriptCall
from sightline.tty import expand_tabs
from sightline.tty.components import Code
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._diff import replacing
from sightline.views.console.shapes._document import language_of
from sightline.views.console.shapes._partial import Growing, Partial
from sightline.views.console.shapes._shape import (
    COMMANDS,
    NEW_TEXT,
    OLD_TEXT,
    PATHS,
    Shape,
    ShapeBody,
    near,
    plural,
    short,
    styled,
    wrapped,
)

_LINES_A_FRAME = 4
_SHARE = 4  # a frame reveals at least this part of what waits
_MOST_A_FRAME = 40  # lines: more take longer to draw than a key may wait
_HELD = 60  # rows of growing code
_TEXTS = ("content", "contents", "file_text", "code", "input", "patch", "diff", "new_string", "newString", "text")
_TITLES = (*PATHS, "pattern", "query", "url", "description", "title", "task")


class WritingShape(Shape):
    folded, unfolded = 10, 40

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        super().__init__(call, drawing)
        self._partial = Partial()
        self._code: Code | None = None
        self._code_of = ""
        self._revealed = 0
        self._waiting = ""

    @property
    def label(self) -> str:
        self._partial.read(self.call.written)
        return "$" if self._command() else super().label

    @property
    def title(self) -> str:
        self._partial.read(self.call.written)
        command = self._command()
        if command:
            return expand_tabs(clean_text(command.text))
        found = next((field.text for name in _TITLES if (field := self._field(name)) and field.text), "")
        return near(short(found, 500), self.drawing.cwd)

    @property
    def suffix(self) -> str:
        return "preparing"

    @property
    def behind(self) -> bool:
        return bool(self._waiting)

    @property
    def source(self) -> str:
        return self.call.written

    def body(self, width: int) -> ShapeBody:
        self._partial.read(self.call.written)
        old = self._field(*OLD_TEXT)
        if old is not None:
            return self._replacement(old, self._field(*NEW_TEXT), width)
        name = next((name for name in _TEXTS if name in self._partial.fields), "")
        return self._grown(name, self._partial.fields[name], width) if name else ShapeBody()

    def _command(self) -> Growing | None:
        return self._field(*COMMANDS)

    def _field(self, *names: str) -> Growing | None:
        """The first of these fields that was begun."""
        return next((self._partial.fields[name] for name in names if name in self._partial.fields), None)

    def _grown(self, name: str, growing: Growing, width: int) -> ShapeBody:
        """Lines of code; rows that are no longer shown are dropped."""
        if self._code is None or self._code_of != name:
            language = {"code": "python", "patch": "diff", "diff": "diff"}.get(name) or language_of(self.title)
            self._code, self._code_of = Code("", language, theme=self.drawing.theme), name
            self._revealed, self._waiting = 0, ""
        text = growing.text
        self._waiting += text[self._revealed :]
        self._revealed = len(text)
        now, self._waiting = _portion(self._waiting)
        self._code.append(clean_text(now))
        rows = self._code.render(width)
        if len(rows) > 2 * _HELD:
            self._code.release(len(rows) - _HELD)
            rows = self._code.render(width)
        return self._end_of(list(rows), text.count("\n"), width)

    def _replacement(self, old: Growing, new: Growing | None, width: int) -> ShapeBody:
        theme = self.drawing.theme
        lines = replacing(clean_text(old.text), clean_text(new.text) if new else "").split("\n")[-_HELD:]
        rows: list[str] = []
        for line in lines:
            role = "diff_added" if line.startswith("+") else "diff_removed"
            rows += styled(theme, role, wrapped(line[:1] + " " + line[1:], width))
        return self._end_of(rows, len(lines), width)

    def _end_of(self, rows: list[str], lines: int, width: int) -> ShapeBody:
        room = self.room
        if len(rows) <= room and lines <= len(rows):
            return ShapeBody(rows, from_end=True)
        shown = rows[-(room - 1) :]
        above = f"… {plural(max(lines + 1 - len(shown), 1), 'line')} above"
        return ShapeBody([self.drawing.theme.style("muted", above), *shown], from_end=True)


def _portion(waiting: str) -> tuple[str, str]:
    """The text that is revealed now, and the rest. The last line, which still grows, is not held back."""
    lines = waiting.split("\n")
    count = min(max(_LINES_A_FRAME, len(lines) // _SHARE), _MOST_A_FRAME)
    if len(lines) <= count:
        return waiting, ""
    return "\n".join(lines[:count]) + "\n", "\n".join(lines[count:])


def writing(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of a call of which only the beginning of its arguments is there."""
    being_written = bool(call.written) and call.args is None and call.content is None
    return WritingShape(call, drawing) if being_written and not call.pieces else None
