"""What a working copy reports: facts for the caller, who makes sentences of them.

A path is relative to the workspace, as `os` gives it: a name that is not UTF-8 has surrogates, and leads to its file.
"""

from pathlib import Path
from typing import Literal

import msgspec

CopyKind = Literal["overlay", "worktree", "copy"]
MountMode = Literal["privileged", "user"]
Content = Literal["text", "binary", "link", "special"]
ConflictReason = Literal["both changed", "start unknown", "changed meanwhile"]


class CopyChange(msgspec.Struct, frozen=True, kw_only=True):
    """One file that differs from what it was at the start. Lines are counted of texts only. `binary` is also what is
    too large to be shown as text; `special` is what is no file and no link, or cannot be read."""

    path: str
    kind: Literal["added", "modified", "deleted", "mode"]
    content: Content = "text"
    added: int = 0
    removed: int = 0


class ChangeList(msgspec.Struct, frozen=True, kw_only=True):
    """`is_whole`: false where the list was cut, or a folder cannot be read."""

    files: tuple[CopyChange, ...] = ()
    is_whole: bool = True


class DiffText(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    is_whole: bool = True


class MergeConflict(msgspec.Struct, frozen=True, kw_only=True):
    """A file the user changed too, which is left as it is. `workspace` is where it is. `agent` has the other side, None
    where the agent deleted it. `merge` has both with conflict markers, where they could be merged as text."""

    path: str
    reason: ConflictReason
    workspace: Path
    agent: Path | None = None
    merge: Path | None = None


class RefusedFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    why: str


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """`applied`: what is in the workspace now. `patch` has every change, also those that were not applied; `large` are
    files stored beside it, because they are too large for a patch."""

    applied: tuple[str, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    patch: Path | None = None
    large: tuple[Path, ...] = ()


class StoredCommits(msgspec.Struct, frozen=True):
    """`names`: what leads to them, in words. `bundle` is None where they could not be stored: `problem` is why.
    `repository` is one that has them then, or what of them could be read."""

    names: tuple[str, ...]
    bundle: Path | None = None
    problem: str = ""
    repository: Path | None = None


class StoredPatch(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is None where nothing changed. `commits`: those a leftover had."""

    path: Path | None = None
    large: tuple[Path, ...] = ()
    commits: tuple[StoredCommits, ...] = ()


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """`left_out`: changed files of repositories inside the workspace, which a commit of this one cannot have.
    `refused`: what a merge would have refused."""

    name: str
    commit: str
    left_out: tuple[str, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
