"""The search tool: file contents by regular expression."""

from sightline.tools.search._tool import SearchTool as SearchTool
