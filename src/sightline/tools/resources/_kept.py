"""What sessions keep: the artifacts of calls, and conversations. Blocking."""

import re

from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.resources._resource import Resource

# A name is one part of a path and begins with neither a dot nor a dash.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_TYPES = {"json": "application/json", "md": "text/markdown", "html": "text/html"}


def artifact(rest: str, context: ToolContext) -> Resource:
    """`SESSION/NAME`; a name alone is one of this session, or of the one a call's id begins with."""
    session, slash, name = rest.rstrip("/").rpartition("/")
    if not _NAME.fullmatch(name) or (slash and not _NAME.fullmatch(session)):
        raise ToolError(f"'artifact://{rest}' names no artifact. Use artifact://SESSION/CALL, or artifact://CALL.")
    sessions = [session] if slash else _sessions(name, context)
    for one in sessions:
        path = context.workplace.artifacts.find(f"artifact://{one}/{name}")
        if path is not None:
            kind = _TYPES.get(name.rpartition(".")[2].lower(), "text/plain")
            return Resource(url=f"artifact://{one}/{name}", source_path=path, content_type=kind)
    raise ToolError(
        f"There is no artifact://{rest}. Use the address a result named; it may have been of another session."
    )


def _sessions(name: str, context: ToolContext) -> list[str]:
    own = context.call.rpartition("-")[0]
    return [one for one in dict.fromkeys((own, name.rpartition("-")[0])) if one]


def history(rest: str, context: ToolContext) -> Resource:
    session = rest.strip("/")
    if session and not _NAME.fullmatch(session):
        raise ToolError(f"'history://{rest}' names no session. Use history://SESSION, or history:// for this one.")
    kept = context.workplace.history
    if kept is None:
        raise ToolError("No conversation is kept here, so history:// has nothing to show.")
    text = kept.read(session)
    if text is None:
        raise ToolError(f"There is no session '{session}'. history:// alone is this session's conversation.")
    return Resource(url=f"history://{session}", text=text, content_type="text/markdown")
