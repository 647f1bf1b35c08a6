"""OpenCode: how its stream is read (`_source`) and how its CLI is run: once per prompt (`_command`) or for a
whole session (`_server`)."""

from sightline.providers._provider import Provider, channel_in
from sightline.providers.opencode._command import COMMAND
from sightline.providers.opencode._source import OpenCodeSource, recognises

__all__ = ["PROVIDER", "OpenCodeSource"]


PROVIDER = Provider(
    name="opencode",
    title="OpenCode",
    source=OpenCodeSource,
    recognises=recognises,
    command=COMMAND,
    channel=channel_in("sightline.providers.opencode._server", "OpenCodeServer"),
)
