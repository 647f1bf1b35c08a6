"""Behind artifact:// and history://: stored output of calls, and conversations. Blocking."""

import re
from pathlib import Path

from sightline.handles import real_path
from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, ToolError
from sightline.tools.resources._resource import Resource

# A name is one part of a path and begins with neither a dot nor a dash.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


def artifact(rest: str, context: ToolContext) -> Resource:
    """`SESSION/NAME`; a name alone is one of this session, or of the one a call's id begins with."""
    session, slash, name = rest.rstrip("/").rpartition("/")
    if not _NAME.fullmatch(name) or (slash and not _NAME.fullmatch(session)):
        raise ToolError(f"'artifact://{rest}' names no artifact. Use artifact://SESSION/CALL, or artifact://CALL.")
    sessions = [session] if slash else _sessions(name, context)
    for one in sessions:
        path = context.workplace.artifacts.find(f"artifact://{one}/{name}")
        if path is not None:
            return Resource(url=f"artifact://{one}/{name}", source_path=Path(real_path(path)))
    raise ToolError(
        f"There is no artifact://{rest}. Use the address a result named; it may have been of another session."
    )


def _sessions(name: str, context: ToolContext) -> list[str]:
    own = context.call.rpartition("-")[0]
    return [one for one in dict.fromkeys((own, name.rpartition("-")[0])) if one]


def artifact_needs(rest: str, context: ToolContext) -> list[Need]:
    """None for this session's own artifacts, which its model was shown; those of other sessions are to be approved."""
    try:
        found = artifact(rest, context)
    except ToolError:  # the result reports it
        return []
    own = context.call.rpartition("-")[0]
    if found.source_path is None or found.url.startswith(f"artifact://{own}/"):
        return []
    return _of_another_session(found.source_path)


def history_needs(rest: str, context: ToolContext) -> list[Need]:
    stored, agents = context.workplace.history, context.workplace.agents
    session = rest.strip("/")
    if agents is not None and session in agents.ids():
        return []
    file = stored.file(session) if stored is not None and _NAME.fullmatch(session) else None
    return [] if file is None else _of_another_session(file)


def _of_another_session(file: Path) -> list[Need]:
    return [Need("read", real_path(file), why="it belongs to another session")]


def history(rest: str, context: ToolContext) -> Resource:
    session = rest.strip("/")
    if session and not _NAME.fullmatch(session):
        raise ToolError(f"'history://{rest}' names no session. Use history://SESSION, or history:// for this one.")
    agents = context.workplace.agents
    if session and agents is not None and (text := agents.transcript(session)) is not None:
        return Resource(url=f"history://{session}", text=text)
    stored = context.workplace.history
    if stored is None:
        raise ToolError("No conversation is stored here, so history:// has nothing to show.")
    text = stored.read(session)
    if text is None:
        raise ToolError(f"There is no session '{session}'. history:// alone is this session's conversation.")
    return Resource(url=f"history://{session}", text=text)
