"""The folder a command is given in."""

from pathlib import Path

from sightline.exceptions import UserMistake


def current_folder() -> Path:
    """A folder can be deleted under a shell that is in it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UserMistake("the current folder no longer exists", "change to another folder") from None
