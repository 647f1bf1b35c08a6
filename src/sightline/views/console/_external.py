"""A text in the person's own editor."""

import os
import shlex
import tempfile
from collections.abc import Callable, Mapping

_DEFAULT = "vi"


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command that opens it; ValueError when it cannot be read."""
    return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or _DEFAULT) or [_DEFAULT]


def edited(text: str, run: Callable[[list[str]], int], environ: Mapping[str, str]) -> str | None:
    """What the text is afterwards; None when the editor failed."""
    with tempfile.NamedTemporaryFile("w+", suffix=".md", encoding="utf-8", delete=False) as file:
        file.write(text)
    try:
        if run([*editor_of(environ), file.name]) != 0:
            return None
        with open(file.name, encoding="utf-8", errors="replace") as again:
            return again.read()
    finally:
        os.unlink(file.name)
