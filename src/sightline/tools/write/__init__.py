"""The write tool: whole files, archive entries, database rows, conflict resolutions."""

from sightline.tools.write._tool import WriteTool as WriteTool
