"""Opening a working copy: the best kind that can be had here.

Rules:

- An overlay is best: it is there at once and has every file, ignored ones too. For a branch it is a git
  worktree, and where neither can be had a plain copy. `why` has the reason for each better one that could not be.
- The agent's files are outside the workspace, and none of our own files is inside of it.
- What was made is removed when opening fails; what a killed process made is found by its record.
"""

import os
import re
from pathlib import Path
from typing import Literal

import msgspec

from sightline import paths
from sightline.exceptions import OutsideFailure, SightlineError, UserMistake
from sightline.exec import remove_folder, work_in
from sightline.working_copies._copy import WorkingCopy
from sightline.working_copies._copying import all_files, copied
from sightline.working_copies._facts import CopyKind
from sightline.working_copies._git import find_repository, git_program
from sightline.working_copies._manifest import Manifest, scanned, tick
from sightline.working_copies._overlay import make_overlay, overlay_answer
from sightline.working_copies._records import CopyRecord, born, records, remove_record, write_record
from sightline.working_copies._side import GIT
from sightline.working_copies._worktree import free_branch, make_worktree, remove_worktree

KindChoice = Literal["auto", "overlay", "worktree", "copy"]

_name = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")


class _NotToBeHad(Exception):
    """This kind cannot be made here."""


def open_copy(
    workspace: Path,
    folder: Path,
    name: str,
    want: KindChoice = "auto",
    *,
    branch: bool = False,
    is_users: bool = False,
) -> WorkingCopy:
    """A copy of `workspace` whose parts are in `folder`, which must be empty or missing. UserMistake where what is
    requested cannot be had, OutsideFailure where making it fails. `is_users`: see `CopyRecord`."""
    record = _begun(workspace, folder, name, is_users=is_users)
    work_in(record.workspace)
    kinds = _kinds(want, branch=branch)
    reasons: list[str] = []
    for kind in kinds:
        try:
            return _opened(msgspec.structs.replace(record, kind=kind, why="; ".join(reasons)))
        except _NotToBeHad as problem:
            reasons.append(f"{kind}: {problem}")
    raise UserMistake(f"no working copy can be made: {'; '.join(reasons)}", "choose another kind of working copy")


def _kinds(want: KindChoice, *, branch: bool) -> tuple[CopyKind, ...]:
    if branch:
        if want not in ("auto", "worktree"):
            raise UserMistake(f"a working copy of kind {want} has no branch", "choose worktree, or no branch")
        return ("worktree",)
    return ("overlay", "worktree", "copy") if want == "auto" else (want,)


def is_copy_name(name: str) -> bool:
    """Whether git takes it for a branch, the system for a folder, and no program for an option."""
    return bool(_name.fullmatch(name)) and ".." not in name and not name.endswith(".lock")


def _begun(workspace: Path, folder: Path, name: str, *, is_users: bool) -> CopyRecord:
    if not is_copy_name(name):
        raise UserMistake(f"not a name for a working copy: {name!r}", "use letters, digits, - and _")
    root, place = os.path.realpath(workspace), os.path.realpath(folder)
    if not os.path.isdir(root) or root == "/":
        raise UserMistake(f"not a workspace that can be copied: {workspace}", "name the folder of a project")
    ours = (paths.data_folder(), paths.copies_folder(), *paths.default_data_folders())
    own = [os.path.realpath(each) for each in ours]
    if any(_holds(each.tree, root) for each in records() if each.is_users):  # a user's worktree is a workspace, too
        own.remove(os.path.realpath(paths.copies_folder()))
    if any(_holds(root, each) for each in (place, *own[:2])) or any(_holds(each, root) for each in (place, *own)):
        raise UserMistake(
            f"the workspace {root} contains files of sightline, or is among them", "move them with SIGHTLINE_HOME"
        )
    if os.path.isdir(place) and os.path.lexists(os.path.join(place, "copy")):
        raise UserMistake(f"there is a working copy already: {place}", "choose another folder")
    status, id = os.stat(root), os.urandom(8).hex()
    return CopyRecord(
        id=id,
        tree=os.path.join(os.path.realpath(paths.copies_folder()), f"{name}-{id[:6]}" if is_users else id),
        is_users=is_users,
        workspace=root,
        folder=place,
        name=name,
        kind="copy",
        device=status.st_dev,
        inode=status.st_ino,
        pid=os.getpid(),
        born=born(os.getpid()),
    )


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _opened(record: CopyRecord) -> WorkingCopy:
    record = _planned(record)
    write_record(record)
    try:
        paths.private_folder(record.parts)
        before = tick(record.parts)
        match record.kind:
            case "overlay":
                record = _make_overlay(record)
                manifest = _scanned(record, before)
            case "worktree":
                manifest, git_dir = _make_worktree(record, before)
                record = msgspec.structs.replace(record, git_dir=git_dir)
            case "copy":
                manifest = _make_copy(record, before)
        manifest.write(record.parts / "manifest")
        tick(record.parts)  # the agent's first change is later than everything here
        write_record(record)
    except BaseException as problem:
        _undo(record)
        if isinstance(problem, OSError):
            raise OutsideFailure(f"the working copy could not be made: {problem}") from problem
        raise
    return WorkingCopy(record)


def _planned(record: CopyRecord) -> CopyRecord:
    """With what the record must have before anything is made."""
    if record.kind != "worktree":
        return record
    if git_program() is None:
        raise _NotToBeHad("git is not installed")
    repository = find_repository(record.workspace)
    if repository is None:
        raise _NotToBeHad("the workspace is not a git repository, or git refuses it")
    if repository.folder != record.workspace:
        raise _NotToBeHad(f"the workspace is a folder of the repository {repository.folder}")
    head = repository.head()
    if head is None:
        raise _NotToBeHad("the repository has no commit yet")
    return msgspec.structs.replace(record, branch=free_branch(repository, record.name), commit=head)


def _make_overlay(record: CopyRecord) -> CopyRecord:
    answer = overlay_answer(record.workspace, record.parts)
    if answer.mode is None:
        raise _NotToBeHad(answer.why)
    make_overlay(record.workspace, record.parts)
    return msgspec.structs.replace(record, mount=answer.mode)


def _scanned(record: CopyRecord, before: int) -> Manifest:
    try:
        return scanned(record.workspace, before)
    except OutsideFailure as problem:
        raise _NotToBeHad(problem.message) from problem


def _make_worktree(record: CopyRecord, before: int) -> tuple[Manifest, str]:
    repository = find_repository(record.workspace)
    if repository is None:
        raise _NotToBeHad("the workspace is not a git repository")
    try:
        return make_worktree(repository, record, before)
    except SightlineError as problem:
        raise _NotToBeHad(problem.message) from problem


def _make_copy(record: CopyRecord, before: int) -> Manifest:
    paths.private_folder(Path(record.tree), paths.copies_folder())
    try:
        files = copied(record.workspace, record.tree, all_files(record.workspace), before)
    except OutsideFailure as problem:
        raise _NotToBeHad(problem.message) from problem
    repositories = {path.partition("/.git/")[0] for path in (f"{each}/" for each in files) if "/.git/" in path}
    own = {path: entry for path, entry in files.items() if GIT not in path.split("/")}
    return Manifest(own, sorted(repositories))


def _undo(record: CopyRecord) -> None:
    if record.kind == "worktree" and (repository := find_repository(record.workspace)) is not None:
        remove_worktree(repository, record)
    remove_folder(record.tree)
    remove_folder(str(record.parts))
    remove_record(record)
