"""Codex: how its stream is read (`_source`) and how its CLI is run (`_command`)."""

from sightline.providers._provider import Provider
from sightline.providers.codex._command import COMMAND
from sightline.providers.codex._source import CodexSource, recognises

__all__ = ["PROVIDER", "CodexSource"]

PROVIDER = Provider(
    name="codex",
    title="Codex",
    source=CodexSource,
    recognises=recognises,
    command=COMMAND,
)
