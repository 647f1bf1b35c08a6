"""The repositories of a copy, found without git: which folders are git's, and what the names in them lead to.

Rules:

- A repository is a folder with a `.git`, one that a `.git` file names, a bare one, or a submodule's, which is in the
  `.git` of another.
- A worktree made in a copy is part of the repository that it was made from: its HEAD is one of that one's names.
- Reading ends at a bound, and what is left is counted.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from sightline.working_copies._git import Repository, TimeLimit, find_repository
from sightline.working_copies._states import listed, look

_NAMES_AT_MOST = 20_000
_DEEPEST = 8  # submodules inside each other, or folders of a submodule's name
_commit = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_packed = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) (refs/[^\0\n ]+)")


class CopyRepository(msgspec.Struct, frozen=True):
    """`git`: git's folder, below `root`. `original`: what the workspace has in its place. `shared`: its commits are the
    original's, where no name may lead to them once it is gone."""

    folder: str  # as seen in the workspace
    root: str
    git: str
    original: Repository | None = None
    shared: bool = False


class Names(msgspec.Struct):
    """What each name leads to, and how many more names there are."""

    commits: dict[str, str]
    more: int = 0


def repositories_in(
    workspace: str, root: str, cwd: str, folders: Iterable[str], paths: Iterable[str]
) -> Iterator[CopyRepository]:
    """Of a copy that an agent sees at `cwd` and whose files are in `root`. `folders` have a `.git`; `paths` are the
    files in no `.git` that may have changed."""
    found: dict[str, str] = {}
    for folder in folders:
        found.setdefault(_git_of(root, cwd, folder), folder)
    for path in paths:
        above, name = os.path.split(path)
        if name == "HEAD" and above and look(root, f"{above}/objects").kind == "folder":
            found.setdefault(above, above)
    found.pop("", None)
    for git, folder in found.items():
        original = repository_at(os.path.normpath(os.path.join(workspace, folder)))
        yield CopyRepository(folder, root, git, original)
        yield from submodules_of(root, git, folder, original)


def named_elsewhere(root: str, cwd: str, folder: str) -> str:
    """The git folder outside of the copy that its `.git` file names; empty where it names none."""
    named = _named(root, cwd, folder)
    return named if named and not f"{named}/".startswith(f"{cwd}/") else ""


def worktrees_of(repository: Repository, folders: Mapping[str, str]) -> Iterator[CopyRepository]:
    """Those of a repository that are at `folders`, each with git's folder of it. It has their submodules."""
    above = os.path.realpath(os.path.join(repository.common, "worktrees"))
    for folder, git in folders.items():
        root, name = os.path.split(os.path.realpath(git))
        if root == above:
            yield CopyRepository(folder, root, name, repository, shared=True)
            yield from submodules_of(root, name, folder, repository)


def submodules_of(root: str, git: str, folder: str, original: Repository | None) -> Iterator[CopyRepository]:
    waiting = [("modules", 0)]
    while waiting:
        above, depth = waiting.pop()
        for name, status in listed(root, f"{git}/{above}", force=True):
            if not stat.S_ISDIR(status.st_mode):
                continue
            inner = f"{above}/{name}"
            inside = {each for each, _ in listed(root, f"{git}/{inner}", force=True)}
            if inside & {"HEAD", "objects", "refs", "packed-refs"}:
                shown = "/".join(filter(None, (folder, inner.removeprefix("modules/").replace("/modules/", "/"))))
                yield CopyRepository(shown, root, f"{git}/{inner}", _submodule(original, inner))
                waiting += [(f"{inner}/modules", depth + 1)] if "modules" in inside and depth < _DEEPEST else []
            elif depth < _DEEPEST:
                waiting.append((inner, depth + 1))


def repository_at(folder: str) -> Repository | None:
    found = find_repository(folder)
    return found if found is not None and found.folder == folder else None


def names_of(repository: CopyRepository, limit: TimeLimit) -> Names:
    """Of stashes all, which only a log has; of a repository that shares the original's commits its HEAD."""
    root, git = repository.root, repository.git
    head = _read(root, f"{git}/HEAD")
    names = Names({"HEAD": head} if head else {})
    if repository.shared:
        return names
    for name, _ in _at_most(listed(root, f"{git}/worktrees", force=True), names):
        limit.left()
        if head := _read(root, f"{git}/worktrees/{name}/HEAD"):
            names.commits[f"worktrees/{name}"] = head
    _read_stashes(root, git, names)
    waiting = [f"{git}/refs"]
    while waiting:
        above = waiting.pop()
        for name, status in _at_most(listed(root, above, force=True), names):
            limit.left()
            path = f"{above}/{name}"
            if stat.S_ISDIR(status.st_mode):
                if len(waiting) < _NAMES_AT_MOST:
                    waiting.append(path)
                else:
                    names.more += 1
            elif commit := _read(root, path):
                names.commits[path.removeprefix(f"{git}/")] = commit
    _read_packed(look(root, f"{git}/packed-refs", force=True).data, names)
    names.commits.pop("refs/stash", None)
    return names


def _git_of(root: str, cwd: str, folder: str) -> str:
    """Empty where it is not in the copy, or that of a worktree made in it."""
    git = f"{folder}/.git" if folder else ".git"
    kind = look(root, git).kind
    if kind == "file":
        named = _named(root, cwd, folder)
        inside = named.removeprefix(f"{cwd}/") if named.startswith(f"{cwd}/") else ""
        return "" if "/.git/worktrees/" in f"/{inside}" else inside
    return git if kind == "folder" else ""


def _named(root: str, cwd: str, folder: str) -> str:
    """Where a `.git` file leads, as the agent sees it."""
    found = look(root, f"{folder}/.git" if folder else ".git")
    if found.kind != "file" or not found.data.startswith(b"gitdir: "):
        return ""
    named = os.fsdecode(found.data.removeprefix(b"gitdir: ").removesuffix(b"\n"))
    return os.path.normpath(os.path.join(cwd, folder, named)) if "\0" not in named else ""


def _submodule(original: Repository | None, place: str) -> Repository | None:
    """In the git folder of the original, whose owner was checked."""
    git = None if original is None else os.path.join(original.common, place)
    return original.inner(git) if original is not None and git and os.path.isdir(git) else None


def _at_most(found: list[tuple[str, os.stat_result]], names: Names) -> list[tuple[str, os.stat_result]]:
    left = max(0, _NAMES_AT_MOST - len(names.commits))
    names.more += max(0, len(found) - left)
    return found[:left]


def _read_stashes(root: str, git: str, names: Names) -> None:
    lines = look(root, f"{git}/logs/refs/stash", force=True).data.splitlines()
    left = max(0, _NAMES_AT_MOST - len(names.commits))
    names.more += max(0, len(lines) - left)
    for number, line in enumerate(lines[: -left - 1 : -1]):
        commit = line.split(b" ")[1:2]
        if commit and _commit.fullmatch(commit[0]):
            names.commits[f"stash-{number}"] = commit[0].decode()


def _read_packed(data: bytes, names: Names) -> None:
    for line in data.splitlines():
        if packed := _packed.fullmatch(line):
            name = os.fsdecode(packed[2])
            if name in names.commits:
                continue
            if len(names.commits) < _NAMES_AT_MOST:
                names.commits[name] = packed[1].decode()
            else:
                names.more += 1


def _read(root: str, path: str) -> str:
    found = look(root, path, force=True).data.strip()
    return found.decode() if _commit.fullmatch(found) else ""
