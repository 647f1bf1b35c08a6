"""The person's own editor."""

import shlex
from collections.abc import Mapping

_DEFAULT = "vi"


def editor_command(environ: Mapping[str, str]) -> str:
    """As a shell would run it."""
    return (environ.get("VISUAL") or environ.get("EDITOR") or "").strip() or _DEFAULT


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command that opens it; ValueError when it cannot be read."""
    return shlex.split(editor_command(environ))
