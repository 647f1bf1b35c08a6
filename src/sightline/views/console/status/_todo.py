"""The todo panel, shown while a task is open. The task in progress is always in it."""

from collections.abc import Callable

from sightline.events import TodoTask
from sightline.text import clean_line
from sightline.transcript import Snapshot
from sightline.tty import CachedComponent, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._todo import ROLES, SIGNS
from sightline.views.console.status._facts import Facts

_LOW = 20
"""Rows of a screen that is too low for the list."""
MOST = 6
"""Tasks that are shown."""


class TodoPanel(CachedComponent):
    """No rows without an open task. `shown` False: one row with the progress."""

    def __init__(self, drawing: DrawingOptions, state: Callable[[], Snapshot], height: Callable[[], int]) -> None:
        self._drawing = drawing
        self._state = state
        self._height = height
        self.shown = True

    def _key(self) -> tuple[object, ...]:
        return self._whole, self._drawing.theme.name, Facts(self._state()).todo

    @property
    def _whole(self) -> bool:
        return self.shown and self._height() >= _LOW

    def _draw(self, width: int) -> list[str]:
        theme, tasks = self._drawing.theme, Facts(self._state()).todo
        if not any(task.is_open for task in tasks):
            return []
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
        sign, role = SIGNS.get(task.status, "·"), ROLES.get(task.status, "muted")
        text = truncate(clean_line(task.text), max(1, width - 4))
        words = "text" if task.status == "in_progress" else "muted"
        return f"  {self._drawing.theme.style(role, sign)} {self._drawing.theme.style(words, text)}"
