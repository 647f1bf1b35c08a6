"""The protected set: what in a workspace stays as it is, because it decides about Sightline or runs by itself.

One set for both: a sandboxed command cannot write it, and a write by a tool of ours is asked about.

Rules:

- Ours: the package, its interpreter and every folder it imports from, the data folder (trust, remembered rules), the
  person's settings and extensions, each `.sightline` folder.
- Git's: a `.git` that is a file, or of a repository its `config`, `config.worktree`, `hooks`, `commondir` and
  `info/attributes`; the same for its submodules and linked worktrees; and each file in the workspace that the
  configuration (the person's too) makes git run or read. Repositories: the workspace's own, those of its submodules,
  and others up to a number and a depth of folders.
- Autorun files: what an editor, a shell or git's hook managers run when a folder is opened, entered or committed in.
  Not what people run on purpose (`Makefile`, `package.json`): that would be everything.
- When home is in the workspace, every hidden file and folder of it but the cache (shells, ssh, editors, and where
  programs are installed), and the folders of PATH.
- What is missing and would count as soon as it exists must not be made: it is `absent`, with a content that changes
  nothing for programs that look at it meanwhile.
- A link in a writable folder can be replaced, and a file with a second name can be written by that: no sandbox holds
  these, they are `exposed`.
"""

import os
import stat
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import msgspec

from sightline._working_folder import places_imported_from
from sightline.paths import data_folder
from sightline.settings import _git_config
from sightline.settings._places import PROJECT_FOLDER, user_file

_AUTORUN_FOLDERS = frozenset({".husky", ".idea", ".devcontainer"})
_AUTORUN_FILES = frozenset({".envrc", ".devcontainer.json"})
_OF_VS_CODE = ("tasks.json", "settings.json")
# Tracked files that people change together with code: asked about, but left writable to commands (a checkout).
_ASKED_FILES = frozenset(
    {".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".npmrc", ".yarnrc", ".yarnrc.yml"}
)
_ASKED_ENDING = ".code-workspace"
_GUARDED_FOLDERS = frozenset({".git", PROJECT_FOLDER, *_AUTORUN_FOLDERS})
_NOTED = frozenset({".git", PROJECT_FOLDER, ".vscode", *_AUTORUN_FOLDERS, *_AUTORUN_FILES})

_CACHE_OF_HOME = ".cache"
_LOGIN = "[ ! -r ~/.profile ] || . ~/.profile\n"  # what bash would do without the file
_STARTUP_FILES = {
    ".bashrc": "", ".bash_profile": _LOGIN, ".bash_login": _LOGIN, ".bash_logout": "", ".profile": "", ".zshenv": "",
    ".zprofile": "", ".zshrc": "", ".zlogin": "", ".gitconfig": "", ".pam_environment": "", ".xprofile": "",
    ".xsessionrc": "", ".tmux.conf": "", ".config/": "", ".ssh/": "", ".local/": "",
}  # fmt: skip

_FOLDERS_AT_MOST = 300
_DEEPEST = 3
_REPOSITORIES_AT_MOST = 32
_PARTS_AT_MOST = 32  # submodules or linked worktrees of one repository; with more, all of them are read-only
_LINKS_AT_MOST = 64
_GITFILE_AT_MOST = 4096
_NOT_LOOKED_INTO = frozenset({"node_modules", "__pycache__", "target"})
_ONE_LOOK_SERVES = 1.0  # seconds
_MAY_CHANGE_UNSEEN = 100_000_000  # nanoseconds: a change so soon after another may leave the same time
_COMMON_FOLDER_ITSELF = ".\n"  # what git takes for `commondir` where there is none


class Protected(msgspec.Struct, frozen=True, kw_only=True):
    """In one workspace, by absolute paths. `read_only`: real paths of what exists. `absent`: what must not be made,
    with a content that changes nothing; a folder ends with `/`. `exposed`: what no sandbox can hold."""

    read_only: tuple[str, ...] = ()
    absent: dict[str, str] = {}
    exposed: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.exposed, *self.read_only, *(path.rstrip("/") for path in self.absent))))


def protected(workspace: str | os.PathLike[str]) -> Protected:
    """What is protected in a workspace as it is now."""
    root = os.path.realpath(workspace)
    gathered, known = _Gathered(root), _known_places()
    _gather_ours(gathered, known)
    _gather_home(gathered, known.home)
    for folder, names in _noted(root):
        _gather_noted(gathered, folder, names)
    return gathered.sorted()


def is_guarded(path: str, workspace: str) -> bool:
    """Whether a real path in a workspace is asked about before a tool writes it, by its name alone or as protected."""
    names = os.path.relpath(path, workspace).casefold().split(os.sep)
    last, folder = names[-1], names[-2] if len(names) > 1 else ""
    if not _GUARDED_FOLDERS.isdisjoint(names) or last in _AUTORUN_FILES or last in _ASKED_FILES:
        return True
    if last.endswith(_ASKED_ENDING) or (folder == ".vscode" and last in _OF_VS_CODE):
        return True
    home = _known_places().home
    if _is_in(home, workspace) and _is_in(path, home):
        first = os.path.relpath(path, home).split(os.sep)[0]
        if first.startswith(".") and first not in (".", _CACHE_OF_HOME):
            return True
    return any(_is_in(path, each) for each in protected(workspace).all)


class _Gathered:
    """What was found so far, each path judged by how it can be held."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._repositories: set[str] = set()
        self._seen: set[str] = set()
        self._real = {root}
        self._read_only: set[str] = set()
        self._absent: dict[str, str] = {}
        self._exposed: set[str] = set()

    def sorted(self) -> Protected:
        return Protected(
            read_only=tuple(sorted(each for each in self._read_only if not self._is_inside_another(each))),
            absent={path: self._absent[path] for path in sorted(self._absent) if not self._is_inside_another(path)},
            exposed=tuple(sorted(each for each in self._exposed if not self._is_inside_another(each))),
        )

    def add(self, path: str, absent: str | None = None) -> None:
        """A path that is protected where it exists; with `absent`, also where it does not."""
        if path in self._seen or not _is_in(path, self.root) or path == self.root:
            return
        self._seen.add(path)
        status = self._status(path)
        if not self._is_real(os.path.dirname(path)) or (status is not None and stat.S_ISLNK(status.st_mode)):
            self.expose_link(path)
            if os.path.exists(path):
                self.add(os.path.realpath(path))
        elif status is not None:
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                self._exposed.add(path)
            self._read_only.add(path)
        elif absent is not None:
            self._absent[path] = absent

    def add_folder(self, path: str) -> None:
        """A folder whose files run by themselves, or that must stay missing; and what its links lead to."""
        self.add(path)
        if not os.path.lexists(path):
            self.add_missing_folder(path)
            return
        try:
            with os.scandir(path) as found:
                links = [entry.path for entry in islice(found, _LINKS_AT_MOST) if entry.is_symlink()]
        except OSError:
            return
        for link in links:
            self.add(os.path.realpath(link))

    def add_missing_folder(self, path: str) -> None:
        if _is_in(path, self.root) and path != self.root and self._is_real(os.path.dirname(path)):
            self._absent[path + os.sep] = ""

    def counts(self, git: str) -> bool:
        """Whether a repository is new here. With too many of them the rest is read-only as a whole."""
        if git in self._repositories:
            return False
        if len(self._repositories) >= _REPOSITORIES_AT_MOST:
            self.add(git)
            return False
        self._repositories.add(git)
        return True

    def expose(self, path: str) -> None:
        self._exposed.add(path)

    def expose_link(self, path: str) -> None:
        """The first link on the way: whoever can replace it decides where the rest leads."""
        at = self.root
        for name in os.path.relpath(path, self.root).split(os.sep):
            at = os.path.join(at, name)
            if os.path.islink(at):
                self._exposed.add(at)
                return

    def _is_real(self, folder: str) -> bool:
        """Whether no link is on the way to a folder of the workspace, as far as there is one."""
        if folder in self._real:
            return True
        status = self._status(folder)
        if not self._is_real(os.path.dirname(folder)) or (status is not None and stat.S_ISLNK(status.st_mode)):
            return False
        self._real.add(folder)
        return True

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(path)
        except OSError:
            return None

    def _is_inside_another(self, path: str) -> bool:
        above = os.path.dirname(path.rstrip(os.sep))
        while len(above) > len(self.root):
            if above in self._read_only or above + os.sep in self._absent:
                return True
            above = os.path.dirname(above)
        return False


def _gather_ours(gathered: _Gathered, known: "_Known") -> None:
    for path in known.places:
        gathered.add(path)
    for path in (*known.folders, *places_imported_from()):
        gathered.add(path)
        if _is_in(path, gathered.root) and not os.path.lexists(path):
            gathered.add_missing_folder(path)
    if any(_is_in(gathered.root, holds) for holds in known.holding):
        gathered.expose(gathered.root)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        if os.environ.get(name):
            gathered.add(os.path.abspath(os.environ[name]), absent="")


class _Known(msgspec.Struct, frozen=True):
    """Where this program and the person are: `places` as written and as they really are, the `folders` of our data and
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
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    settings = str(user_file(os.environ))
    places = [package, sys.prefix, sys.base_prefix, sys.executable, *imported, settings]
    both = [path for place in places if place for path in (os.path.abspath(place), os.path.realpath(place))]
    folders = [os.path.realpath(data_folder()), os.path.realpath(os.path.dirname(settings))]
    holding = [package, *([os.path.realpath(sys.prefix)] if sys.prefix != sys.base_prefix else [])]
    home = os.path.realpath(os.path.expanduser("~"))
    return _Known(tuple(dict.fromkeys(both)), tuple(dict.fromkeys(folders)), tuple(holding), home)


def _gather_home(gathered: _Gathered, home: str) -> None:
    if not _is_in(home, gathered.root):
        return
    try:
        names = [name for name in os.listdir(home) if name.startswith(".") and name not in (".git", _CACHE_OF_HOME)]
    except OSError:
        names = []
    for name in names:
        gathered.add(os.path.join(home, name))
    for name, content in _STARTUP_FILES.items():
        if not os.path.lexists(path := os.path.join(home, name.rstrip("/"))):
            if name.endswith("/"):
                gathered.add_missing_folder(path)
            else:
                gathered.add(path, absent=content)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            gathered.add(os.path.normpath(folder))


def _gather_noted(gathered: _Gathered, folder: str, names: frozenset[str]) -> None:
    for name in names - {".git", ".vscode", "HEAD"}:
        gathered.add(os.path.join(folder, name))
    if ".vscode" in names:
        for name in _OF_VS_CODE:
            gathered.add(os.path.join(folder, ".vscode", name))
    if ".git" in names:
        _gather_git(gathered, os.path.join(folder, ".git"), folder)
    elif "HEAD" in names:  # a bare repository
        _gather_repository(gathered, folder, folder)


def _gather_git(gathered: _Gathered, git: str, worktree: str) -> None:
    """A `.git` as it may be: a folder, a link to one, or a file that names one."""
    if os.path.realpath(git) != git:
        gathered.expose_link(git)
    if os.path.isdir(git):
        _gather_repository(gathered, os.path.realpath(git), worktree)
        return
    gathered.add(git)
    named = _named_folder(git, "gitdir:")
    if named:
        _gather_repository(gathered, named, worktree)
        common = _named_folder(os.path.join(named, "commondir"), "")
        if common:
            _gather_repository(gathered, common, worktree)


def _gather_repository(gathered: _Gathered, git: str, worktree: str) -> None:
    if not gathered.counts(git):
        return
    config = os.path.join(git, "config")
    if _is_in(git, gathered.root):
        gathered.add(config, absent="")
        gathered.add_folder(os.path.join(git, "hooks"))
        gathered.add(os.path.join(git, "commondir"), absent=_COMMON_FOLDER_ITSELF)
        gathered.add(os.path.join(git, "info", "attributes"))
        _gather_parts(gathered, os.path.join(git, "modules"), "HEAD", worktree)
        _gather_parts(gathered, os.path.join(git, "worktrees"), "gitdir", worktree)
    own = os.path.join(git, "config.worktree")
    said = [*_git_config.entries(config), *_git_config.entries(own)]
    is_used = any(entry.section == "extensions" and entry.name == "worktreeconfig" for _, entry in said)
    gathered.add(own, absent="" if is_used else None)
    for file in _person_files():
        said += _git_config.entries(file)
    for file, entry in said:
        if _git_config.runs(entry):
            _gather_entry(gathered, file, entry, worktree)


def _gather_entry(gathered: _Gathered, file: str, entry: _git_config.Entry, worktree: str) -> None:
    for path, certain in _git_config.named_files(file, entry, worktree):
        if not _is_in(path, gathered.root) or path == gathered.root:
            continue
        if entry.name == "hookspath":
            gathered.add_folder(path)
        elif certain or (os.path.isfile(path) and not path.startswith(os.path.join(worktree, ".git") + os.sep)):
            gathered.add(path, absent="" if certain and not os.path.isdir(path) else None)


def _gather_parts(gathered: _Gathered, folder: str, sign: str, worktree: str) -> None:
    """The folders git has for submodules (whose names may have a `/`) and linked worktrees."""
    found = list(_parts(folder, sign, deep=0))
    if len(found) > _PARTS_AT_MOST:
        gathered.add(folder)
        return
    for part in found:
        if sign == "HEAD":
            inner = _worktree_of(part)
            if inner:
                gathered.add(os.path.join(inner, ".git"))
            _gather_repository(gathered, part, inner or worktree)
            continue
        for name in ("commondir", "gitdir", "config.worktree"):
            gathered.add(os.path.join(part, name))


def _parts(folder: str, sign: str, deep: int) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names[: _PARTS_AT_MOST + 1]:
        part = os.path.join(folder, name)
        if os.path.lexists(os.path.join(part, sign)):
            yield part
        elif deep < _DEEPEST and os.path.isdir(part) and not os.path.islink(part):
            yield from _parts(part, sign, deep + 1)


def _worktree_of(git: str) -> str:
    for _, entry in _git_config.entries(os.path.join(git, "config")):
        if entry.section == "core" and entry.name == "worktree":
            return os.path.normpath(os.path.join(git, entry.value))
    return ""


def _named_folder(file: str, word: str) -> str:
    """The folder a `.git` file or a `commondir` names; empty when there is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        said = os.fsdecode(os.read(descriptor, _GITFILE_AT_MOST)) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    path = said.removeprefix(word).strip() if said.startswith(word) else ""
    return os.path.realpath(os.path.join(os.path.dirname(file), path)) if path and "\0" not in path else ""


def _person_files() -> list[str]:
    """Where git looks for the person's configuration and the system's."""
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    home = os.path.expanduser("~")
    configured = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    own = [named] if named else [os.path.join(home, ".gitconfig"), os.path.join(configured, "git", "config")]
    return [os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig", *own]


# By folder: when it changed last, the names in it that matter here, and the folders in it.
_scanned: dict[str, tuple[int, frozenset[str], tuple[str, ...]]] = {}


_last_look: tuple[str, tuple[str, ...], float, list[tuple[str, frozenset[str]]]] = ("", (), 0.0, [])


def _noted(root: str) -> list[tuple[str, frozenset[str]]]:
    """The folders with names that matter. One look below the workspace serves a question and the command that follows
    at once; what it found is looked at again each time."""
    global _last_look
    now, (names, inner) = time.monotonic(), _scan(root)
    if _last_look[:2] != (root, inner) or now - _last_look[2] > _ONE_LOOK_SERVES:
        below = [(folder, noted) for folder, noted in _folders(root) if noted and folder != root]
        _last_look = root, inner, now, below
    return [(root, names), *_last_look[3]]


def _folders(root: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The folders of a workspace, nearest first, up to a number and a depth, with the names that matter in each."""
    waiting, left = [root], _FOLDERS_AT_MOST
    for _ in range(_DEEPEST + 1):
        deeper: list[str] = []
        for folder in waiting[:left]:
            names, inner = _scan(folder)
            yield folder, names
            deeper += inner
        left -= len(waiting)
        waiting = deeper
        if left <= 0:
            return


def _scan(folder: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """A folder that did not change since is not read again: a look at it is six times as fast."""
    try:
        changed = os.stat(folder).st_mtime_ns
        known = _scanned.get(folder)
        if known is not None and known[0] == changed:
            return known[1], known[2]
        with os.scandir(folder) as found:
            entries = list(found)
        inner = tuple(entry.path for entry in entries if _is_looked_into(entry))
    except OSError:
        return frozenset(), ()
    kept = _NOTED.intersection(entry.name for entry in entries)
    if {"HEAD", "objects", "refs"} <= {entry.name for entry in entries}:
        kept |= {"HEAD"}
    if len(_scanned) > 10 * _FOLDERS_AT_MOST:
        _scanned.clear()
    if time.time_ns() - changed > _MAY_CHANGE_UNSEEN:
        _scanned[folder] = changed, kept, inner
    return kept, inner


def _is_looked_into(entry: "os.DirEntry[str]") -> bool:
    hidden = entry.name.startswith(".")
    return not hidden and entry.name not in _NOT_LOOKED_INTO and entry.is_dir(follow_symlinks=False)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
