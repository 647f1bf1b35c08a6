"""Codex: its stream (`_source`), and its CLI for one prompt (`_command`) or for a whole session (`_app_server`)."""

from sightline.providers._provider import cli_provider
from sightline.providers.codex._command import COMMAND
from sightline.providers.codex._source import CodexSource, recognises

__all__ = ["PROVIDER", "CodexSource"]

_CHANNEL = "sightline.providers.codex._app_server:AppServer"
PROVIDER = cli_provider(CodexSource, recognises, COMMAND, _CHANNEL, title="Codex", steers=True)
