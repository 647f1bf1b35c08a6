"""The find tool: paths by glob."""

from sightline.tools.find._tool import FindTool as FindTool
