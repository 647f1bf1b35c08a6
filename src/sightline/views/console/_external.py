"""The user's own editor: `$VISUAL`, `$EDITOR` or vi."""

import shlex
from collections.abc import Mapping

_DEFAULT = "vi"
NO_EDITOR = "set $VISUAL or $EDITOR"
"""What to do where it cannot be used."""


def editor_command(environ: Mapping[str, str]) -> str:
    """As a shell would run it."""
    return (environ.get("VISUAL") or environ.get("EDITOR") or "").strip() or _DEFAULT


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command in words; ValueError when it cannot be parsed."""
    return shlex.split(editor_command(environ))
