"""The edit tool: changes to files, written in the hashline language."""

from sightline.tools.edit._tool import EditTool as EditTool
