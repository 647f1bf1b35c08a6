"""The read tool."""

import asyncio
import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from sightline.handles import judged, real_path
from sightline.paths import own_data
from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, Outcome, Tool, ToolError
from sightline.tools.files import _paths
from sightline.tools.read import _targets
from sightline.tools.read._targets import ConflictSide, InArchive, InDatabase, Internal, Local, Target, WebPage


class ReadParams(msgspec.Struct, frozen=True, kw_only=True):
    path: Annotated[
        str,
        Meta(
            description="A file, folder, web address or internal address; lines of it after a colon "
            "(file.py:50-100), :raw for the bare text"
        ),
    ]


class ReadTool(Tool[ReadParams]):
    name: ClassVar[str] = "read"
    description: ClassVar[str] = """\
Read a file, folder, archive, SQLite database, notebook, document, image, web page or internal resource.

Lines, at the end of `path`: `:50` from line 50 on, `:50-100`, `:50+20` (20 lines), `:5-16,960-973`; `:raw` the text \
without line numbers, also `:50-100:raw`; `:conflicts` the unresolved merge conflicts of a file.
A file is shown under `¶PATH#TAG` as `LINE:TEXT`; the edit tool takes both. A long source file is shown without the \
bodies of its functions: read the ranges you need.
Archives: `a.zip`, `a.zip:folder`, `a.tar.gz:folder/file.py:1-20`. SQLite: `x.db` (tables), `x.db:table`, \
`x.db:table:key`, `x.db:table?where=age>3&order=name:desc&limit=20`, `x.db?q=SELECT …`.
Also `https://…`, `artifact://…`, `local://…`, `history://…`. Prefer this to cat, head, sed, ls and unzip."""
    params = ReadParams
    confined = True

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    def preview(self, params: ReadParams) -> str:
        scheme, address, skill = params.path.partition("://")
        return f"skill {skill}" if address and scheme.lower() == "skill" and skill else params.path

    def needs(self, params: ReadParams, context: ToolContext) -> list[Need]:
        target = _targets.locate(params.path, context.cwd)
        if isinstance(target, WebPage):
            from sightline.tools.web import needs_of

            return needs_of(target.path)
        if isinstance(target, ConflictSide | Internal):
            from sightline.tools import resources

            return resources.needs_of(target.url, context)
        opened = _targets.container_of(target)
        return [] if opened is None else _paths.read_need(opened, context.cwd)

    async def execute(self, params: ReadParams, context: ToolContext) -> Outcome:
        target = _targets.locate(params.path, context.cwd)
        if not isinstance(target, Local) or await asyncio.to_thread(_exists, target):
            return await self._read(target, context)
        found = await _targets.by_suffix(_paths.unquote_path(params.path), context.cwd)
        if found is None:
            raise ToolError(_not_found(target, context))
        meant, missing, match = found
        with judged(_judged_path(meant, match, context)):
            outcome = await self._read(meant, context)
        details = {**outcome.details, "suffix_resolution": {"from": missing, "to": match}}
        note = f"[Path '{missing}' not found; resolved to '{match}' via suffix match]"
        return msgspec.structs.replace(outcome, text=f"{note}\n{outcome.text}", details=details)

    async def _read(self, target: Target, context: ToolContext) -> Outcome:
        outcome = await self._content(target, context)
        opened = _targets.container_of(target)
        if opened is not None:
            outcome.details["resolved_path"] = _paths.shown(opened)
        return outcome

    async def _content(self, target: Target, context: ToolContext) -> Outcome:
        from sightline.tools.read import _containers, _local

        if isinstance(target, ConflictSide | Internal | InArchive) and target.selector and target.selector.conflicts:
            raise ToolError("A :conflicts selector is for files of this machine.")
        match target:
            case WebPage(path):
                from sightline.tools.web import read_url

                return await read_url(path, context)
            case ConflictSide():
                return await _containers.read_side(target, context)
            case Internal():
                return await _containers.read_resource(target, context)
            case InArchive():
                return await _containers.read_archive(target, context)
            case InDatabase():
                return await _containers.read_database(target, context)
            case Local(path=path, selector=selector):
                return await _local.read_local(path, selector, context, self._clock)


def _exists(target: Local) -> bool:
    try:
        os.stat(target.path)
    except PermissionError:
        raise ToolError(f"No permission to read '{target.written}'.") from None
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise ToolError(f"Cannot read '{target.written}': {_paths.reason_of(problem)}.") from None
        return False
    return True


def _judged_path(target: Target, name: str, context: ToolContext) -> str:
    """The real path that is read: the call was judged before it was known to mean this file."""
    opened, is_denied = _targets.container_of(target), context.workplace.limits().is_denied
    if opened is None:
        return ""
    real = real_path(opened)
    if _paths.is_outside(Path(real), context.cwd):
        raise ToolError(f"The only path that ends like this is '{name}', which leads outside the workspace.")
    if own_data()(real):
        raise ToolError(
            f"The only path that ends like this is '{name}', which is Sightline's own. Name it in full to read it."
        )
    if is_denied is not None and is_denied(_paths.shown(real)):
        raise ToolError(f"The only path that ends like this is '{name}', and a rule forbids reading it.")
    return real


def _not_found(target: Local, context: ToolContext) -> str:
    name = _paths.display(target.path, context.cwd)
    if os.path.islink(target.path):
        return f"'{name}' is a link to nothing: {_paths.shown(os.readlink(target.path))} does not exist."
    hint = "Use find to look for it, or read its folder."
    return f"Path '{name}' not found, and no single path of the workspace ends like it. {hint}"
