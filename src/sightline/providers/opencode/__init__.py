"""OpenCode: how its stream is read (`_source`) and how its CLI is run (`_command`)."""

from sightline.providers._provider import Provider
from sightline.providers.opencode._command import COMMAND
from sightline.providers.opencode._source import OpenCodeSource, recognises

__all__ = ["PROVIDER", "OpenCodeSource"]

PROVIDER = Provider(
    name="opencode",
    title="OpenCode",
    source=OpenCodeSource,
    recognises=recognises,
    command=COMMAND,
)
