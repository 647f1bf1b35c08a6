"""The whole todo list as a block of the transcript: every task, wrapped and not cut, with all its notes."""

from sightline.text import clean_line
from sightline.tools.todo import PlannedPhase, PlannedTask, from_markdown
from sightline.tty import measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import PageBlock
from sightline.views.console.shapes._todo import ROLES, SIGNS, SPOKEN

_NARROWEST = 16


class TodoPage(PageBlock):
    """Made of the list as Markdown, which is also what is copied."""

    def __init__(self, markdown: str, drawing: DrawingOptions) -> None:
        self._source = markdown
        self._phases = from_markdown(markdown)
        self._drawing = drawing

    def _key(self) -> tuple[object, ...]:
        return (self._drawing.theme.name,)

    def _draw(self, width: int) -> list[str]:
        rows = (row for phase in self._phases for row in self._phase(phase, max(width, _NARROWEST)))
        return [truncate(row, width) for row in rows]

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
