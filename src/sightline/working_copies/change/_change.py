"""A change of a repository, read at one moment: which files, how much, and the diff. Blocking.

Rules:

- Nothing of the repository is run (`_git`), and nothing is written to it. It is read by git's plumbing
  commands, which the settings of a repository or a user do not make look different.
- Files that may not be read are left out, and so are new files that are no files or links, or too large.
- Everything has a bound; what is cut off is known (`is_whole`).
- In the diff every character can be seen, and no character but the newline ends a line.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache, cached_property

import msgspec

from sightline.exceptions import UserMistake
from sightline.text import clean_line, visible
from sightline.working_copies._git import GitFailure, Repository
from sightline.working_copies._patch import change_of, patch_of
from sightline.working_copies._states import MISSING, look, signature
from sightline.working_copies.change._diff import FileDiff, files_of
from sightline.working_copies.change._lines_around import BaseLines, lines_around
from sightline.working_copies.change._target import (
    UNCOMMITTED,
    ChangeChoices,
    ChangeTarget,
    commit_choices,
    find_target,
    open_repository,
)

DIFF_AT_MOST = 8 * 1024 * 1024  # bytes
_NAMES_AT_MOST = 16 * 1024 * 1024  # bytes of the names of files
_NEW_FILES_AT_MOST = 5000
_NEW_FILE_AT_MOST = 1024 * 1024  # bytes
_BASE_AT_MOST = 2 * 1024 * 1024  # bytes of a file as it was before
_LEFT_OUT_BYTES = 64 * 1024  # of the names of files that may not be read, which are given to git
_AS_TEXT = ("--no-ext-diff", "--no-textconv", "--no-color", "-M", "--ignore-submodules=dirty")

MayRead = Callable[[str], bool]


class ReviewedFile(msgspec.Struct, frozen=True, kw_only=True):
    """`path`: as it can be shown. `added`, `removed`: lines; None of what has none, such as a binary file."""

    path: str
    added: int | None = None
    removed: int | None = None


class RepositoryChange(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """`diff`: of all files, cut where it is not whole. `left_out`: how many files may not be read."""

    target: ChangeTarget
    repository: Repository
    files: tuple[ReviewedFile, ...]
    diff: str
    is_whole: bool
    left_out: int
    may_read: MayRead

    @cached_property
    def file_diffs(self) -> list[FileDiff]:
        return files_of(self.diff)

    @cached_property
    def _by_path(self) -> dict[str, FileDiff]:
        return {each.path: each for each in reversed(self.file_diffs)}

    def find(self, name: str, cwd: str) -> str:
        """The path in the repository of what is called so in `cwd`, or in the diff; empty: it is not in it."""
        if not name or "\0" in name:
            return ""
        top = self.repository.folder
        here = os.path.relpath(os.path.join(os.path.realpath(cwd), name), top)
        prefixed = [name[2:]] if name.startswith(("a/", "b/")) else []
        known = (path for path in (os.path.normpath(name), here, *prefixed) if path in self._by_path)
        return next(known, "" if here.split("/")[0] in ("..", ".") else here)

    def around(self, path: str, first: int, last: int) -> str:
        """The lines around a place of a file, by their numbers after the change: a part of a diff, without the names of
        files. Empty: there is no such place, or it cannot be read."""
        file = self._by_path.get(path)
        return lines_around(file, self._base_lines(path if file is None else file.paths[0]), first, last)

    def _base_lines(self, path: str) -> BaseLines:
        """A file as it was. It is read when it is needed."""

        @cache
        def read() -> list[str]:
            if not path or not self.may_read(os.path.join(self.repository.folder, path)):
                return []
            words = ("cat-file", "blob", f"{self.target.base}:{path}")
            try:
                data, is_whole = self.repository.read(*words, limit=_BASE_AT_MOST)
            except GitFailure:  # there was none
                return []
            return _text(data).split("\n") if is_whole and b"\0" not in data else []

        return read


def read_change(folder: str, words: str, may_read: MayRead = lambda path: True) -> RepositoryChange:
    """What the user named, in the repository of this folder. `may_read`: of a path. UserMistake where there is nothing
    to review."""
    repository = open_repository(folder)
    target = find_target(repository, words)
    tracked = list(_tracked(repository, target))
    new = [] if target.tip else _untracked(repository)
    if not tracked and not new:
        raise _nothing(target)
    left_out = [file for file in tracked if not all(may_read(os.path.join(repository.folder, p)) for p in file.paths)]
    readable = [path for path in new if may_read(os.path.join(repository.folder, path))]
    found, is_whole = _tracked_diff(repository, target, left_out)
    # Once more: a file may have been changed since they were listed.
    shown = [file for file in found if all(may_read(os.path.join(repository.folder, p)) for p in file.paths if p)]
    diff = "".join(file.text for file in shown)
    files = [
        ReviewedFile(path=_shown(file.path), added=file.added, removed=file.removed)
        for file in tracked
        if file not in left_out
    ]
    pieces, room = [diff], DIFF_AT_MOST - len(diff)
    for path in readable[:_NEW_FILES_AT_MOST]:
        file, text = _new_file(repository.folder, path, with_text=room > 0)
        if file is not None:
            files.append(file)
            pieces.append(text)
            is_whole = is_whole and room > 0
            room -= len(text)
    if not files:
        raise UserMistake(f"nothing to review: no file of {target.about} may be read", "/approvals lists the rules")
    return RepositoryChange(
        target=target,
        repository=repository,
        files=tuple(files),
        diff="".join(pieces),
        is_whole=is_whole and len(readable) <= _NEW_FILES_AT_MOST,
        left_out=len(left_out) + len(found) - len(shown) + len(new) - len(readable),
        may_read=may_read,
    )


def change_choices(folder: str) -> ChangeChoices:
    """What there is to review in the repository of this folder."""
    repository = open_repository(folder)
    target = find_target(repository, "")
    uncommitted = len(list(_tracked(repository, target))) + len(_untracked(repository))
    return msgspec.structs.replace(commit_choices(repository), uncommitted=uncommitted)


class _TrackedFile(msgspec.Struct, frozen=True):
    path: str
    before: str
    added: int | None
    removed: int | None

    @property
    def paths(self) -> set[str]:
        return {self.path, self.before}


def _nothing(target: ChangeTarget) -> UserMistake:
    if target.about == UNCOMMITTED:
        return UserMistake("nothing to review: there are no uncommitted changes", "name a branch: /review main")
    return UserMistake(f"nothing to review: there is no change in {target.about}", "name another: /review A..B")


def _compared(target: ChangeTarget) -> tuple[str, ...]:
    """The words of a command of git's. Both ends are ids."""
    if target.tip:
        return ("diff-tree", "-r", *_AS_TEXT, target.base, target.tip)
    return ("diff-index", *_AS_TEXT, target.base)


def _tracked(repository: Repository, target: ChangeTarget) -> Iterator[_TrackedFile]:
    command, *words = _compared(target)
    fields = iter(_names(repository, command, "--numstat", "-z", *words))
    for found in fields:
        added, _, rest = found.partition(b"\t")
        removed, tab, path = rest.partition(b"\t")
        before = path
        if tab and not path:  # it was renamed: both names follow
            before, path = next(fields, b""), next(fields, b"")
        if path:
            yield _TrackedFile(os.fsdecode(path), os.fsdecode(before), _number(added), _number(removed))


def _untracked(repository: Repository) -> list[str]:
    """Without repositories inside this one."""
    found = map(os.fsdecode, _names(repository, "ls-files", "-z", "--others", "--exclude-standard"))
    return [path for path in found if not path.endswith("/")]


def _names(repository: Repository, *words: str) -> list[bytes]:
    data, is_whole = repository.read(*words, limit=_NAMES_AT_MOST)
    if not is_whole:
        raise UserMistake("the change has too many files to be reviewed", "review a part of it: /review A..B")
    return data.split(b"\0")[:-1]


def _number(text: bytes) -> int | None:
    return int(text) if text.isdigit() else None


def _tracked_diff(
    repository: Repository, target: ChangeTarget, left_out: list[_TrackedFile]
) -> tuple[list[FileDiff], bool]:
    command, *words = _compared(target)
    if without := [f":(top,exclude,literal){path}" for file in left_out for path in file.paths]:
        if sum(len(os.fsencode(each)) for each in without) > _LEFT_OUT_BYTES:
            raise UserMistake(f"too many files of {target.about} may not be read", "review a part of it: /review A..B")
        words += ["--", ":(top)", *without]
    data, is_whole = repository.read(command, "-p", "-U5", *words, limit=DIFF_AT_MOST)
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1]
    return [file for file in files_of(_text(data)) if not file.is_empty], is_whole


def _new_file(folder: str, path: str, *, with_text: bool) -> tuple[ReviewedFile | None, str]:
    """One that git does not track yet, and its diff."""
    known = signature(folder, path)
    if known is None or known.size > _NEW_FILE_AT_MOST or not with_text:
        return (None if known is None else ReviewedFile(path=_shown(path))), ""
    after = look(folder, path)
    if after.kind not in ("file", "link"):
        return None, ""
    found = change_of(path, MISSING, after)
    text = _text(b"".join(patch_of(path, MISSING, after, binary=False)))
    is_text = found.content == "text"
    added, removed = (found.added, found.removed) if is_text else (None, None)
    return ReviewedFile(path=_shown(path), added=added, removed=removed), text


def _text(data: bytes) -> str:
    return visible(data.decode(errors="replace").replace("\r\n", "\n"))


def _shown(path: str) -> str:
    return clean_line(visible(path.encode(errors="replace").decode()))
