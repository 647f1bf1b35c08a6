"""Reading: files, folders, archives, databases, notebooks, documents, images, web pages and internal resources."""

from sightline.tools.read._tool import ReadTool as ReadTool
