"""Gemini CLI: its stream (`_source`), and its CLI for one prompt (`_command`) or for a whole session (`_channel`)."""

from sightline.providers._provider import cli_provider
from sightline.providers.gemini._command import COMMAND
from sightline.providers.gemini._source import GeminiSource, recognises

__all__ = ["PROVIDER", "GeminiSource"]

_CHANNEL = "sightline.providers.gemini._channel:GeminiChannel"
PROVIDER = cli_provider(GeminiSource, recognises, COMMAND, _CHANNEL, title="Gemini CLI")
