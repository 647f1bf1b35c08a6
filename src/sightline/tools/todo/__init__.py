"""The todo tool and its list."""

from sightline.tools.todo._list import PlannedPhase, PlannedTask, apply, ended, normalized, without
from sightline.tools.todo._markdown import from_markdown, to_markdown
from sightline.tools.todo._tool import TodoTool, phases_of, plan, reminder, set_phases, stored_phases

__all__ = [
    "PlannedPhase",
    "PlannedTask",
    "TodoTool",
    "apply",
    "ended",
    "from_markdown",
    "normalized",
    "phases_of",
    "plan",
    "reminder",
    "set_phases",
    "stored_phases",
    "to_markdown",
    "without",
]
