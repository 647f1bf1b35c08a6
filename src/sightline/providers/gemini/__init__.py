"""Gemini CLI: how its stream is read (`_source`) and how its CLI is run: once per prompt (`_command`) or for a whole
session (`_channel`)."""

from sightline.providers._provider import Provider, channel_in
from sightline.providers.gemini._command import COMMAND
from sightline.providers.gemini._source import GeminiSource, recognises

__all__ = ["PROVIDER", "GeminiSource"]


PROVIDER = Provider(
    name="gemini",
    title="Gemini CLI",
    source=GeminiSource,
    recognises=recognises,
    command=COMMAND,
    channel=channel_in("sightline.providers.gemini._channel", "GeminiChannel"),
)
