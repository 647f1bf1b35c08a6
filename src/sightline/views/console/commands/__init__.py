"""What can be entered after a slash."""

from sightline.views.console.commands._command import SlashCommand
from sightline.views.console.commands._registry import COMMANDS

__all__ = ["COMMANDS", "SlashCommand"]
