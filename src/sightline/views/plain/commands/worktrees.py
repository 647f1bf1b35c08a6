"""The worktrees of the user's sessions: listed, merged, and what is left of one after a run."""

import msgspec

from sightline.exceptions import SightlineError
from sightline.text import clean_line, clean_text, message
from sightline.views._names import from_home
from sightline.views._worktrees import end_worktree, removed_lines, status_words
from sightline.views.plain._palette import Palette
from sightline.views.plain._table import Column, draw_table
from sightline.working_copies import UserWorktree, worktrees

__all__ = ["diff_text", "left_behind", "merge_worktree", "removed_lines", "worktrees_table"]

_DIFF_AT_MOST = 16 * 1024 * 1024  # characters
_COLUMNS = (
    Column("NAME"),
    Column("STATE"),
    Column("BRANCH"),
    Column("WORKSPACE", gives_way=True),
    Column("CHANGES"),
    Column("FOLDER"),
)


class WorktreesOutput(msgspec.Struct, frozen=True):
    """`notes` are for stderr."""

    text: str
    notes: str = ""
    exit_code: int = 0


def worktrees_table(palette: Palette, columns: int | None = None) -> str:
    found = worktrees()
    if not found:
        return "no worktrees; make one with: sightline --worktree NAME\n"
    rows = [
        [
            each.name,
            "in use" if each.is_in_use() else "idle",
            clean_line(each.branch),
            from_home(clean_line(str(each.workspace))),
            _changes(each),
            from_home(clean_line(str(each.tree))),
        ]
        for each in found
    ]
    return "".join(f"{line}\n" for line in draw_table(_COLUMNS, rows, palette, columns))


def diff_text(worktree: UserWorktree) -> str:
    found = worktree.diff(_DIFF_AT_MOST)
    rest = "" if found.is_whole else f"(only the first {_DIFF_AT_MOST:,} characters)\n"
    return clean_text(found.text) + rest


def merge_worktree(worktree: UserWorktree) -> WorktreesOutput:
    """All of it; removed then. Exit code 1 when something could not be merged."""
    report = end_worktree(worktree, "merge")
    text = "".join(f"{line}\n" for line in report.lines)
    if report.is_over:
        return WorktreesOutput(text)
    return WorktreesOutput(
        text, message("error", f"not all of the worktree {worktree.name} was merged", report.hint), 1
    )


def left_behind(worktree: UserWorktree) -> str:
    """After a run without a screen: removed where nothing changed; else one line, for stderr."""
    try:
        status = worktree.status()
        if status.is_unchanged and not worktree.has_shell:
            worktree.remove()
            return ""
        what = status_words(worktree, status)
    except (SightlineError, OSError) as problem:
        what = clean_line(str(problem))
    where = from_home(clean_line(str(worktree.tree)))
    merge = f"sightline worktree merge {worktree.name}"
    return message("note", f"worktree {worktree.name} stays: {what}; branch {worktree.branch}, {where}; merge: {merge}")


def _changes(worktree: UserWorktree) -> str:
    try:
        return status_words(worktree, worktree.status())
    except (SightlineError, OSError) as problem:
        return clean_line(str(problem))
