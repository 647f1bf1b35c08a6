"""What the agent can do: one module or small package per tool, and what they have in common."""

from sightline.actors import RunningCommand
from sightline.tools._context import ArtifactShelf, Limits, StoredHistory, ToolContext, Workplace
from sightline.tools._registry import ToolRegistry, builtin_tools, parameters
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
from sightline.tools.files._file_lock import remove_leftovers

__all__ = [
    "Access",
    "Answer",
    "ArtifactShelf",
    "Choice",
    "Image",
    "Limits",
    "Load",
    "Need",
    "Outcome",
    "Proposal",
    "Question",
    "RunningCommand",
    "StoredHistory",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolRegistry",
    "Workplace",
    "builtin_tools",
    "cutting",
    "is_inside",
    "parameters",
    "remove_leftovers",
    "schema_of",
]
