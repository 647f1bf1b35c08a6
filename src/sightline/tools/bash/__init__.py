"""Running commands."""

from sightline.tools.bash._tool import BashTool

__all__ = ["BashTool"]
