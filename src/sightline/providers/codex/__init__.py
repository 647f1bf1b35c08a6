"""Codex: how its stream is read (`_source`) and how its CLI is run: once per prompt (`_command`) or for a
whole session (`_app_server`)."""

from sightline.providers._provider import Ask, Channel, Provider
from sightline.providers.codex._command import COMMAND
from sightline.providers.codex._source import CodexSource, recognises

__all__ = ["PROVIDER", "CodexSource"]


def _channel(ask: Ask) -> Channel:
    from sightline.providers.codex._app_server import AppServer

    return AppServer(ask, COMMAND.binary)


PROVIDER = Provider(
    name="codex",
    title="Codex",
    source=CodexSource,
    recognises=recognises,
    command=COMMAND,
    steers=True,
    channel=_channel,
)
