"""The name, the model and the colour of a subagent: the same wherever it is shown, in every console.

The colour follows from the path alone, so that it needs no memory. None of the colours means good or bad.
"""

from zlib import crc32

from sightline.text import clean_line
from sightline.transcript import TranscriptAgent

_SCRIPTED = "scripted"
_ROLES = ("accent", "syntax_keyword", "info", "syntax_number")  # blue, magenta, cyan, orange


def agent_role(path: str, above: str = "") -> str:
    """The role of the theme in which its name is drawn. `above`: the agent its path begins at."""
    path = f"{above}/{path}" if above else path
    return _ROLES[crc32(path.encode(errors="replace")) % len(_ROLES)]


def agent_name(path: str, agent: TranscriptAgent | None) -> str:
    """As it is called, else its path."""
    return clean_line(agent.name if agent is not None and agent.name else path)


def agent_model(agent: TranscriptAgent) -> str:
    """Its model. Of a script, only that it is one: which file that is does not describe the agent."""
    return _SCRIPTED if agent.model.startswith(f"{_SCRIPTED}:") else clean_line(agent.model)


def asker(request: dict[str, object]) -> str:
    """Whose request it is: `The agent` for the root, otherwise the path, which no other agent has."""
    return clean_line(str(request.get("agent") or "")) or "The agent"


def asks(request: dict[str, object], words: str) -> str:
    """A title: these words alone for the root, after the name of any other agent."""
    return f"{asker(request)} asks: {words}" if request.get("agent") else words


def waits(request: dict[str, object]) -> str:
    """That it is open, in words."""
    return f"{asker(request)} waits for your answer" if request.get("agent") else "waiting for your answer"
