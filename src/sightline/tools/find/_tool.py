"""The find tool as a model sees it; its work is in `_work`, imported when a model looks for files."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, Outcome, Tool

MAX_LIMIT = 200


class FindParams(msgspec.Struct, frozen=True, kw_only=True):
    paths: Annotated[list[str], Meta(description="Globs, files or directories. *.py looks in every folder")]
    hidden: Annotated[bool, Meta(description="Also files whose names begin with a dot")] = True
    gitignore: Annotated[bool, Meta(description="Leave out what .gitignore names")] = True
    limit: Annotated[int | float, Meta(description="Paths at most, up to 200")] = MAX_LIMIT
    timeout: Annotated[int | float, Meta(description="Seconds, 0.5 to 60")] = 5


class FindTool(Tool[FindParams]):
    name = "find"
    description = (
        "Find files and directories by glob, the most recently changed first. Prefer it to find or ls in a shell; use "
        "search for what is in files."
    )
    params = FindParams
    confined = True

    def needs(self, params: FindParams, context: ToolContext) -> list[Need]:
        from sightline.tools.find._work import needs_of

        return needs_of(params.paths, context)

    def preview(self, params: FindParams) -> str:
        return ", ".join(params.paths)

    async def execute(self, params: FindParams, context: ToolContext) -> Outcome:
        from sightline.tools.find._work import find

        return await find(params, context)
