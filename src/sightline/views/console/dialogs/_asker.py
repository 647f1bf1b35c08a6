"""Who asks: the agent's name as a person reads it."""

from typing import Any

from sightline.text import clean_line


def asker(request: dict[str, Any]) -> str:
    """`The agent` for the root agent, otherwise its path."""
    return clean_line(str(request.get("agent") or "")) or "The agent"
