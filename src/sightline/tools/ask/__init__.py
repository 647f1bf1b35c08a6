"""The ask tool."""

from sightline.tools.ask._tool import AskTool

__all__ = ["AskTool"]
