"""Where the program stores its files, for their owner alone. `SIGHTLINE_HOME` moves all of them."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

_OWNER_ONLY = 0o700


class NotOurs(PermissionError):
    """A folder where our files should be is another user's."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EPERM, "it belongs to another user", str(path))


def data_folder() -> Path:
    """The folder everything is stored in; not created here."""
    home = os.environ.get("SIGHTLINE_HOME")
    if home:
        return Path(home)
    data = os.environ.get("XDG_DATA_HOME")
    return Path(data) / "sightline" if data else Path.home() / ".local" / "share" / "sightline"


def copies_folder() -> Path:
    """Where agents that have files of their own work: beside what we store and not in it, since commands run there."""
    data = data_folder()
    return data.with_name(f"{data.name}-copies")


def in_copies_folder(path: str | Path) -> bool:
    """Whether it is where such files are, or were."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(copies_folder()))


def default_data_folders() -> list[Path]:
    """Where that folder is, or was, without `SIGHTLINE_HOME`."""
    data = os.environ.get("XDG_DATA_HOME")
    return [*([Path(data) / "sightline"] if data else []), Path.home() / ".local" / "share" / "sightline"]


def own_data() -> Callable[[str], bool]:
    """Whether a real path is in what we store, here or where it is by default."""
    folders = tuple({os.path.realpath(folder) for folder in (data_folder(), *default_data_folders())})
    return lambda path: any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def keys_folder() -> Path:
    """Where pasted API keys are stored; no sandboxed command sees it."""
    return data_folder() / "keys"


def private_folder(folder: Path, top: Path | None = None) -> Path:
    """The folder, made if need be, with mode 0700 whatever the umask. From `top` (where all our files are) down to
    it, folders that were open to others are closed. NotOurs when one is another user's, another OSError when it
    cannot be made. A folder that is not below `top` is made and otherwise left as it is."""
    top = data_folder() if top is None else top
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            _make(path)
    if folder == top or top in folder.parents:
        below = [path for path in (*reversed(folder.parents), folder) if path == top or top in path.parents]
        for path in below:
            _close_to_others(path)
    return folder


def is_own_folder(path: str | Path) -> bool:
    """Whether it is a folder of ours that no other user can write to."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _make(path: Path) -> None:
    try:
        path.mkdir(_OWNER_ONLY)
    except FileExistsError:  # another process was quicker
        return
    if stat.S_IMODE(path.stat().st_mode) != _OWNER_ONLY:  # a umask may take rights from the owner, too
        path.chmod(_OWNER_ONLY)


def _close_to_others(path: Path) -> None:
    """The folder alone: others reach nothing in it then, and the modes of the user's own files in it are unchanged."""
    link, found = os.lstat(path), os.stat(path)
    if found.st_uid != os.geteuid() or link.st_uid not in (os.geteuid(), 0):
        raise NotOurs(path)
    if found.st_mode & 0o077:
        os.chmod(path, _OWNER_ONLY)
