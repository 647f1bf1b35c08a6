"""A working copy of a workspace, in which one agent works apart from the others.

Rules:

- It is all in its record and its folder: a process that did not open it can read, merge and remove it.
- All functions block, and are for threads. One at a time: a copy has a lock.
- Nothing is applied or removed before the agent's changes are stored as a patch, whole.
- `.git` is no part of a copy's changes, nor is what git ignores in the workspace; a `.gitignore` of the agent's hides
  nothing. Files of repositories inside the workspace are compared like all others.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from threading import Event, RLock

import msgspec

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.exec import remove_folder, work_in
from sightline.working_copies._bases import Bases
from sightline.working_copies._copying import CopiedFolder, copy_content
from sightline.working_copies._facts import (
    Branch,
    ChangeList,
    CopyChange,
    CopyKind,
    DiffText,
    MergeConflict,
    Merged,
    RefusedFile,
    StoredCommits,
    StoredPatch,
)  # fmt: skip
from sightline.working_copies._git import GitFailure, Repository, TimeLimit, find_repository
from sightline.working_copies._manifest import Manifest
from sightline.working_copies._merging import ChangedPair, MergeRules, WorkspaceMerge
from sightline.working_copies._overlay import OverlaySide
from sightline.working_copies._patch import change_of, is_gits, patch_of
from sightline.working_copies._records import CopyRecord, MergeLock, records, remove_record
from sightline.working_copies._side import AgentSide
from sightline.working_copies._states import MISSING, FileState, Signature, behind_links, entry_at, look, signature
from sightline.working_copies._stored_files import new_file
from sightline.working_copies._worktree import commit_all, has_all, remove_worktree
from sightline.working_copies.commits._own_commits import SECONDS as COMMITS_SECONDS
from sightline.working_copies.commits._own_commits import store_own_commits
from sightline.working_copies.commits._repositories import (
    named_elsewhere,
    repositories_in,
    worktrees_of,
)  # fmt: skip

_Known = tuple[Signature | None, Signature | None, CopyChange | None]


class WorkingCopy:
    """`why`: why no better kind could be had. A process of the agent is started as `[*copy.words, *argv]` in `cwd`."""

    def __init__(self, record: CopyRecord) -> None:
        self.record = record
        self.kind: CopyKind = record.kind
        self.why = record.why
        self.branch = record.branch
        self._lock = RLock()
        self._hurried = Event()
        self._known: dict[str, _Known] = {}
        work_in(record.workspace)

    @property
    def words(self) -> tuple[str, ...]:
        return self._side.words

    @property
    def cwd(self) -> Path:
        return Path(self._side.cwd)

    def changes(self) -> ChangeList:
        """What differs now; also while the agent works. To be called every so often: the start of a file that is found
        changed is stored then, for a merge after the user has changed it as well."""
        with self._lock:
            paths, is_whole = self._changed_paths(force=False)
            files = [found for path in paths if (found := self._change(path)) is not None]
        return ChangeList(files=tuple(files), is_whole=is_whole)

    def diff(self, limit: int) -> DiffText:
        """At most so many characters, cut after a line; of binary files their names."""
        with self._lock:
            paths, is_whole = self._changed_paths(force=False)
            pieces: list[str] = []
            for changed in self._changed(paths, force=False):
                for piece in patch_of(changed.path, changed.before, changed.after, binary=False):
                    pieces.append(piece.decode(errors="replace"))
                    limit -= len(pieces[-1])
                if limit < 0:
                    text = "".join(pieces)[:limit]
                    return DiffText(text=text[: text.rfind("\n") + 1], is_whole=False)
        return DiffText(text="".join(pieces), is_whole=is_whole)

    def repositories(self) -> list[str]:
        """Folders of it that became repositories. Their files are among the changes; their commits are nowhere else."""
        with self._lock, _explained():
            return sorted(self._side.candidates(self._ignored, force=True).repositories)

    def store_patch(self) -> StoredPatch:
        """All changes, for `git apply`. Files too large for one are stored in `large` beside it."""
        with self._lock, _explained():
            return self._store_patch(self._all_paths())

    def hurry(self) -> None:
        """From any thread: nobody waits any more. What `store_commits` has not stored in a moment stays in the copy."""
        self._hurried.set()

    def store_commits(self) -> list[StoredCommits]:
        """Those an agent made in it, which nothing else has: beside the patch. OutsideFailure when it is hurried."""
        limit = TimeLimit(COMMITS_SECONDS, self._hurried)
        with self._lock, _explained():
            found = self._side.candidates(self._ignored, force=True)
            folders = sorted(found.repositories | set(self._manifest.repositories))
            root, cwd = self._side.root, self._side.cwd
            own = [*repositories_in(self.record.workspace, root, cwd, self._with_top(folders), sorted(found.paths))]
            elsewhere = {folder: path for folder in folders if (path := named_elsewhere(root, cwd, folder))}
            if self.kind == "worktree" and self._repository is not None:
                own += worktrees_of(self._repository, {"": self.record.git_dir, **elsewhere})
            stored = store_own_commits(own, Path(self.record.folder), self.record.parts, limit)
            known, why = {each.folder for each in own}, "it is not in the copy"
            removed = f"{self.record.git_dir or self.record.folder}/"
            return stored + [
                StoredCommits((f"all in {folder}",), None, why, Path(path) if os.path.isdir(path) else None)
                for folder, path in elsewhere.items() if folder not in known and not path.startswith(removed)
            ]  # fmt: skip

    def _with_top(self, folders: list[str]) -> list[str]:
        return folders if self.kind == "worktree" else ["", *folders]

    def merge(self, may_write: Callable[[str], bool] = lambda path: True) -> Merged:
        """Into the workspace. What is merged counts as the start from then on; what is not can be merged again.
        `may_write`: of a real path in the workspace; what may not be is refused."""
        with self._lock, _explained(), MergeLock(self.record.device, self.record.inode):
            self._check_workspace()
            paths = self._all_paths()
            stored = self._store_patch(paths)
            for other in self._others():
                with suppress(OSError, OutsideFailure):  # it is being opened, or removed
                    other.store_bases(paths)
            return self._merge(paths, stored, may_write)

    def store_bases(self, paths: list[str]) -> None:
        """These files are about to be changed in the workspace: store what they were when this copy began."""
        for path in paths:
            self._bases.store(path)

    def _others(self) -> "list[WorkingCopy]":
        """The other copies of this workspace, of whatever process."""
        place = (self.record.device, self.record.inode)
        found = [each for each in records() if (each.device, each.inode) == place and each.id != self.record.id]
        return [WorkingCopy(each) for each in found]

    def commit(self, message: str, may_write: Callable[[str], bool] | None = None) -> Branch:
        """Everything, to the copy's branch. Nothing of it is merged. `may_write`: what a merge would refuse is refused;
        None: the user commits."""
        with self._lock, _explained():
            repository = self._repository
            if self.kind != "worktree" or repository is None:
                raise UserMistake("this working copy has no branch", "open it with a branch")
            tree = repository.tree(self._side.cwd, self.record.git_dir)
            paths = self._all_paths()
            states = {path: _without_folder(self._side.look(path, force=True)) for path in paths}
            why_not = None if may_write is None else MergeRules(self.record.workspace, may_write).why_not
            made = commit_all(tree, self.record, message, self._manifest, paths, why_not)
            left_out = {*made.left_out, *(each.path for each in made.refused)}
            self._note_stored({path: state for path, state in states.items() if path not in left_out})
            return made

    def is_in(self, branch: str) -> bool:
        """Whether a branch has everything that was changed here."""
        with self._lock, _explained():
            repository = self._repository
            assert repository is not None
            changed = [each.path for each in self._changed(self._all_paths(), force=True)]
            return has_all(repository.tree(self._side.cwd, self.record.git_dir), branch, self._manifest, changed)

    def remove(self) -> None:
        """All of it but the patch and what is stored beside it. UserMistake while a process is in it, or there are
        changes that are neither merged nor stored."""
        with self._lock, _explained():
            if self.record.parts.is_dir():
                if self._side.is_in_use():
                    raise UserMistake(f"a process is still in the working copy: {self.record.files}", "end it first")
                self._check_stored()
            self.discard()

    def _changed_paths(self, *, force: bool) -> tuple[list[str], bool]:
        """Candidates that are not ignored, with their start stored."""
        found = self._side.candidates(self._ignored, force=force)
        paths = sorted(found.paths - self._ignored(list(found.paths)))
        self.store_bases(paths)
        return paths, found.is_whole

    def _all_paths(self) -> list[str]:
        paths, is_whole = self._changed_paths(force=True)
        if not is_whole:
            raise OutsideFailure(
                f"not all changes in the working copy could be read: {self.record.files}",
                "remove what is not needed in it, or make its folders readable",
            )
        return paths

    def _changed(self, paths: list[str], *, force: bool) -> Iterator[ChangedPair]:
        for path in paths:
            after, base = self._side.look(path, force=force), self._bases.of(path)
            before = look(self.record.workspace, path) if base is None else base
            before, after = _without_folder(before), _without_folder(after)
            if before != after:
                yield ChangedPair(path, before, after, base is not None)

    def _change(self, path: str) -> CopyChange | None:
        """Read and compared only when one of the two sides is another than last time."""
        mine, theirs = self._side.signature(path), signature(self.record.workspace, path)
        known = self._known.get(path)
        if known is None or known[:2] != (mine, theirs):
            pair = next(self._changed([path], force=False), None)
            change = None if pair is None else change_of(path, pair.before, pair.after)
            self._known[path] = known = (mine, theirs, change)
        return known[2]

    def _ignored(self, paths: list[str]) -> set[str]:
        """By the rules of the repository that each path is in."""
        if not paths:
            return set()
        groups: dict[str, list[str]] = {"": []}
        nested = sorted(self._manifest.repositories, key=len, reverse=True)
        for path in paths:
            inside = next((each for each in nested if path.startswith(f"{each}/")), "")
            groups.setdefault(inside, []).append(path)
        ignored: set[str] = set()
        outer = set() if len(groups) == 1 else self._ignored_in("", [each for each in groups if each])
        for folder, members in groups.items():
            ignored.update(members if folder in outer else self._ignored_in(folder, members))
        return ignored

    def _ignored_in(self, folder: str, paths: list[str]) -> set[str]:
        repository = self._repositories(folder)
        if repository is None or not paths:
            return set()
        top = os.path.relpath(os.path.join(self.record.workspace, folder), repository.folder)
        prefix = "" if top == "." else f"{top}/"
        start = f"{folder}/" if folder else ""
        behind = behind_links(self.record.workspace, paths)  # git refuses to answer for these
        named = {prefix + path.removeprefix(start): path for path in paths if path not in behind}
        try:
            return {named[each] for each in repository.ignored(named) if each in named}
        except GitFailure:  # nothing is hidden then
            return set()

    def _repositories(self, folder: str) -> Repository | None:
        if not folder:
            return self._repository
        found = find_repository(os.path.join(self.record.workspace, folder))
        return found if found and found.folder == os.path.join(self.record.workspace, folder) else None

    def _store_patch(self, paths: list[str]) -> StoredPatch:
        stored: dict[str, FileState] = {}
        large: list[Path] = []
        place = self.record.patch
        beside = place.parent / "large"
        remove_folder(str(beside))
        new = place.with_suffix(".new")
        with open(new, "wb", opener=_private) as file:
            for changed in self._changed(paths, force=True):
                stored[changed.path] = changed.after
                file.writelines(patch_of(changed.path, changed.before, changed.after))
                needs_place = changed.before.kind == "large" or is_gits(changed.path)
                if changed.after.kind == "large" or (changed.after.kind == "file" and needs_place):
                    large.append(self._store_large(beside, changed.path))
            file.flush()
            os.fsync(file.fileno())
        if not stored:
            new.unlink()
            return StoredPatch()
        new.rename(place)
        self._note_stored(stored)
        return StoredPatch(path=place, large=tuple(large))

    def _note_stored(self, states: dict[str, FileState]) -> None:
        """By digests, for a removal in another process."""
        noted = {os.fsencode(path): _fingerprint(state) for path, state in states.items()}
        (self.record.parts / "stored").write_bytes(msgspec.msgpack.encode(noted))

    def _store_large(self, beside: Path, path: str) -> Path:
        with entry_at(self._side.root, path) as found:
            source = found.open_regular()
            try:
                place, target = new_file(beside, path)
                try:
                    copy_content(source, target)
                    os.fsync(target)
                finally:
                    os.close(target)
            finally:
                os.close(source)
        return place

    def _check_stored(self) -> None:
        try:
            stored = msgspec.msgpack.decode((self.record.parts / "stored").read_bytes(), type=dict[bytes, bytes])
        except FileNotFoundError:
            stored = {}
        for changed in self._changed(self._all_paths(), force=True):
            if stored.get(os.fsencode(changed.path)) != _fingerprint(changed.after):
                raise UserMistake(
                    f"the working copy has changes that are neither merged nor stored: {self.record.files}",
                    "merge them, or store them as a patch first",
                )

    def _check_workspace(self) -> None:
        try:
            found = os.stat(self.record.workspace, follow_symlinks=False)
        except OSError as problem:
            raise OutsideFailure(f"cannot read the workspace {self.record.workspace}: {problem.strerror}") from problem
        if (found.st_dev, found.st_ino) != (self.record.device, self.record.inode):
            raise OutsideFailure(f"the workspace is another folder now: {self.record.workspace}")

    def _merge(self, paths: list[str], stored: StoredPatch, may_write: Callable[[str], bool]) -> Merged:
        applied: list[str] = []
        conflicts: list[MergeConflict] = []
        refused: list[RefusedFile] = []
        place = Path(self.record.folder, "conflicts")
        remove_folder(str(place))
        scratch = self.record.parts / "merging"
        scratch.mkdir(exist_ok=True)
        merge = WorkspaceMerge(self.record.workspace, self._side, place, scratch, may_write)
        # What is deleted goes first, from the innermost: where a folder was, there may be a file now.
        gone = [path for path in reversed(paths) if _without_folder(self._side.look(path, force=True)) == MISSING]
        for changed in self._changed([*gone, *(path for path in paths if path not in set(gone))], force=True):
            match merge.apply(changed):
                case None:
                    applied.append(changed.path)
                    self._bases.replace(changed.path, changed.after)
                case MergeConflict() as conflict:
                    conflicts.append(conflict)
                case RefusedFile() as refusal:
                    refused.append(refusal)
        self._known.clear()
        return Merged(
            applied=tuple(sorted(applied)),
            conflicts=tuple(conflicts),
            refused=tuple(refused),
            patch=stored.path,
            large=stored.large,
        )

    def discard(self) -> None:
        """The same for one that no agent has worked in: nothing is checked."""
        gone = f"{self.record.tree}.removed"
        if self.record.tree:
            with suppress(OSError):  # in one step: what is half removed would look like files the agent deleted
                os.rename(self.record.tree, gone)
        if self.kind == "worktree" and self._repository is not None:
            remove_worktree(self._repository, self.record)
        for folder in (self.record.tree, gone, str(self.record.parts)):
            remove_folder(folder)
            if os.path.lexists(folder):
                raise OutsideFailure(f"the working copy could not be removed: {folder}")
        with suppress(OSError):  # the patch is in it, or something of the caller's
            os.rmdir(self.record.folder)
        remove_record(self.record)

    @cached_property
    def _manifest(self) -> Manifest:
        return Manifest.read(self.record.parts / "manifest")

    @cached_property
    def _side(self) -> AgentSide:
        record = self.record
        if record.kind == "overlay":
            return OverlaySide(record.workspace, str(record.parts), record.mount, self._manifest)
        return CopiedFolder(record.tree, self._manifest)

    @cached_property
    def _repository(self) -> Repository | None:
        return find_repository(self.record.workspace)

    @cached_property
    def _bases(self) -> Bases:
        record = self.record
        repository = self._repository if record.kind == "worktree" else None
        return Bases(record.workspace, record.parts / "bases", self._manifest, repository, record.commit)


def _without_folder(state: FileState) -> FileState:
    """Folders are no part of what is compared."""
    return MISSING if state.kind == "folder" else state


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise OutsideFailure(f"the working copy cannot be read or stored: {problem}") from problem


def _fingerprint(state: FileState) -> bytes:
    return blake2b(msgspec.msgpack.encode(state), digest_size=20).digest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
