"""What most commands need: the current folder, the store and the colours."""

import argparse
from pathlib import Path

from sightline.exceptions import UserMistake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.journal import Store
    from sightline.views.plain import Palette


def current_folder() -> Path:
    """A folder can be deleted under a shell that is in it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UserMistake("the current folder no longer exists", "change to another folder") from None


def open_store() -> "Store":
    from sightline.journal import Store
    from sightline.paths import data_folder

    return Store(data_folder())


def palette_of(arguments: argparse.Namespace, fd: int = 1) -> "Palette":
    from sightline.views.plain import palette_for

    return palette_for(fd, arguments.color)
