"""The protected set: what in a workspace stays as it is, because it decides about Sightline or runs by itself.

One set for both: a sandboxed command cannot write it, and a write by a tool of ours needs approval.

Rules:

- Ours: the package, its interpreter and every folder it imports from, the data folder (trust, remembered rules), the
  person's settings and extensions, each `.sightline` folder.
- Git's: see `_repositories`. Repositories are the workspace's own, those of its submodules and linked worktrees, those
  above it, and others that a look below it finds or found before (`_noted`).
- Autorun files: what an editor, a shell or git's hook managers run when a folder is opened, entered or committed in.
  Not what people run on purpose (`Makefile`, `package.json`): that would be everything.
- When home is in the workspace, every hidden file and folder of it but the cache (shells, ssh, editors, and where
  programs are installed), and the folders of PATH. Nothing new is made directly in it: no list of the hidden names that
  programs read there is ever complete.
- What is missing and would count as soon as it exists must not be made: it is `absent`, with a content that changes
  nothing for programs that look at it meanwhile.
- What no sandbox can hold is `exposed` (`_gathered`).
"""

import os
import sys
from functools import lru_cache

import msgspec

from sightline._working_folder import places_imported_from
from sightline.paths import data_folder
from sightline.settings._places import PROJECT_FOLDER, user_file
from sightline.settings.protection._gathered import GatheredPaths, Protected, is_in
from sightline.settings.protection._noted import AUTORUN_FILES, AUTORUN_FOLDERS, NotedFolder, noted
from sightline.settings.protection._repositories import Repositories

_OF_VS_CODE = ("tasks.json", "settings.json")
# Tracked files that users change together with code: a tool needs approval, commands may write them (a checkout).
_APPROVED_FILES = frozenset(
    {".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".npmrc", ".yarnrc", ".yarnrc.yml"}
)
_APPROVED_ENDING = ".code-workspace"
_GUARDED_FOLDERS = frozenset({".git", PROJECT_FOLDER, *AUTORUN_FOLDERS})
_WRITABLE_OF_HOME = frozenset({".cache", ".git"})


def protected(workspace: str | os.PathLike[str]) -> Protected:
    """What is protected in a workspace as it is now."""
    root = os.path.realpath(workspace)
    gathered, known = GatheredPaths(root), _known_places()
    repositories = Repositories(gathered)
    _gather_ours(gathered, known)
    _gather_home(gathered, known.home)
    for found in noted(root):
        _gather_noted(gathered, repositories, found)
    _add_those_above(repositories, root)
    repositories.gather()
    return gathered.sorted()


def open_entries(closed: str) -> list[str]:
    """What can be written in a closed folder: all that is visible there now, but no link."""
    try:
        with os.scandir(closed) as found:
            return sorted(each.path for each in found if _is_open(each.name) and not each.is_symlink())
    except OSError:
        return []


def _is_open(name: str) -> bool:
    return not name.startswith(".") or name in _WRITABLE_OF_HOME


def is_guarded(path: str, workspace: str, known: Protected | None = None) -> bool:
    """Whether a tool needs approval to write a real path in a workspace, by its name alone or as protected. `known`:
    the protected set, where a caller asks about many paths."""
    names = os.path.relpath(path, workspace).casefold().split(os.sep)
    last, folder = names[-1], names[-2] if len(names) > 1 else ""
    if not _GUARDED_FOLDERS.isdisjoint(names) or last in AUTORUN_FILES or last in _APPROVED_FILES:
        return True
    if last.endswith(_APPROVED_ENDING) or (folder == ".vscode" and last in _OF_VS_CODE):
        return True
    home = _known_places().home
    if is_in(home, workspace) and is_in(path, home):
        first = os.path.relpath(path, home).split(os.sep)[0]
        if first != "." and not _is_open(first):
            return True
    # Of `.vscode` a tool needs approval for the two files above; to commands it is read-only as a whole.
    files = (known or protected(workspace)).files
    found = (each for each in files if os.path.basename(each) != ".vscode")
    return any(is_in(path, each) for each in found)


def _gather_ours(gathered: GatheredPaths, known: "_Known") -> None:
    inside = gathered.root.rstrip(os.sep) + os.sep
    for path in known.places:
        if path.startswith(inside):
            gathered.add(path)
    for path in (*known.folders, *places_imported_from()):
        gathered.add(path)
        gathered.add_missing_folder(path)
    if any(is_in(gathered.root, holds) for holds in known.holding):
        gathered.expose(gathered.root)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        if os.environ.get(name):
            gathered.add(os.path.abspath(os.environ[name]), absent="")


class _Known(msgspec.Struct, frozen=True):
    """Where this program and the user are: `places` as written and as they really are, the `folders` of our data and
    settings, the places that may hold a workspace and must not be written then, and home."""

    places: tuple[str, ...]
    folders: tuple[str, ...]
    holding: tuple[str, ...]
    home: str


def _known_places() -> _Known:
    variables = ("SIGHTLINE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME")
    return _look_up_places(tuple(sys.path), tuple(os.environ.get(name) for name in variables))


@lru_cache(maxsize=8)
def _look_up_places(imported: tuple[str, ...], environment: tuple[str | None, ...]) -> _Known:
    """Once: no command can change where these lead, that is what they are protected for."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    settings = str(user_file(os.environ))
    places = [package, sys.prefix, sys.base_prefix, sys.executable, *imported, settings]
    both = [path for place in places if place for path in (os.path.abspath(place), os.path.realpath(place))]
    folders = [os.path.realpath(data_folder()), os.path.realpath(os.path.dirname(settings))]
    holding = [package, *([os.path.realpath(sys.prefix)] if sys.prefix != sys.base_prefix else [])]
    home = os.path.realpath(os.path.expanduser("~"))
    return _Known(tuple(dict.fromkeys(both)), tuple(dict.fromkeys(folders)), tuple(holding), home)


def _gather_home(gathered: GatheredPaths, home: str) -> None:
    if not is_in(home, gathered.root):
        return
    gathered.close(home)
    try:
        names = [name for name in os.listdir(home) if not _is_open(name)]
    except OSError:
        gathered.hold(home)
        names = []
    for name in names:
        gathered.add(os.path.join(home, name))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            path = os.path.normpath(folder)
            gathered.add(path)
            gathered.add_missing_folder(path)


def _gather_noted(gathered: GatheredPaths, repositories: Repositories, found: NotedFolder) -> None:
    if not found.listed:
        gathered.hold(found.folder)
    for name in found.names - {".git", "HEAD"}:
        gathered.add_folder(os.path.join(found.folder, name))
    if ".git" in found.names:
        repositories.add(os.path.join(found.folder, ".git"), found.folder)
    elif "HEAD" in found.names:
        repositories.add_folder(found.folder, found.folder)


def _add_those_above(repositories: Repositories, root: str) -> None:
    """A repository around the workspace: its configuration may name files in it."""
    above = os.path.dirname(root)
    while above != os.path.dirname(above):
        git = os.path.join(above, ".git")
        if os.path.lexists(git):
            repositories.add(git, above)
        above = os.path.dirname(above)
