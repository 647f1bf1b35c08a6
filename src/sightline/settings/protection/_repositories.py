"""What of a git repository is protected: its own files that decide what git runs, and those its configuration names.

Rules:

- Of each repository `config`, `config.worktree`, `hooks`, `commondir` and `info/attributes`; of its submodules
  (`modules`) the same; of its linked worktrees (`worktrees`) the files that lead from one to the other.
- What git is configured to run is read for each worktree: a relative path means another file in each. Repositories
  above the workspace and the user's configuration count, too: they may name a file in it.
- Bounds never hide anything. With more submodules, worktrees or repositories than fit, whole folders are read-only.
"""

import os
import stat

from sightline.settings.protection import _git_config
from sightline.settings.protection._gathered import GatheredPaths, is_in

_REPOSITORIES_AT_MOST = 32  # whose parts are mounted one by one; of the others the whole `.git` is read-only
_PARTS_AT_MOST = 32  # submodules or linked worktrees of one repository; with more, all of them are read-only
_FOLDERS_AT_MOST = 512  # looked into for them, in one repository
_GITFILE_AT_MOST = 4096
_COMMON_FOLDER_ITSELF = ".\n"  # what git takes for `commondir` where there is none
# Folders of a repository that are no submodules of the one around it. `modules` has its own.
_OF_GIT = frozenset(
    {"objects", "refs", "logs", "hooks", "info", "branches", "lfs", "rr-cache", "modules", "worktrees", "rebase-merge",
     "rebase-apply", "sequencer", "svn", "annex"}
)  # fmt: skip
# What git itself writes is no script, whatever a value names.
_WRITTEN_BY_GIT = _OF_GIT | {"index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "COMMIT_EDITMSG", "packed-refs"}

_Entries = list[tuple[str, _git_config.GitConfigEntry]]


def repository_of_worktree(folder: str) -> str:
    """The git folder of the repository whose linked worktree this folder is in; empty where it is in none. Only one
    that names the worktree itself counts: a `.git` file alone, which a command may write, leads nowhere."""
    at = folder
    while not os.path.lexists(os.path.join(at, ".git")):
        at, below = os.path.dirname(at), at
        if at == below:
            return ""
    own = _named_folder(os.path.join(at, ".git"), "gitdir:")
    common = _named_folder(os.path.join(own, "commondir"), "") if own else ""
    back = _named_path(os.path.join(own, "gitdir"), "") if own else ""
    is_part = bool(common) and os.path.dirname(own) == os.path.join(common, "worktrees")
    return common if is_part and back and os.path.realpath(back) == os.path.join(at, ".git") else ""


class Repositories:
    """All repositories of one workspace: `add` those that are found, then `gather`."""

    def __init__(self, gathered: GatheredPaths) -> None:
        self._gathered = gathered
        self._known: set[str] = set()
        self._seen: set[tuple[str, str]] = set()
        self._waiting: list[tuple[str, str]] = []
        entries = [found for file in _user_files() for found in _git_config.entries(file)]
        self._of_the_user = [found for found in entries if _git_config.runs(found[1])]

    def add(self, git: str, worktree: str) -> None:
        """A `.git` as it may be: a folder, a link to one, or a file that names one."""
        if os.path.realpath(git) != git:
            self._gathered.expose_links(git)
        if os.path.isdir(git):
            self.add_folder(os.path.realpath(git), worktree)
            return
        self._gathered.add(git)
        named = _named_folder(git, "gitdir:")
        if named:
            self.add_folder(named, worktree)

    def add_folder(self, git: str, worktree: str) -> None:
        """The folder with a repository in it."""
        common = _named_folder(os.path.join(git, "commondir"), "")
        if common and common != git:
            entries = list(_git_config.entries(os.path.join(common, "config")))
            self._linked(git, absent="" if _has_config_of_worktrees(entries) else None)
            self._entries([*_git_config.entries(os.path.join(git, "config.worktree"))], worktree)
        self._enqueue(common or git, worktree)

    def gather(self) -> None:
        """Everything, and what the user's configuration names without a repository."""
        while self._waiting:
            self._gather(*self._waiting.pop(0))
        self._entries(self._of_the_user, "")

    def _enqueue(self, git: str, worktree: str) -> None:
        if (git, worktree) not in self._seen:
            self._seen.add((git, worktree))
            self._waiting.append((git, worktree))

    def _gather(self, git: str, worktree: str) -> None:
        own = os.path.join(git, "config.worktree")
        entries = [*_git_config.entries(os.path.join(git, "config")), *_git_config.entries(own)]
        if git not in self._known:
            self._known.add(git)
            absent = "" if _has_config_of_worktrees(entries) else None
            if is_in(git, self._gathered.root):
                self._own_files(git, absent)
            self._submodules(git, worktree)
            self._worktrees(git, absent)
        self._entries([*entries, *self._of_the_user], worktree)

    def _own_files(self, git: str, absent: str | None) -> None:
        if len(self._known) > _REPOSITORIES_AT_MOST:
            self._gathered.add(git)
        self._gathered.add(os.path.join(git, "config"), absent="")
        self._gathered.add_folder(os.path.join(git, "hooks"))
        self._gathered.add(os.path.join(git, "commondir"), absent=_COMMON_FOLDER_ITSELF)
        self._gathered.add(os.path.join(git, "info", "attributes"))
        self._gathered.add(os.path.join(git, "config.worktree"), absent)

    def _entries(self, entries: _Entries, worktree: str) -> None:
        for file, entry in entries:
            if entry is _git_config.UNREADABLE:
                self._gathered.expose_unread(file)
            elif _git_config.runs(entry):
                self._named(file, entry, worktree)

    def _named(self, file: str, entry: _git_config.GitConfigEntry, worktree: str) -> None:
        root = self._gathered.root
        for path, certain in _git_config.named_files(file, entry, worktree):
            if path == root or not is_in(path, root):
                continue
            if entry.name == "hookspath":
                self._gathered.add_folder(path)
            elif certain:
                self._gathered.add(path, absent=None if os.path.isdir(path) else "")
            elif not _is_written_by_git(path, worktree):
                self._gathered.add_file(path)

    def _submodules(self, git: str, worktree: str) -> None:
        """Their names may have a `/`. One that is a repository may have others in it: a command could make it one."""
        top = os.path.join(git, "modules")
        waiting, left, found = [top], _FOLDERS_AT_MOST, 0
        while waiting and left > 0:
            at = waiting.pop()
            names = self._names(at, left)
            is_part = at != top and "HEAD" in names
            if is_part:
                found += 1
                self._submodule(at, worktree)
            inner = [os.path.join(at, name) for name, is_folder in names.items() if is_folder]
            inner = [folder for folder in inner if not (is_part and os.path.basename(folder) in _OF_GIT)]
            left -= 1 + len(inner)
            waiting += inner
        if found > _PARTS_AT_MOST or left <= 0:
            self._gathered.add(top)

    def _submodule(self, part: str, worktree: str) -> None:
        inner = _worktree_of(part)
        if inner:
            self._gathered.add(os.path.join(inner, ".git"))
        self._enqueue(part, inner or worktree)

    def _worktrees(self, git: str, absent: str | None) -> None:
        top = os.path.join(git, "worktrees")
        names = self._names(top, _FOLDERS_AT_MOST)
        if len(names) > _PARTS_AT_MOST:
            self._gathered.add(top)
        for name in names:
            part = os.path.join(top, name)
            self._linked(part, absent)
            leads = _named_path(os.path.join(part, "gitdir"), "")
            if leads and is_in(leads, self._gathered.root):
                self._gathered.add(leads)
                self._enqueue(git, os.path.dirname(leads))

    def _linked(self, git: str, absent: str | None) -> None:
        """What leads from a linked worktree to its repository and back, and the worktree's own configuration."""
        for file in ("commondir", "gitdir"):
            self._gathered.add(os.path.join(git, file))
        self._gathered.add(os.path.join(git, "config.worktree"), absent)

    def _names(self, folder: str, most: int) -> dict[str, bool]:
        """Its entries, and which are folders: all of them, or one more than `most`. What cannot be read is held."""
        names: dict[str, bool] = {}
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    names[entry.name] = entry.is_dir(follow_symlinks=False)
                    if len(names) > most:
                        break
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            self._gathered.hold(folder)
        return names


def _is_written_by_git(path: str, worktree: str) -> bool:
    git = os.path.join(worktree, ".git") + os.sep
    return path.startswith(git) and path[len(git) :].split(os.sep)[0] in _WRITTEN_BY_GIT


def _has_config_of_worktrees(entries: _Entries) -> bool:
    return any(entry.section == "extensions" and entry.name == "worktreeconfig" for _, entry in entries)


def _worktree_of(git: str) -> str:
    for _, entry in _git_config.entries(os.path.join(git, "config")):
        if entry.section == "core" and entry.name == "worktree":
            return os.path.normpath(os.path.join(git, entry.value))
    return ""


def _named_folder(file: str, word: str) -> str:
    """The folder a `.git` file or a `commondir` names; empty when there is none."""
    path = _named_path(file, word)
    return os.path.realpath(path) if path else ""


def _named_path(file: str, word: str) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        text = os.fsdecode(os.read(descriptor, _GITFILE_AT_MOST)) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    path = text.removeprefix(word).strip() if text.startswith(word) else ""
    return os.path.normpath(os.path.join(os.path.dirname(file), path)) if path and "\0" not in path else ""


def _user_files() -> list[str]:
    """Where git looks for the user's configuration and the system's."""
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    home = os.path.expanduser("~")
    configured = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    own = [named] if named else [os.path.join(home, ".gitconfig"), os.path.join(configured, "git", "config")]
    return [os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig", *own]
