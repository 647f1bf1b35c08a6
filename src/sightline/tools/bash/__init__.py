"""Running commands."""

from sightline.tools.bash._tool import BashTool as BashTool
from sightline.tools.bash._tool import SeparateBash as SeparateBash
