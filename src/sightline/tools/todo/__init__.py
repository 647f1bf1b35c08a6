"""The list of what is to be done."""

from sightline.tools.todo._list import Phase, Task, apply, normalized
from sightline.tools.todo._markdown import from_markdown, to_markdown
from sightline.tools.todo._tool import TodoTool, phases_of, reminder

__all__ = [
    "Phase",
    "Task",
    "TodoTool",
    "apply",
    "from_markdown",
    "normalized",
    "phases_of",
    "reminder",
    "to_markdown",
]
