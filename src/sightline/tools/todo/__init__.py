"""The list of what is to be done."""

from sightline.tools.todo._list import PlannedPhase, PlannedTask, apply, ended, normalized, without
from sightline.tools.todo._markdown import from_markdown, to_markdown
from sightline.tools.todo._tool import TodoTool, kept_phases, phases_of, plan, reminder, set_phases

__all__ = [
    "PlannedPhase",
    "PlannedTask",
    "TodoTool",
    "apply",
    "ended",
    "from_markdown",
    "kept_phases",
    "normalized",
    "phases_of",
    "plan",
    "reminder",
    "set_phases",
    "to_markdown",
    "without",
]
