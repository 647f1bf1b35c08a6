"""The find tool: paths by glob."""

from sightline.tools.find._tool import FindParams, FindTool

__all__ = ["FindParams", "FindTool"]
