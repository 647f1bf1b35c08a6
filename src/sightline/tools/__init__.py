"""What the agent can do: one module or small package per tool, and what they have in common."""

from sightline.tools._context import ArtifactShelf, History, Restored, ToolContext, Workplace
from sightline.tools._file_lock import remove_leftovers
from sightline.tools._registry import Tools, builtin_tools, parameters
from sightline.tools._running import RunningCommand
from sightline.tools._schema import schema_of
from sightline.tools._tool import (
    Access,
    Answer,
    Choice,
    Image,
    Load,
    Need,
    Outcome,
    Proposal,
    Question,
    Tool,
    ToolError,
    is_inside,
)
from sightline.tools._truncation import cutting

__all__ = [
    "Access",
    "Answer",
    "ArtifactShelf",
    "Choice",
    "History",
    "Image",
    "Load",
    "Need",
    "Outcome",
    "Proposal",
    "Question",
    "Restored",
    "RunningCommand",
    "Tool",
    "ToolContext",
    "ToolError",
    "Tools",
    "Workplace",
    "builtin_tools",
    "cutting",
    "is_inside",
    "parameters",
    "remove_leftovers",
    "schema_of",
]
