"""The search tool: file contents by regular expression."""

from sightline.tools.search._tool import SearchParams, SearchTool

__all__ = ["SearchParams", "SearchTool"]
