"""OpenCode: how its stream is read (`_source`) and how its CLI is run: once per prompt (`_command`) or for a
whole session (`_server`)."""

from sightline.providers._provider import Ask, Channel, Provider
from sightline.providers.opencode._command import COMMAND
from sightline.providers.opencode._source import OpenCodeSource, recognises

__all__ = ["PROVIDER", "OpenCodeSource"]


def _channel(ask: Ask) -> Channel:
    from sightline.providers.opencode._server import OpenCodeServer

    return OpenCodeServer(ask)


PROVIDER = Provider(
    name="opencode",
    title="OpenCode",
    source=OpenCodeSource,
    recognises=recognises,
    command=COMMAND,
    channel=_channel,
)
