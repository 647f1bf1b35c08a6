"""Web pages for the read tool: fetched with care, shown as text, cached for further reads."""

from sightline.tools._context import ToolContext
from sightline.tools._tool import Outcome
from sightline.tools.web._address import is_web_url, needs_of

__all__ = ["is_web_url", "needs_of", "read_url"]


async def read_url(path: str, context: ToolContext) -> Outcome:
    """A web address and, at its end, a line selector. ToolError when there is no answer at all."""
    from sightline.tools.web._read import read

    return await read(path, context)
