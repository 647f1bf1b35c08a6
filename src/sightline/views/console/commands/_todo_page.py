"""The whole todo list as a block of the transcript: every task, wrapped and not cut, with all its notes."""

from sightline.text import clean_line
from sightline.tools.todo import PlannedPhase, PlannedTask, from_markdown
from sightline.tty import Rows, measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.shapes._todo import ROLES, SIGNS, SPOKEN

_NARROWEST = 16


class TodoPage(TranscriptBlock):
    """Made of the list as Markdown, which is also what is copied."""

    def __init__(self, markdown: str, drawing: DrawingOptions) -> None:
        self._source = markdown
        self._phases = from_markdown(markdown)
        self._drawing = drawing
        self._made_of: tuple[int, str] | None = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        made_of = (width, self._drawing.theme.name)
        if made_of != self._made_of:
            self._made_of = made_of
            rows = (row for phase in self._phases for row in self._phase(phase, max(width, _NARROWEST)))
            self._rows = tuple(truncate(row, width) for row in rows)
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None

    @property
    def done(self) -> bool:
        return True

    @property
    def source(self) -> str:
        return self._source

    def _phase(self, phase: PlannedPhase, width: int) -> list[str]:
        rows = [self._drawing.theme.style("strong", row) for row in wrap(clean_line(phase.name), width)]
        return rows + [row for task in phase.tasks for row in self._task(task, width)]

    def _task(self, task: PlannedTask, width: int) -> list[str]:
        theme = self._drawing.theme
        sign = (SPOKEN if self._drawing.linear else SIGNS)[task.status]
        indent = " " * (measure(sign) + 1)
        first, *others = wrap(clean_line(task.content), width - len(indent))
        rows = [f"{theme.style(ROLES[task.status], sign)} {first}", *(indent + row for row in others)]
        for note in task.notes:
            lines = (line for part in note.split("\n") for line in wrap(clean_line(part), width - 4))
            rows += [f"  {theme.style('muted', f'> {line}')}" for line in lines]
        return rows
