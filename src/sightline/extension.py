"""What an extension file needs, and a program with tools of its own. See docs/guide/extensions.md."""

from sightline.agent import Block, Call, Cancelled, NewArgs, Summary
from sightline.agent._extensions import Extension
from sightline.exec import CommandSpec
from sightline.tools import Answer, Choice, Image, Need, Outcome, Question, Tool, ToolContext, ToolError

__all__ = [
    "Answer",
    "Block",
    "Call",
    "Cancelled",
    "Choice",
    "CommandSpec",
    "Extension",
    "Image",
    "Need",
    "NewArgs",
    "Outcome",
    "Question",
    "Summary",
    "Tool",
    "ToolContext",
    "ToolError",
]
