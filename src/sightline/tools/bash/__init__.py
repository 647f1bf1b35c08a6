"""Running commands."""

from sightline.tools.bash._tool import BashTool as BashTool
