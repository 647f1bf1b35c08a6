"""Claude Code: how its stream is read (`_source`) and how its CLI is run (`_command`)."""

from sightline.providers._provider import Provider
from sightline.providers.claude._command import COMMAND
from sightline.providers.claude._source import ClaudeSource, recognises

__all__ = ["PROVIDER", "ClaudeSource"]

PROVIDER = Provider(
    name="claude",
    title="Claude Code",
    source=ClaudeSource,
    recognises=recognises,
    command=COMMAND,
)
