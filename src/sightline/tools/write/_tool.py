"""The write tool as a model sees it; its work is in `_work`, imported when a model writes."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, Outcome, Proposal, Tool


class WriteParams(msgspec.Struct, frozen=True):
    path: Annotated[
        str,
        Meta(
            description="file, archive.zip:path/inside, db.sqlite:table (insert), db.sqlite:table:key (update, delete),"
            " conflict://ID, conflict://* or local://NAME"
        ),
    ]
    content: Annotated[
        str,
        Meta(
            description="all of the new content; for a database row a JSON5 object, or nothing to delete the row; for a"
            " conflict its replacement, where a line @ours, @theirs, @base or @both stands for that side"
        ),
    ]


class WriteTool(Tool[WriteParams]):
    name = "write"
    description = (
        "Create a file or replace all of it; folders are made. Also archive entries, SQLite rows and merge conflicts. "
        "To change parts of a file use edit. Do not create documentation files unless asked to."
    )
    params = WriteParams
    exclusive = True
    confined = True

    def needs(self, params: WriteParams, context: ToolContext) -> list[Need]:
        from sightline.tools.write._work import needs_of

        return needs_of(params.path, context)

    def preview(self, params: WriteParams) -> str:
        return params.path

    async def changes(self, params: WriteParams, context: ToolContext) -> Proposal:
        from sightline.tools.write._work import changes

        return await changes(params.path, params.content, context)

    async def execute(self, params: WriteParams, context: ToolContext) -> Outcome:
        from sightline.tools.write._work import write

        return await write(params.path, params.content, context)
