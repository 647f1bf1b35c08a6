"""The user's own editor: `$VISUAL`, `$EDITOR` or vi."""

import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.settings import up_to_the_repository

if TYPE_CHECKING:
    from sightline.views.console._desk import Desk

_DEFAULT = "vi"
_TAKE_LINES = frozenset(("vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe"))  # `+12`
NO_EDITOR = "set $VISUAL or $EDITOR"
"""What to do where it cannot be used."""


def editor_command(environ: Mapping[str, str]) -> str:
    """As a shell would run it."""
    return (environ.get("VISUAL") or environ.get("EDITOR") or "").strip() or _DEFAULT


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command in words; ValueError when it cannot be parsed."""
    return shlex.split(editor_command(environ))


def is_file_of_project(path: str, cwd: str) -> bool:
    """Of a path that a model gave. Elsewhere editors take more than files for a path, such as other machines, and what
    is no regular file may hold them up, or do something when it is opened."""
    try:
        real = os.path.realpath(os.path.join(cwd, path))
        root = os.path.realpath(up_to_the_repository(Path(cwd))[-1])
        return Path(real).is_relative_to(root) and stat.S_ISREG(os.stat(real).st_mode)
    except (OSError, ValueError):  # it is not there; a NUL is in no path
        return False


def edit_file(desk: "Desk", path: str, line: int = 0) -> None:
    """Open a file of the session's folder in the user's editor, at a line where the editor is known to take one."""
    try:
        editor = editor_of(os.environ)
    except ValueError as error:
        desk.report(f"there is no editor: {error}", "error", NO_EDITOR)
        return
    at = [f"+{line}"] if line > 0 and os.path.basename(editor[0]) in _TAKE_LINES else []
    try:
        code = desk.run_program([*editor, *at, str(Path(desk.cwd) / path)])
    except (OSError, ValueError) as error:  # a NUL is in no path
        desk.report(f"{editor[0]} cannot be started: {getattr(error, 'strerror', error)}", "error", NO_EDITOR)
        return
    if code:
        desk.report(f"{editor[0]} ended with {code}", "warning")
