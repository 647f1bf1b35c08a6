"""Claude Code: how its stream is read (`_source`) and how its CLI is run: once per prompt (`_command`) or for a whole
session (`_channel`)."""

from sightline.providers._provider import Provider, channel_in
from sightline.providers.claude._command import COMMAND
from sightline.providers.claude._source import ClaudeSource, recognises

__all__ = ["PROVIDER", "ClaudeSource"]


PROVIDER = Provider(
    name="claude",
    title="Claude Code",
    source=ClaudeSource,
    recognises=recognises,
    command=COMMAND,
    steers=True,
    channel=channel_in("sightline.providers.claude._channel", "ClaudeChannel"),
)
