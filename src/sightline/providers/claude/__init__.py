"""Claude Code: its stream (`_source`), and its CLI for one prompt (`_command`) or for a whole session (`_channel`)."""

from sightline.providers._provider import cli_provider
from sightline.providers.claude._command import COMMAND
from sightline.providers.claude._source import ClaudeSource, recognises

__all__ = ["PROVIDER", "ClaudeSource"]

_CHANNEL = "sightline.providers.claude._channel:ClaudeChannel"
PROVIDER = cli_provider(
    ClaudeSource, recognises, COMMAND, _CHANNEL, title="Claude Code", steers=True, counts_turns=True
)
