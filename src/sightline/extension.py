"""What an extension file needs. See docs/guide/extensions.md."""

from sightline.agent import Block, Call, Cancelled, NewArgs, Summary
from sightline.agent._extensions import Extension
from sightline.tools import Image, Need, Outcome, Tool, ToolContext, ToolError

__all__ = [
    "Block",
    "Call",
    "Cancelled",
    "Extension",
    "Image",
    "Need",
    "NewArgs",
    "Outcome",
    "Summary",
    "Tool",
    "ToolContext",
    "ToolError",
]
