"""The todo panel: what is to be done, while something is. The task at hand is always in it."""

from collections.abc import Callable

from sightline.events import TodoTask
from sightline.text import clean_line
from sightline.transcript import Snapshot
from sightline.tty import Component, Rows, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.status._facts import Facts

_LOW = 20
"""Rows of a screen on which the list leaves the room to the conversation."""
MOST = 6
"""Tasks in sight."""
_SIGNS = {"completed": "✓", "abandoned": "–", "in_progress": "◌", "pending": "○"}
_ROLES = {"completed": "success", "abandoned": "dim", "in_progress": "accent", "pending": "muted"}


class TodoPanel(Component):
    """No rows when nothing is left to do. `shown` False: one row that says how far it is."""

    def __init__(self, drawing: DrawingOptions, state: Callable[[], Snapshot], height: Callable[[], int]) -> None:
        self._drawing = drawing
        self._state = state
        self._height = height
        self.shown = True
        self._made_of: object = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        tasks = Facts(self._state()).todo
        made_of = (width, self._whole, self._drawing.theme.name, tasks)
        if made_of != self._made_of:
            self._made_of = made_of
            self._rows = tuple(self._drawn(tasks, width)) if any(task.is_open for task in tasks) else ()
        return self._rows

    @property
    def _whole(self) -> bool:
        return self.shown and self._height() >= _LOW

    def invalidate(self) -> None:
        self._made_of = None

    def _drawn(self, tasks: list[TodoTask], width: int) -> list[str]:
        theme = self._drawing.theme
        done = sum(task.status == "completed" for task in tasks)
        at = next((n for n, task in enumerate(tasks) if task.status == "in_progress"), 0)
        head = f"todo {done}/{len(tasks)}"
        if not self._whole:
            head += f" · {clean_line(tasks[at].text)}"
        rows = [theme.style("title", truncate(head, width))]
        if self._whole:
            top = max(0, min(at - 1, len(tasks) - MOST))
            rows += [self._task(task, width) for task in tasks[top : top + MOST]]
            if len(tasks) > MOST:
                rows.append(theme.style("dim", truncate(f"  … {len(tasks) - MOST} more: /todo", width)))
        return rows

    def _task(self, task: TodoTask, width: int) -> str:
        sign, role = _SIGNS.get(task.status, "·"), _ROLES.get(task.status, "muted")
        text = truncate(clean_line(task.text), max(1, width - 4))
        words = "text" if task.status == "in_progress" else "muted"
        return f"  {self._drawing.theme.style(role, sign)} {self._drawing.theme.style(words, text)}"
