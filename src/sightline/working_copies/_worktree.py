"""A git worktree on a branch of its own, filled with the workspace as it is.

Rules:

- Git makes the worktree without any files; they are copied from the workspace (`_copying`): tracked ones with the
  user's changes, new ones that are not ignored, and those of repositories inside.
- Ignored files are copied where the agent may need them (`.env`): regular files directly in the workspace, or in a
  folder of it that is not ignored, of at most 1 MiB each, the first 64 of them by name; and what belongs to the
  project's settings, which may have rules that deny. They are never committed.
- What git was told to leave alone in the workspace (a sparse checkout, `--skip-worktree`, `--assume-unchanged`, a
  submodule that is not checked out) it leaves alone in the worktree: else a commit would delete it, or add to it.
- The worktree is named to git by where it was made. The content of its `.git` file by now means nothing.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sightline.exceptions import OutsideFailure
from sightline.exec import remove_folder
from sightline.paths import private_folder
from sightline.settings import PROJECT_FOLDERS
from sightline.working_copies._bases import Bases
from sightline.working_copies._copying import copied
from sightline.working_copies._facts import Branch, RefusedFile
from sightline.working_copies._git import GitFailure, Repository, find_repository
from sightline.working_copies._manifest import Manifest
from sightline.working_copies._patch import is_gits
from sightline.working_copies._records import CopyRecord
from sightline.working_copies._states import behind_links, listed

_EXTRA_BYTES = 1024 * 1024
_EXTRA_FILES = 64
_SETTINGS_FILES, _DEEPEST = 1000, 8
_NAMES = 100
_NESTED_AT_MOST = 16  # repositories inside each other


def free_branch(repository: Repository, name: str) -> str:
    for number in range(1, _NAMES):
        branch = f"sightline/{name}" if number == 1 else f"sightline/{name}-{number}"
        if not repository.run("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", allowed=(0, 1)):
            return branch
    raise OutsideFailure(f"there are too many branches named sightline/{name}", "delete those that are not needed")


def make_worktree(repository: Repository, record: CopyRecord, before: int) -> tuple[Manifest, str]:
    """What was copied into `tree`, and the worktree's own git folder."""
    tree = record.tree
    private_folder(Path(tree).parent, Path(tree).parent)
    repository.run("worktree", "add", "--no-checkout", "-b", record.branch, tree, record.commit)
    git_dir = _git_dir(tree)
    inner = repository.tree(tree, git_dir)
    inner.run("read-tree", record.commit)
    nested: list[str] = []
    paths = _files(repository, "", nested, _NESTED_AT_MOST)
    extra = _extra(repository)
    files = copied(repository.folder, tree, [*paths, *extra], before)
    _leave_alone(repository, inner)
    manifest = Manifest(files, nested, [path for path in extra if path in files])
    bases = Bases(repository.folder, record.parts / "bases", manifest)
    for path in _dirty(repository, record.commit):
        bases.store(path)
    return manifest, git_dir


WhyNot = Callable[[str], str]  # empty for a path that may be committed


def commit_all(
    tree: Repository,
    record: CopyRecord,
    message: str,
    manifest: Manifest,
    changed: list[str],
    why_not: WhyNot | None = None,
) -> Branch:
    """Everything that git would add, on top of what the branch has. No hook runs, and nothing is signed. What may not
    be committed (`why_not`) is as it was at the start, also where the agent committed it itself."""
    ref, flags = f"refs/heads/{record.branch}", _flags(tree)
    tip = tree.line("rev-parse", "--verify", f"{ref}^{{commit}}")
    made, nested = _stored_tree(tree, tip, manifest, flags)
    refused: dict[str, str] = {}
    if why_not is not None:
        differing = tree.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", record.commit, made)
        committed = [os.fsdecode(each) for each in differing.split(b"\0") if each]
        reasons = {path: why_not(path) for path in {*committed, *changed}}
        refused = {path: why for path, why in sorted(reasons.items()) if why}
        made = _as_before(tree, made, record.commit, [path for path in committed if path in refused])
    commit = tip
    if made != tree.line("rev-parse", f"{tip}^{{tree}}"):
        words = ("commit-tree", made, "-p", tip, "-F", "-")
        commit = tree.run(*words, data=message.encode(), env=tree.identity()).decode().strip()
        tree.run("update-ref", "-m", "sightline", ref, commit, tip)
        tree.run("read-tree", commit)
        _set_flags(tree, flags)
    left_alone = _never_committed(changed, manifest, flags, nested)
    left_out = tuple(path for path in left_alone if path not in {*manifest.extra, *refused})
    found = tuple(RefusedFile(path=path, why=why) for path, why in refused.items())
    return Branch(name=record.branch, commit=commit, left_out=left_out, refused=found)


def has_all(tree: Repository, branch: str, manifest: Manifest, changed: list[str]) -> bool:
    """Whether a branch has every one of these changes already."""
    flags, tip = _flags(tree), tree.line("rev-parse", "--verify", f"refs/heads/{branch}^{{commit}}")
    made, nested = _stored_tree(tree, tip, manifest, flags)
    if _never_committed(changed, manifest, flags, nested) or any(map(is_gits, changed)):
        return False
    return made == tree.line("rev-parse", f"{tip}^{{tree}}")


def can_merge(repository: Repository, branch: str) -> bool:
    """Whether `git merge` takes it: it refuses where a file that it would change has changes that are not committed."""
    tip, head = repository.line("rev-parse", "--verify", f"refs/heads/{branch}^{{commit}}"), repository.head()
    base = "" if head is None else os.fsdecode(repository.run("merge-base", head, tip, allowed=(0, 1)).strip())
    if not head or not base:
        return False
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, tip)
    touched = {os.fsdecode(each) for each in repository.run(*words).split(b"\0") if each}
    if touched & set(_dirty(repository, head)):
        return False
    tracked = set(os.fsdecode(repository.run("ls-files", "-z")).split("\0"))
    if any(_is_in_the_way(repository.folder, path, tracked) for path in touched - tracked):
        return False
    return base == head or not repository.run("diff-index", "--cached", "--name-only", head)


def _is_in_the_way(root: str, path: str, tracked: set[str]) -> bool:
    """Whether git would write over what it does not track: at this path, or a file where it needs a folder."""
    if os.path.lexists(os.path.join(root, path)):
        return True
    while path := os.path.dirname(path):
        if os.path.lexists(os.path.join(root, path)):
            return path not in tracked and not _is_folder(root, path)
    return False


def _stored_tree(
    tree: Repository, tip: str, manifest: Manifest, flags: dict[str, list[str]]
) -> tuple[str, tuple[str, ...]]:
    """What the branch would have with everything that git would add, stored in the repository; and the repositories
    inside, of which it has nothing."""
    with _index(tree, tip) as index:
        listed = _listed_with(tree, index)
        nested = (*(f"{each}/" for each in manifest.repositories), *(each for each in listed if each.endswith("/")))
        left_out = {*_never_committed(listed, manifest, flags, nested)}
        names = [path for path in listed if path not in left_out and not _is_folder(tree.folder, path)]
        gone = behind_links(tree.folder, names)  # a folder became a link: git refuses to look behind it
        data = b"".join(os.fsencode(path) + b"\0" for path in names if path in gone)
        tree.run("update-index", "-z", "--force-remove", "--stdin", data=data, env=index)
        data = b"".join(os.fsencode(path) + b"\0" for path in names if path not in gone)
        tree.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", data=data, env=index)
        return tree.line("write-tree", env=index), nested


def _as_before(tree: Repository, made: str, commit: str, paths: list[str]) -> str:
    """A tree with these files as a commit has them."""
    if not paths:
        return made
    entries = tree.run("ls-tree", "-r", "-z", commit).split(b"\0")
    before = {os.fsdecode(entry.partition(b"\t")[2]): entry for entry in entries}
    gone = b"0 " + b"0" * len(commit) + b"\t"
    with _index(tree, made) as index:
        # What is there no more goes first: where a file was, there may be a folder now.
        lines = [gone + os.fsencode(path) for path in paths] + [before[path] for path in paths if path in before]
        tree.run("update-index", "-z", "--index-info", data=b"".join(line + b"\0" for line in lines), env=index)
        return tree.line("write-tree", env=index)


@contextmanager
def _index(tree: Repository, content: str) -> Iterator[dict[str, str]]:
    index = {"GIT_INDEX_FILE": os.path.join(tree.git_dir, "sightline-index")}
    try:
        tree.run("read-tree", content, env=index)
        yield index
    finally:
        with suppress(OSError):
            os.unlink(index["GIT_INDEX_FILE"])


def _never_committed(
    paths: list[str], manifest: Manifest, flags: dict[str, list[str]], nested: tuple[str, ...]
) -> list[str]:
    """Ignored files, those git was told to leave alone, and those of repositories inside."""
    left_alone = {*manifest.extra, *flags["skip-worktree"], *flags["assume-unchanged"]}
    return [path for path in paths if path in left_alone or path.startswith(nested or ("\0",))]


def remove_worktree(repository: Repository, record: CopyRecord) -> None:
    """The worktree, and its branch where that has nothing but what it began with."""
    tree, is_ours = record.tree, True
    try:
        repository.run("worktree", "remove", "--force", "--force", tree)
    except GitFailure:  # its `.git` was changed, or it was never made: another process may have been quicker
        is_ours = bool(record.git_dir)
        if record.git_dir:
            remove_folder(record.git_dir)
    remove_folder(tree)
    if is_ours and record.branch and record.commit:
        with suppress(GitFailure):
            repository.run("update-ref", "-d", f"refs/heads/{record.branch}", record.commit)


def _git_dir(tree: str) -> str:
    """Read before any agent has seen it."""
    text = Path(tree, ".git").read_bytes()
    if not text.startswith(b"gitdir: "):
        raise OutsideFailure(f"git made a worktree without a git folder: {tree}")
    return os.fsdecode(text.removeprefix(b"gitdir: ").removesuffix(b"\n"))


def _files(repository: Repository, prefix: str, nested: list[str], depth: int) -> list[str]:
    """Of a repository and of those inside it, as seen from the outermost."""
    found: list[str] = []
    for path in repository.files():
        name = path.removesuffix("/")
        if not _is_folder(repository.folder, name):
            found.append(prefix + name)
            continue
        inner = find_repository(os.path.join(repository.folder, name)) if depth else None
        if inner is not None and inner.folder == os.path.join(repository.folder, name):
            nested.append(prefix + name)
            found += _files(inner, f"{prefix}{name}/", nested, depth - 1)
    return found


def _leave_alone(repository: Repository, inner: Repository) -> None:
    """`inner`: the worktree, whose files are there."""
    _set_flags(inner, _flags(repository))
    for path in _submodules(inner):
        with suppress(OSError):
            if _is_folder(repository.folder, path):
                os.makedirs(os.path.join(inner.folder, path), exist_ok=True)


def _flags(repository: Repository) -> dict[str, list[str]]:
    """Tracked files whose state in the working tree git does not look at, by the flag that says so."""
    found: dict[str, list[str]] = {"skip-worktree": [], "assume-unchanged": []}
    for line in repository.run("ls-files", "-z", "-v").split(b"\0"):
        tag, path = line[:1], os.fsdecode(line[2:])
        if tag in (b"S", b"s"):
            found["skip-worktree"].append(path)
        if tag.islower():
            found["assume-unchanged"].append(path)
    return found


def _set_flags(repository: Repository, flags: dict[str, list[str]]) -> None:
    if not any(flags.values()):
        return
    tracked = {os.fsdecode(path) for path in repository.run("ls-files", "-z").split(b"\0")}
    for flag, paths in flags.items():
        data = b"".join(os.fsencode(path) + b"\0" for path in paths if path in tracked)
        if data:
            repository.run("update-index", f"--{flag}", "-z", "--stdin", data=data)


def _submodules(repository: Repository) -> list[str]:
    entries = (os.fsdecode(each) for each in repository.run("ls-files", "-z", "--stage").split(b"\0"))
    return [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]


def _extra(repository: Repository) -> list[str]:
    top = listed(repository.folder, "")
    small = [name for name, status in top if _is_small(status)]
    folders = [name for name, status in top if stat.S_ISDIR(status.st_mode) and name != ".git"]
    ignored = repository.ignored(folders)
    for folder in folders:
        if folder not in ignored and not os.path.lexists(os.path.join(repository.folder, folder, ".git")):
            with suppress(PermissionError):
                inside = listed(repository.folder, folder)
                small += [f"{folder}/{name}" for name, status in inside if _is_small(status)]
    settings = repository.ignored(_settings_of(repository.folder))
    return [*sorted(repository.ignored(small) - settings)[:_EXTRA_FILES], *sorted(settings)]


def _settings_of(workspace: str) -> list[str]:
    """Settings, extensions, agents, commands and skills of a project: small files, as many as can be trusted."""
    found: list[str] = []
    waiting = [*PROJECT_FOLDERS]
    while waiting and len(found) < _SETTINGS_FILES:
        folder = waiting.pop(0)
        with suppress(OSError):
            for name, status in listed(workspace, folder):
                path = f"{folder}/{name}"
                waiting += [path] if stat.S_ISDIR(status.st_mode) and folder.count("/") < _DEEPEST else []
                found += [path] if _is_small(status) else []
    return found[:_SETTINGS_FILES]


def _is_small(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_size <= _EXTRA_BYTES


def _dirty(repository: Repository, commit: str) -> list[str]:
    """Tracked files that differ from the commit."""
    words = ("diff-index", "-z", "--name-only", "--no-ext-diff", "--no-textconv", "--ignore-submodules", commit)
    return [os.fsdecode(each) for each in repository.run(*words).split(b"\0") if each]


def _listed_with(tree: Repository, index: dict[str, str]) -> list[str]:
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    return [os.fsdecode(each) for each in tree.run(*words, env=index).split(b"\0") if each]


def _is_folder(root: str, path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.lstat(os.path.join(root, path)).st_mode)
    return False
