"""What is behind an internal address.

    artifact://SESSION/NAME   artifact://NAME      what a call gave that was too much to show; never changes
    history://SESSION         history://           a conversation, this session's own without a name; never changes
    history://AGENT                                what an agent of this session did so far
    agent://ID    agent://ID/PATH    agent://ID?q=PATH   what an agent returned, or a part of it where that is JSON
    local://PATH              local://             the session's folder for notes; can be written and edited
    conflict://ID[/SIDE]                           a merge conflict that was found, or one side of it
    skill://NAME  skill://NAME/PATH  skill://      a skill, a file beside it, those that are offered; read-only

Schemes that are planned are known by name, so that the error for one says what is missing.
"""

import asyncio
import re
from pathlib import Path

import msgspec

from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, ToolError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_THERE = ("agent", "artifact", "history", "local", "conflict", "skill")
_NAMED = "agent://, artifact://, history://, local:// and skill://"
_MISSING = {
    "issue": "Reading issues (issue://, with the github tool)",
    "pr": "Reading pull requests (pr://, with the github tool)",
    "mcp": "Reading from MCP servers (mcp://)",
    "memory": "Memory (memory://)",
    "omp": "Documentation inside the program (omp://)",
    "rule": "Reading rules (rule://)",
    "vault": "A vault of notes (vault://)",
}


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """Its content is in `text`, except where `source_path` is a file: that may be of any size, and is read there. It is
    a real path: where it leads was judged. `is_whole`: all of it is shown where no lines are named."""

    url: str
    text: str = ""
    source_path: Path | None = None
    immutable: bool = True
    is_whole: bool = False


def is_internal(path: str) -> bool:
    """Whether it begins like an address of the session, be it one that can be read or one that is only known."""
    scheme = _scheme(path)
    return scheme in _THERE or scheme in _MISSING


def needs_of(url: str, context: ToolContext) -> list[Need]:
    """The permission of what an address shows: none for the session's own, that of the file for what has one."""
    from sightline.tools.resources import _stored

    match _scheme(url):
        case "artifact":
            return _stored.artifact_needs(_rest(url), context)
        case "history":
            return _stored.history_needs(_rest(url), context)
        case "conflict":
            return _conflict_needs(url, context)
    return []


def _conflict_needs(url: str, context: ToolContext) -> list[Need]:
    from sightline.tools.conflicts import Conflicts, parse_url
    from sightline.tools.files._paths import read_need

    conflicts = context.shared(Conflicts)
    try:
        number = parse_url(url).number
        shown = conflicts.all() if number is None else [conflicts.get(number)]
    except ToolError:
        return []
    return list(dict.fromkeys(need for each in shown for need in read_need(each.path, context.cwd)))


async def resolve(url: str, context: ToolContext) -> Resource:
    """ToolError when there is nothing."""
    from sightline.tools.resources import _local, _stored

    match _scheme(url):
        case "agent":
            from sightline.tools.resources import _agent_output

            return await asyncio.to_thread(_agent_output.resolve, _rest(url), context)
        case "artifact":
            return await asyncio.to_thread(_stored.artifact, _rest(url), context)
        case "history":
            return await asyncio.to_thread(_stored.history, _rest(url), context)
        case "local":
            return await asyncio.to_thread(_local.resolve, _rest(url), context.workplace.local)
        case "skill":
            from sightline.tools.resources import _skill

            return await asyncio.to_thread(_skill.resolve, _rest(url), context)
        case "conflict":
            from sightline.tools.conflicts import Conflicts, read_conflict
            from sightline.tools.files._paths import display

            text = read_conflict(url, context.shared(Conflicts), lambda path: display(path, context.cwd))
            return Resource(url=url, text=text)
    raise _not_there(url)


async def write(url: str, content: str, context: ToolContext) -> None:
    """Make this the content of a file of local://; nothing else can be written."""
    from sightline.tools.resources import _local

    scheme = _scheme(url)
    if scheme == "local":
        return await asyncio.to_thread(_local.write, _rest(url), content, context)
    if scheme in _THERE:
        raise ToolError(f"{scheme}:// is read-only here. Write to a file, or to local://NAME for notes.")
    raise _not_there(url)


def _scheme(url: str) -> str:
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def _rest(url: str) -> str:
    return url.partition("://")[2]


def _not_there(url: str) -> ToolError:
    missing = _MISSING.get(_scheme(url))
    if missing is None:
        return ToolError(f"Unknown address '{url}'. Internal addresses: {_NAMED}.")
    return ToolError(f"{missing} is not part of this program yet. There are {_NAMED}.")
