"""Where settings are stored: the user's file, and a project's."""

import os
from collections.abc import Mapping
from pathlib import Path

FILE_NAME = "settings.toml"
PROJECT_FOLDER = ".sightline"
EXTENSIONS = "extensions"


def user_file(environ: Mapping[str, str]) -> Path:
    """`SIGHTLINE_HOME` moves it like everything else; otherwise it is where programs are configured."""
    if environ.get("SIGHTLINE_HOME"):
        return Path(environ["SIGHTLINE_HOME"]) / FILE_NAME
    if environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]) / "sightline" / FILE_NAME
    return home_of(environ) / ".config" / "sightline" / FILE_NAME


def project_file(cwd: Path) -> Path | None:
    """The nearest one, from the workspace up to the root of its repository; outside of one, the workspace's own."""
    for folder in up_to_the_repository(cwd):
        file = folder / PROJECT_FOLDER / FILE_NAME
        if is_there(file):
            return file
    return None


def new_project_file(cwd: Path) -> Path:
    """The one there is, or the one that would be made in the workspace."""
    return project_file(cwd) or cwd / PROJECT_FOLDER / FILE_NAME


def extension_folders(cwd: Path, environ: Mapping[str, str]) -> tuple[Path, Path | None]:
    """The user's own, and the nearest of the project's."""
    own = user_file(environ).parent / EXTENSIONS
    for folder in up_to_the_repository(cwd):
        if is_there(folder / PROJECT_FOLDER / EXTENSIONS):
            return own, folder / PROJECT_FOLDER / EXTENSIONS
    return own, None


def project_of(file: Path) -> Path:
    """The folder a project's settings are about: the one to trust."""
    return file.parent.parent


def up_to_the_repository(cwd: Path) -> list[Path]:
    """The workspace and the folders above it, up to the root of its repository; outside of one, the workspace alone."""
    folders = [cwd, *cwd.parents]
    for count, folder in enumerate(folders, 1):
        if is_there(folder / ".git"):
            return folders[:count]
    return folders[:1]


def home_of(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def named_user_folder(cwd: Path, environ: Mapping[str, str], variable: str, usual: Path) -> tuple[Path, bool]:
    """The folder that a variable names as the user's, and whether it does: one in the project is the project's, since
    the files of a project may set it. In the user's home, as a project, all is theirs."""
    value, root = environ.get(variable), os.path.realpath(up_to_the_repository(cwd)[-1])
    if not value:
        return usual, True
    if _is_in(home_of(environ), root) or not _is_in(value, root):
        return Path(value), True
    return usual, False


def _is_in(path: str | Path, folder: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def is_there(path: Path) -> bool:
    """Also what may not be looked at: reading it reports that."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
