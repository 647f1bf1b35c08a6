"""What a session's worktree has, and what becomes of it at the end: done and put into words for every view."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from sightline.exceptions import SightlineError
from sightline.text import clean_line
from sightline.views._names import from_home
from sightline.working_copies import ChangeList, Merged, RemovedWorktree, UserWorktree, WorktreeStatus

WorktreeEnd = Literal["merge", "branch", "leave", "remove"]
_NAMED_AT_MOST = 10  # files


class WorktreeReport(msgspec.Struct, frozen=True):
    """`is_over`: all was done as it was requested."""

    lines: tuple[str, ...]
    hint: str = ""
    is_over: bool = True

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, *([f"hint: {self.hint}"] if self.hint else [])])


def changed_words(changes: ChangeList) -> str:
    """`3 files changed, +12 −4`."""
    if not changes.files:
        return "no files changed"
    added, removed = sum(each.added for each in changes.files), sum(each.removed for each in changes.files)
    return f"{_plural(len(changes.files), 'file')} changed, +{added} −{removed}" + (
        "" if changes.is_whole else ", or more"
    )


def status_words(worktree: UserWorktree, status: WorktreeStatus) -> str:
    commits = f", {_plural(status.commits, 'commit')} on {worktree.branch}" if status.commits else ""
    return f"{changed_words(status.changes)}{commits}"


def end_worktree(worktree: UserWorktree, end: WorktreeEnd, seconds: float = 0.0) -> WorktreeReport:
    """Do it. `seconds`: for what is still ending in it. What fails leaves the worktree as it is."""
    try:
        match end:
            case "merge":
                return _merged(worktree, seconds)
            case "branch":
                worktree.commit()
                return WorktreeReport((*removed_lines(worktree, worktree.remove(seconds)),))
            case "remove":
                return WorktreeReport((*removed_lines(worktree, worktree.remove(seconds)),))
            case "leave":
                return staying(worktree)
    except (SightlineError, OSError) as error:
        return _failed(worktree, error)


def merge_changes(worktree: UserWorktree) -> WorktreeReport:
    """Into the workspace; the worktree stays, with what could not be merged and whatever comes after it."""
    try:
        merged = worktree.merge()
    except (SightlineError, OSError) as error:
        return _failed(worktree, error)
    lines = (*merged_lines(worktree, merged),)
    if merged.conflicts or merged.refused:
        patch = () if merged.patch is None else (f"all changes as a patch: {_path(merged.patch)}",)
        hint = f"take what you need of these files, then: sightline worktree remove {worktree.name}"
        return WorktreeReport((*lines, *patch), hint, False)
    return WorktreeReport(lines)


def _failed(worktree: UserWorktree, error: Exception) -> WorktreeReport:
    why = error.message if isinstance(error, SightlineError) else str(error)
    return WorktreeReport((f"{clean_line(why)}; {_staying_words(worktree)}",), _ways(worktree), False)


def staying(worktree: UserWorktree) -> WorktreeReport:
    return WorktreeReport((_staying_words(worktree),), _ways(worktree))


def merged_lines(worktree: UserWorktree, merged: Merged) -> Iterator[str]:
    """What is in the workspace now, and what is not, with where both sides are."""
    where = from_home(clean_line(str(worktree.workspace)))
    if merged.applied:
        yield f"merged into {where}: {_named(merged.applied)}"
    elif not (merged.conflicts or merged.refused):
        yield "there is nothing to merge"
    for conflict in merged.conflicts:
        name = clean_line(conflict.path)
        agent = "deleted it" if conflict.agent is None else f"has {_path(conflict.agent)}"
        both = f"; with conflict markers: {_path(conflict.merge)}" if conflict.merge is not None else ""
        yield f"conflict in {name} ({conflict.reason}): the workspace keeps its file, the worktree {agent}{both}"
    for refused in merged.refused:
        yield f"not merged: {clean_line(refused.path)}: {clean_line(refused.why)}"


def removed_lines(worktree: UserWorktree, removed: RemovedWorktree, *, is_merged: bool = False) -> Iterator[str]:
    """That it is removed, and where its commits are, and the changes that were not merged: the way that works."""
    is_empty = not (removed.branches or removed.patch or is_merged)
    yield f"worktree {worktree.name} removed" + (": nothing had changed" if is_empty else "")
    named = clean_line(", ".join(removed.branches))
    if removed.can_be_merged:
        yield f"its commits: git merge {named}"
        return
    if removed.branches:
        yield f"its commits: {'branch' if len(removed.branches) == 1 else 'branches'} {named}"
    if removed.patch is not None:
        yield f"its changes: git apply {_path(removed.patch)}"


def _merged(worktree: UserWorktree, seconds: float) -> WorktreeReport:
    report = merge_changes(worktree)
    if not report.is_over:
        stays = _staying_words(worktree)  # what failed says that, too
        return report if stays in report.text else msgspec.structs.replace(report, lines=(*report.lines, stays))
    try:
        removed = worktree.remove(seconds)
    except (SightlineError, OSError) as error:  # all is merged all the same
        return WorktreeReport((*report.lines, *_failed(worktree, error).lines), _ways(worktree))
    return WorktreeReport((*report.lines, *removed_lines(worktree, removed, is_merged=True)))


def _staying_words(worktree: UserWorktree) -> str:
    return f"worktree {worktree.name} stays: {_path(worktree.tree)} on branch {clean_line(worktree.branch)}"


def _ways(worktree: UserWorktree) -> str:
    return f"work on: sightline --worktree {worktree.name}; merge: sightline worktree merge {worktree.name}"


def _named(files: Sequence[str]) -> str:
    shown = ", ".join(map(clean_line, files[:_NAMED_AT_MOST]))
    return shown if len(files) <= _NAMED_AT_MOST else f"{shown} and {len(files) - _NAMED_AT_MOST} more"


def _path(path: Path) -> str:
    return from_home(clean_line(str(path)))


def _plural(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
