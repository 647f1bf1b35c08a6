"""Behind agent://: what an agent of this session returned, or a part of it. Blocking."""

import re
from pathlib import Path
from urllib.parse import unquote

import msgspec

from sightline.handles import real_path
from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.resources._resource import Resource

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_is_index = re.compile(r"[0-9]{1,9}").fullmatch
_STEP = re.compile(r"\[(\d{1,9})\]|([^.\[\]]+)")
_NAMED = 50  # agents in an error
_LARGEST = 64 * 1024**2  # bytes of an output of which a part is read


def resolve(rest: str, context: ToolContext) -> Resource:
    """`ID`, `ID/PATH` (steps between slashes), `ID?q=PATH` (`a.b[0].c`)."""
    rest, asks, query = rest.partition("?")
    id, slash, path = rest.partition("/")
    agents = context.workplace.agents
    if agents is None:
        raise ToolError("There are no other agents in this session, so agent:// has nothing to show.")
    if not _ID.fullmatch(id):
        raise ToolError(f"'agent://{rest}' names no agent. Use agent://ID.")
    if asks and not query.startswith("q="):
        raise ToolError("After agent://ID there may be ?q=PATH, such as ?q=findings[0].title.")
    if path and asks:
        raise ToolError("Give agent://ID/PATH or agent://ID?q=PATH, not both.")
    file = agents.output(id)
    if file is None:
        ids = agents.ids()
        known = ", ".join([*ids[:_NAMED], *["…"] * (len(ids) > _NAMED)]) or "none"
        raise ToolError(f"agent://{id} is not there: no such agent, or it has returned nothing yet. Agents: {known}.")
    steps = [unquote(step) for step in path.split("/") if step] if slash else _steps(unquote(query.removeprefix("q=")))
    if not steps:
        return Resource(url=f"agent://{id}", source_path=Path(real_path(file)))
    found = _part(_decoded(id, file.read_bytes()[:_LARGEST]), steps, id)
    text = found if isinstance(found, str) else msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
    return Resource(url=f"agent://{rest}", text=text)


def _steps(query: str) -> list[str]:
    return [number or name for number, name in _STEP.findall(query.removeprefix("."))]


def _decoded(id: str, data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        raise ToolError(f"What {id} returned is not JSON: read agent://{id} as a whole.") from None


def _part(value: object, steps: list[str], id: str) -> object:
    for number, step in enumerate(steps):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            there = (
                list(value)[:20]
                if isinstance(value, dict)
                else f"{len(value)} items"
                if isinstance(value, list)
                else "nothing below it"
            )
            place = "/".join(steps[:number]) or "the top"
            raise ToolError(f"agent://{id} has no '{step}' at {place}; there: {there}.")
    return value
