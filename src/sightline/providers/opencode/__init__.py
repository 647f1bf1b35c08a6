"""OpenCode: its stream (`_source`), and its CLI for one prompt (`_command`) or for a whole session (`_server`)."""

from sightline.providers._provider import cli_provider
from sightline.providers.opencode._command import COMMAND
from sightline.providers.opencode._source import OpenCodeSource, recognises

__all__ = ["PROVIDER", "OpenCodeSource"]

_CHANNEL = "sightline.providers.opencode._server:OpenCodeServer"
PROVIDER = cli_provider(OpenCodeSource, recognises, COMMAND, _CHANNEL, title="OpenCode", counts_turns=True)
