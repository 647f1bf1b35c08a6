"""Worktrees in which the user's own sessions work, each with a name.

Rules:

- A worktree belongs to a repository and has a name there. It lasts until it is removed by name, or at the end of a
  session of the user's: no process that ends, however it does, removes one.
- What works in it, merges it or commits it has its lock, shared; what removes it needs that alone. The lock ends with
  its process.
- Nothing is removed before all changes are stored as a patch, and before every commit made in it is on a branch. Where
  a repository was made in it, with commits that are nowhere else, it is not removed.
- What was trusted and allowed in the workspace is in the worktree, and what was denied: see `trust_copy`, `copy_rules`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from sightline import locks, paths
from sightline.exceptions import OutsideFailure, SightlineError, UserMistake
from sightline.settings import copy_rules, forget_rules, forget_trust_below, trust_copy
from sightline.working_copies._copy import WorkingCopy
from sightline.working_copies._facts import ChangeList, DiffText, Merged
from sightline.working_copies._git import GitFailure, Repository, find_repository, git_program
from sightline.working_copies._opening import is_copy_name, open_copy
from sightline.working_copies._records import CopyRecord, born, records, records_folder
from sightline.working_copies._worktree import can_merge, free_branch

_SECONDS_TO_MAKE = 60.0
_NAME_RULE = "use letters, digits, ., - and _, and begin with a letter or a digit"


class WorktreeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """`commits`: how many were made in it, on its branch or where its HEAD is."""

    changes: ChangeList
    commits: int

    @property
    def is_unchanged(self) -> bool:
        return not self.changes.files and self.changes.is_whole and not self.commits


class RemovedWorktree(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of it: the patch with its changes, and branches with commits of its own. `can_be_merged`: a branch
    has all of its changes, and git can merge it into the workspace as that is now."""

    patch: Path | None = None
    branches: tuple[str, ...] = ()
    can_be_merged: bool = False


class UserWorktree:
    """One of them. All functions that read or change files block, and are for threads."""

    def __init__(self, record: CopyRecord) -> None:
        self.record = record
        self.name = record.name
        self.branch = record.branch
        self.workspace = Path(record.workspace)
        self.tree = Path(record.tree)

    def folder_for(self, folder: Path) -> Path:
        """Where one works in it who would work in `folder` of the workspace."""
        with suppress(ValueError):
            inside = self.tree / Path(os.path.realpath(folder)).relative_to(self.workspace)
            if inside.is_dir():
                return inside
        return self.tree

    def status(self) -> WorktreeStatus:
        self._check_whole()
        repository = self._repository()
        tips = [tip for name in ("HEAD", f"refs/heads/{self.branch}") if (tip := _commit(repository, name))]
        commits = 0
        if tips:
            commits = int(repository.line("rev-list", "--count", *tips, f"^{self.record.commit}"))
        return WorktreeStatus(changes=self._copy().changes(), commits=commits)

    def diff(self, limit: int) -> DiffText:
        self._check_whole()
        return self._copy().diff(limit)

    def merge(self) -> Merged:
        """Its changes into the workspace. See `WorkingCopy.merge`."""
        self._check_whole()
        with self.used():
            return self._copy().merge()

    def commit(self) -> str:
        """Everything in it that git would add, to its branch, whose name is returned."""
        self._check_whole()
        with self.used():
            return self._copy().commit(f"Changes of the worktree {self.name}").name

    def remove(self, seconds: float = 0.0) -> RemovedWorktree:
        """Store its changes, then remove it. UserMistake where something still works in it after `seconds`, or where
        something in it cannot be stored."""
        with self._alone(seconds):
            copy = self._copy()
            if not self.record.is_whole:  # its files are gone already
                branches = [] if find_repository(self.record.workspace) is None else self._branches_left()
                can_be_merged = self._can_be_merged(branches)
                copy.discard()
                self._forget()
                return RemovedWorktree(branches=tuple(branches), can_be_merged=can_be_merged)
            self._check_repositories(copy)
            branches = self._branches_left()
            patch = copy.store_patch().path
            can_be_merged = self._can_be_merged(branches, copy)
            copy.remove()
            self._forget()
        return RemovedWorktree(patch=patch, branches=tuple(branches), can_be_merged=can_be_merged)

    @property
    def has_shell(self) -> bool:
        """Whether this program was started in it: the user's shell would lose the folder it is in."""
        started = os.environ.get("PWD", "")
        return bool(started) and Path(os.path.realpath(started)).is_relative_to(self.tree)

    def is_in_use(self) -> bool:
        """Whether something works in it."""
        try:
            with self._alone():
                return False
        except UserMistake:
            return True

    @contextmanager
    def used(self) -> Iterator[None]:
        """While one works in it. UserMistake while it is being removed."""
        descriptor = self._opened_lock()
        try:
            if not locks.acquire(descriptor, "shared") or not self.record.is_whole:
                hint = "`sightline worktree` lists those there are; --worktree makes it anew"
                raise UserMistake(f"the worktree {self.name} is being removed", hint)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _alone(self, seconds: float = 0.0) -> Iterator[None]:
        descriptor = self._opened_lock()
        try:
            if not locks.acquire(descriptor, "exclusive", seconds=seconds):
                hint = "`sightline ps` lists the sessions that run; end the one that works in it first"
                raise UserMistake(f"the worktree {self.name} is in use", hint)
            yield
        finally:
            os.close(descriptor)

    def _opened_lock(self) -> int:
        """In its own folder, which no sandboxed command can write to, and which stays until the record is removed."""
        paths.private_folder(Path(self.record.folder))
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(Path(self.record.folder, "in-use.lock"), flags, 0o600)

    def _check_whole(self) -> None:
        if not self.record.is_whole:
            raise UserMistake(
                f"the files of the worktree {self.name} are gone: {self.tree}",
                f"`sightline worktree remove {self.name}` removes what is left of it",
            )

    def _check_repositories(self, copy: WorkingCopy) -> None:
        found = [each for each in copy.repositories() if self._has_own_commits(self.tree / each)]
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            raise UserMistake(
                f"the worktree {self.name} has a repository with commits of its own: {self.tree / found[0]}{more}",
                f"push them, or move it elsewhere; then: sightline worktree remove {self.name}",
            )

    def _has_own_commits(self, folder: Path) -> bool:
        """That no other repository is known to have; also where that cannot be found out."""
        own, outer = find_repository(str(folder)), self._repository()
        if own is None or own.git_dir == outer.git_dir:  # git does not take it for a repository
            return Path(folder, ".git", "objects").is_dir()
        is_linked = own.common == outer.common  # the branches stay: its HEAD may be on none
        words = ("HEAD", "--not", "--branches", "--tags") if is_linked else ("--all", "--not")
        try:
            return bool(own.line("rev-list", "--max-count=1", *words, "--remotes"))
        except GitFailure:
            return True

    def _copy(self) -> WorkingCopy:
        return WorkingCopy(self.record)

    def _branches_left(self) -> list[str]:
        """With commits of its own. Those that no branch has get one."""
        branches = [*_detached_branch(self._repository(), self.name)]
        if _commit(self._origin(), f"refs/heads/{self.branch}") not in ("", self.record.commit):
            branches.append(self.branch)
        return branches

    def _can_be_merged(self, branches: list[str], copy: WorkingCopy | None = None) -> bool:
        """`copy`: None where its files are gone. What git cannot answer is no reason not to remove it."""
        if len(branches) != 1:
            return False
        with suppress(SightlineError):
            return (copy is None or copy.is_in(branches[0])) and can_merge(self._origin(), branches[0])
        return False

    def _origin(self) -> Repository:
        repository = find_repository(self.record.workspace)
        if repository is None:
            raise OutsideFailure(f"the repository of the worktree {self.name} cannot be read: {self.workspace}")
        return repository

    def _repository(self) -> Repository:
        """Named by where it was made: the content of the worktree's `.git` file by now means nothing."""
        repository = self._origin()
        folder = self.record.tree if self.tree.is_dir() else self.record.workspace
        return repository.tree(folder, self.record.git_dir)

    def _forget(self) -> None:
        with suppress(OSError):
            os.unlink(Path(self.record.folder, "in-use.lock"))
            os.rmdir(self.record.folder)  # the patch may be in it
        with suppress(SightlineError, OSError):
            forget_trust_below(self.tree)
            forget_rules(self.tree)


def open_worktree(folder: Path, name: str, making: Callable[[str], object] = lambda name: None) -> UserWorktree:
    """That of this name, of the repository that `folder` is in: made if there is none. Without a name, one is given.
    `making` is called with the name before it is made, which may take some seconds."""
    at = worktree_at(folder)
    if at is not None:
        if name in ("", at.name):
            return at
        hint = f"start it in the workspace: {at.workspace}"
        raise UserMistake(f"this folder is in the worktree {at.name} already", hint)
    if name:
        check_worktree_name(name)
    workspace = Path(_workspace_of(folder))
    with _making():
        name = name or _free_name(workspace)
        found = next((each for each in records() if _is_named(each, name, workspace)), None)
        if found is not None and not found.is_whole:  # removed by other means, or killed while it was made
            UserWorktree(found).remove(_SECONDS_TO_MAKE)
            found = None
        if found is None:
            making(name)
            place = paths.data_folder() / "worktrees" / os.urandom(8).hex()
            found = open_copy(workspace, place, name, "worktree", is_users=True).record
            trust_copy(workspace, Path(found.tree))
            copy_rules(workspace, Path(found.tree), allow=True)
        else:
            copy_rules(workspace, Path(found.tree), allow=False)
    return UserWorktree(found)


def find_worktree(folder: Path, name: str) -> UserWorktree:
    """An existing one, by its name in the repository of `folder`; elsewhere by a name that no other has."""
    check_worktree_name(name)
    found = [each for each in worktrees() if each.name == name]
    at, here = worktree_at(folder), os.path.realpath(folder)
    near = at.workspace if at is not None else None
    own = [each for each in found if near == each.workspace or Path(here).is_relative_to(each.workspace)]
    found = own or found
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(str(each.workspace) for each in found)
        raise UserMistake(f"several repositories have a worktree {name}: {places}", "run it in one of them")
    raise UserMistake(f"no worktree {name}", "list them with: sightline worktree")


def worktrees() -> list[UserWorktree]:
    """All there are, of every repository, by name."""
    return sorted(
        (UserWorktree(each) for each in records() if each.is_users and _is_made(each)),
        key=lambda each: (each.record.workspace, each.name),
    )


def worktree_at(folder: str | Path) -> UserWorktree | None:
    """The one that a folder is in."""
    if not paths.in_copies_folder(folder):
        return None
    here = Path(os.path.realpath(folder))
    return next((each for each in worktrees() if each.record.is_whole and here.is_relative_to(each.tree)), None)


def check_worktree_name(name: str) -> None:
    if not is_copy_name(name):
        raise UserMistake(f"not a name for a worktree: {name!r}", _NAME_RULE)


def _is_made(record: CopyRecord) -> bool:
    """Not one that another process makes at this moment."""
    return record.is_whole or not record.born or born(record.pid) != record.born


def _is_named(record: CopyRecord, name: str, workspace: Path) -> bool:
    return record.is_users and record.name == name and record.workspace == str(workspace)


def _free_name(workspace: Path) -> str:
    taken = {each.name for each in records() if each.is_users and each.workspace == str(workspace)}
    return next(name for number in range(1, len(taken) + 2) if (name := f"work-{number}") not in taken)


def _workspace_of(folder: Path) -> str:
    if git_program() is None:
        raise UserMistake("a worktree needs git, which is not installed", "install git, or leave out --worktree")
    repository = find_repository(os.path.realpath(folder))
    if repository is None:
        hint = "make one with `git init` and a first commit, or leave out --worktree"
        raise UserMistake(f"not in a git repository that can be used: {folder}", hint)
    if repository.head() is None:
        raise UserMistake(f"the repository has no commit yet: {repository.folder}", "make a first commit")
    return repository.folder


@contextmanager
def _making() -> Iterator[None]:
    """One process at a time: two that want the same name would else make it twice."""
    paths.private_folder(records_folder())
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(records_folder() / "worktrees.lock", flags, 0o600)
    try:
        if not locks.acquire(descriptor, "exclusive", seconds=_SECONDS_TO_MAKE):
            raise OutsideFailure("another process is making a worktree", "try again when it has finished")
        yield
    finally:
        os.close(descriptor)


def _commit(repository: Repository, name: str) -> str:
    """Empty where there is none."""
    found = repository.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", allowed=(0, 1, 128))
    return os.fsdecode(found).strip()


def _detached_branch(repository: Repository, name: str) -> Iterator[str]:
    """A branch for commits that only the HEAD of the worktree leads to: they would be lost with it."""
    head = _commit(repository, "HEAD")
    if head and repository.line("rev-list", "--count", head, "--not", "--branches", "--tags", "--remotes") != "0":
        branch = free_branch(repository, f"{name}-head")
        try:
            repository.run("update-ref", "-m", "sightline", f"refs/heads/{branch}", head, "0" * len(head))
        except GitFailure as problem:
            raise OutsideFailure(problem.message, "make a branch of its commits first: git switch -c NAME") from None
        yield branch
