"""The edit tool: the patch is parsed and every section checked, then all files are written, then the result is told."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec

from sightline.tools._context import ToolContext
from sightline.tools._paths import shown, write_need
from sightline.tools._tool import Need, Outcome, Tool, ToolError
from sightline.tools.edit._commit import commit
from sightline.tools.edit._files import Plan, file_of, is_note, plan
from sightline.tools.edit._result import outcome
from sightline.tools.edit._streaming import Streams
from sightline.tools.hashline import Section, Snapshots, merge, parse, refuse_overlaps

T = TypeVar("T")


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

    def needs(self, params: EditParams, context: ToolContext) -> list[Need]:
        files = [path for section, path in _sections(params, context) if not is_note(section.path)]
        return [need for path in files for need in write_need(path, context.cwd)]

    def preview(self, params: EditParams) -> str:
        """The paths, as far as they can be made out."""
        heads = [line.strip()[1:] for line in params.input.split("\n") if line.strip().startswith("¶")]
        paths = list(dict.fromkeys(head.rpartition("#")[0] or head for head in heads))
        return ", ".join(paths)

    def partial(self, written: str, context: ToolContext) -> dict[str, Any] | None:
        snapshots = context.shared(Snapshots)
        stream = context.shared(Streams).of(context.call, snapshots, context.cwd, context.workplace.local)
        return stream.feed(written)

    async def execute(self, params: EditParams, context: ToolContext) -> Outcome:
        context.shared(Streams).forget(context.call)
        snapshots = context.shared(Snapshots)
        sections = _sections(params, context)
        for section, path in sections:
            _refuse_denied(section, path, context)
        plans = await asyncio.to_thread(_plans, sections, context.cwd, snapshots)
        return await _to_the_end(lambda: _made(plans, snapshots))


def _sections(params: EditParams, context: ToolContext) -> list[tuple[Section, Path]]:
    """The patch, one section per file."""
    try:
        params.input.encode()
    except UnicodeEncodeError as problem:
        raise ToolError("The input contains half of a surrogate pair, which no text can. Write it again.") from problem
    sections = parse(params.input)
    paths = [file_of(section.path, context.cwd, context.workplace.local) for section in sections]
    merged = merge(sections, [os.path.realpath(path) for path in paths])
    for section in merged:
        refuse_overlaps(section.hunks)
    return [(section, file_of(section.path, context.cwd, context.workplace.local)) for section in merged]


def _refuse_denied(section: Section, path: Path, context: ToolContext) -> None:
    """An edit that does not fit shows the lines it was meant for, and so must not be tried on what may not be read."""
    is_denied = context.workplace.is_denied
    if is_denied is not None and is_denied(shown(os.path.realpath(path))):
        raise ToolError(f"A rule forbids to read {section.path}, and so to edit it.")


def _plans(sections: list[tuple[Section, Path]], cwd: Path, snapshots: Snapshots) -> list[Plan]:
    return [plan(section, path, cwd, snapshots) for section, path in sections]


def _made(plans: list[Plan], snapshots: Snapshots) -> Outcome:
    commit(plans)
    return outcome(plans, snapshots)


async def _to_the_end(work: Callable[[], T]) -> T:
    """Files are not written any more once a cancelled call has returned."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
