"""The edit tool as a model sees it. Its work is in `_work`, imported when a model edits: most of what is offered is
never called, and a start does not wait for it."""

from typing import Annotated, ClassVar

import msgspec

from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Need, Outcome, Proposal, Tool


class EditParams(msgspec.Struct):
    input: Annotated[str, msgspec.Meta(description="One or more file sections, each headed ¶PATH#TAG.")]


class EditTool(Tool[EditParams]):
    name: ClassVar[str] = "edit"
    description: ClassVar[str] = """Changes text files. `input` is a patch of one or more sections:

¶PATH#TAG                the header above the lines read, search (there `# PATH#TAG`), write or edit showed last
replace N..M:            lines N to M become the body rows below
replace block N:         the same for the whole function, class or statement that opens on line N
delete N..M              no colon, no body
delete block N
insert before N:         body rows before line N
insert after N:
insert after block N:    after the last line of the block that opens on line N
insert head:             at the start of the file
insert tail:             at the end
+TEXT                    one body row; + alone is an empty line

Line numbers are those shown under the tag, in every hunk of a section: do not adjust them for earlier hunks. A body is
only the final content: no - rows, no unchanged lines outside the range, no @@. Each line belongs to one hunk. Text that
starts with + or - is written ++text, +-text. A new file: ¶PATH without a tag and `insert head:`. All sections are
checked before a file is written. After an edit use the tag of its result.

Example, for a file shown as ¶a.py#0A3B / 1:import os / 2: / 3:def f(): / 4:    return 1

¶a.py#0A3B
insert after 1:
+import sys
replace 4..4:
+    return 2"""
    params = EditParams
    exclusive: ClassVar[bool] = True
    confined: ClassVar[bool] = True

    def needs(self, params: EditParams, context: ToolContext) -> list[Need]:
        from sightline.tools.edit._work import needs_of

        return needs_of(params.input, context)

    def preview(self, params: EditParams) -> str:
        """The paths, as far as they can be made out."""
        heads = [line.strip()[1:] for line in params.input.split("\n") if line.strip().startswith("¶")]
        paths = list(dict.fromkeys(head.rpartition("#")[0] or head for head in heads))
        return ", ".join(paths)

    def partial(self, written: str, context: ToolContext) -> Details | None:
        from sightline.tools.edit._work import shown_so_far

        return shown_so_far(written, context)

    async def changes(self, params: EditParams, context: ToolContext) -> Proposal:
        from sightline.tools.edit._work import changes

        return await changes(params.input, context)

    async def execute(self, params: EditParams, context: ToolContext) -> Outcome:
        from sightline.tools.edit._work import edit

        return await edit(params.input, context)
