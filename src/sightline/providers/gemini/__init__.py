"""Gemini CLI: how its stream is read (`_source`) and how its CLI is run: once per prompt (`_command`) or for a whole
session (`_channel`)."""

from sightline.providers._provider import Ask, Channel, Provider
from sightline.providers.gemini._command import COMMAND
from sightline.providers.gemini._source import GeminiSource, recognises

__all__ = ["PROVIDER", "GeminiSource"]


def _channel(ask: Ask) -> Channel:
    from sightline.providers.gemini._channel import GeminiChannel

    return GeminiChannel(ask, COMMAND.binary)


PROVIDER = Provider(
    name="gemini",
    title="Gemini CLI",
    source=GeminiSource,
    recognises=recognises,
    command=COMMAND,
    channel=_channel,
)
