"""Which folders of a workspace have something in them that may be protected.

Rules:

- Folders are looked into nearest first, up to a number and a depth. What was found once stays known for this workspace
  as long as it exists: otherwise a command could make so many folders that those that matter are not reached.
- A folder is read again when it changed. That is seen by a time that no command can set (`st_ctime`).
- One look serves a question and the command that follows at once; what it found is looked at again each time.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from hashlib import sha256

import msgspec

from sightline.paths import data_folder, private_folder
from sightline.settings._places import PROJECT_FOLDER

AUTORUN_FOLDERS = frozenset({".husky", ".idea", ".devcontainer"})
AUTORUN_FILES = frozenset({".envrc", ".devcontainer.json"})
_NAMES = frozenset({".git", PROJECT_FOLDER, ".vscode", *AUTORUN_FOLDERS, *AUTORUN_FILES})
_BARE_REPOSITORY = frozenset({"HEAD", "objects", "refs"})

_FOLDERS_AT_MOST = 300
_DEEPEST = 3
_KNOWN_AT_MOST = 2000
_LARGEST = 16 * 1024 * 1024
_NOT_LOOKED_INTO = frozenset({"node_modules", "__pycache__", "target"})
_ONE_LOOK_SERVES = 1.0  # seconds
_MAY_CHANGE_UNSEEN = 100_000_000  # nanoseconds: a change so soon after another may leave the same time


class NotedFolder(msgspec.Struct, frozen=True):
    """A folder with the names in it that matter; `HEAD` for a bare repository. Not `listed`: it cannot be read."""

    folder: str
    names: frozenset[str]
    listed: bool = True


class _Look(msgspec.Struct, frozen=True):
    root: str = ""
    inner: tuple[str, ...] = ()
    when: float = 0.0
    found: tuple[NotedFolder, ...] = ()


# By folder: when it changed last, what matters in it, and the folders in it.
_scanned: dict[str, tuple[int, NotedFolder, tuple[str, ...]]] = {}
_last_look = _Look()


def noted(root: str) -> list[NotedFolder]:
    """The workspace itself, and the folders below it with names that matter or that cannot be read."""
    global _last_look
    now, (own, inner) = time.monotonic(), _scan(root)
    if (_last_look.root, _last_look.inner) != (root, inner) or now - _last_look.when > _ONE_LOOK_SERVES:
        below = {each.folder: each for each in _folders(root) if each.names or not each.listed}
        below.pop(root, None)
        _last_look = _Look(root, inner, now, tuple(_with_known(root, below)))
    return [own, *_last_look.found]


def _matters(found: NotedFolder) -> bool:
    return bool(found.names) or not found.listed


def _folders(root: str) -> Iterator[NotedFolder]:
    waiting, left = [root], _FOLDERS_AT_MOST
    for _ in range(_DEEPEST + 1):
        deeper: list[str] = []
        for folder in waiting[:left]:
            found, inner = _scan(folder)
            yield found
            deeper += inner
        left -= len(waiting)
        waiting = deeper
        if left <= 0:
            return


def _with_known(root: str, below: dict[str, NotedFolder]) -> list[NotedFolder]:
    known = _remembered(root)
    missed = [found for folder in known if folder not in below and _matters(found := _scan(folder)[0])]
    everything = [*below.values(), *missed]
    # Those of before first: they must not give way to new ones.
    remembered = dict.fromkeys((*(each.folder for each in missed), *(f for f in known if f in below), *below))
    if remembered.keys() != known.keys():
        _remember(root, list(remembered)[:_KNOWN_AT_MOST])
    return everything


def _scan(folder: str) -> tuple[NotedFolder, tuple[str, ...]]:
    """A folder that did not change since is not read again: a look at it is six times as fast."""
    try:
        changed = os.stat(folder).st_ctime_ns
        known = _scanned.get(folder)
        if known is not None and known[0] == changed:
            return known[1], known[2]
        with os.scandir(folder) as entries:
            all_of_it = list(entries)
        inner = tuple(entry.path for entry in all_of_it if _is_looked_into(entry))
    except (FileNotFoundError, NotADirectoryError):
        return NotedFolder(folder, frozenset()), ()
    except OSError:
        return NotedFolder(folder, frozenset(name for name in _NAMES if _may_be(folder, name)), listed=False), ()
    names = {entry.name for entry in all_of_it}
    marks = _NAMES & names
    if names >= _BARE_REPOSITORY:
        marks |= {"HEAD"}
    if len(_scanned) > 10 * _FOLDERS_AT_MOST:
        _scanned.clear()
    found = NotedFolder(folder, marks)
    if time.time_ns() - changed > _MAY_CHANGE_UNSEEN:
        _scanned[folder] = changed, found, inner
    return found, inner


def _may_be(folder: str, name: str) -> bool:
    try:
        os.lstat(os.path.join(folder, name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def _is_looked_into(entry: "os.DirEntry[str]") -> bool:
    hidden = entry.name.startswith(".")
    return not hidden and entry.name not in _NOT_LOOKED_INTO and entry.is_dir(follow_symlinks=False)


def _file(root: str) -> str:
    return os.path.join(data_folder(), "found", sha256(os.fsencode(root)).hexdigest()[:32])


def _remembered(root: str) -> dict[str, None]:
    """By absolute paths. Without the file, or with one of another form, nothing."""
    try:
        with open(_file(root), "rb") as file:
            data = file.read(_LARGEST)
    except OSError:
        return {}
    return dict.fromkeys(os.path.join(root, os.fsdecode(path)) for path in data.split(b"\0") if path)


def _remember(root: str, folders: list[str]) -> None:
    """Where it cannot be stored, the look alone counts."""
    file = _file(root)
    data = b"\0".join(os.fsencode(os.path.relpath(folder, root)) for folder in folders)
    with contextlib.suppress(OSError):
        private_folder(data_folder() / "found")
        temporary = f"{file}.{os.getpid()}"
        with open(temporary, "wb") as target:
            target.write(data)
        os.replace(temporary, file)
