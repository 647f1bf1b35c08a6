"""Gemini CLI: how its stream is read (`_source`) and how its CLI is run (`_command`)."""

from sightline.providers._provider import Provider
from sightline.providers.gemini._command import COMMAND
from sightline.providers.gemini._source import GeminiSource, recognises

__all__ = ["PROVIDER", "GeminiSource"]

PROVIDER = Provider(
    name="gemini",
    title="Gemini CLI",
    source=GeminiSource,
    recognises=recognises,
    command=COMMAND,
)
