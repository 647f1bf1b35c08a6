"""`/todo`: the whole list as a block of the transcript, edited as Markdown, or hidden."""

import os
from typing import TYPE_CHECKING

from sightline.host import EditTodo
from sightline.text import clean_line
from sightline.tools.todo import PlannedPhase, PlannedTask, from_markdown
from sightline.tty import measure, truncate, wrap
from sightline.tty.components.editor import edit_externally
from sightline.views.console._desk import accepted, reply_data
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._external import NO_EDITOR, editor_command
from sightline.views.console.blocks._block import PageBlock
from sightline.views.console.shapes._todo import ROLES, SIGNS, SPOKEN

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_EMPTY = "# Todos\n\n- [ ] "
_NARROWEST = 16


async def open(console: "Console", args: str) -> None:
    if args in ("hide", "show"):
        _set_shown(console, args == "show")
        return
    reply = await accepted(console, EditTodo("") if args == "clear" else EditTodo())
    if reply is None:
        return
    text = str(reply_data(reply).get("markdown", ""))
    if args == "edit":
        await _edit(console, text or _EMPTY)
    elif text.strip():
        console.transcript.add_page(TodoPage(text, console.drawing))
    else:
        console.report("the todo list is empty", hint="/todo edit writes one")


def toggle(console: "Console", args: str) -> None:
    _set_shown(console, not console.todo.shown)


def _set_shown(console: "Console", shown: bool) -> None:
    console.todo.shown = shown
    console.redraw()


async def _edit(console: "Console", text: str) -> None:
    edited: str | None = None
    try:
        edited = edit_externally(text, editor_command(os.environ), lambda argv: console.run_program(list(argv)))
    except (OSError, ValueError) as error:
        console.report(f"there is no editor: {error}", "error", NO_EDITOR)
    else:
        if edited is None:
            console.report("the editor ended with an error; nothing was changed", "error", NO_EDITOR)
    if edited is not None and edited != text:
        await accepted(console, EditTodo(edited))


class TodoPage(PageBlock):
    """The whole list: every task, wrapped and not cut, with all its notes. Copied as the Markdown it is made of."""

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
