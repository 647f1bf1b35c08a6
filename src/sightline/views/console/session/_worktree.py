"""The worktree that the session on the screen works in: shown, merged, and what becomes of it when the user leaves.

Rules:

- Only a user who leaves for good decides: one who detaches, or closes the terminal, leaves it as it is.
- It is read while the session still runs, so that the user can stay; it is changed when the session has ended.
- One without changes and commits is removed unasked, unless the user's shell is in it.
"""

import asyncio
from typing import TYPE_CHECKING

from sightline.exceptions import SightlineError
from sightline.paths import in_copies_folder
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.views._worktrees import WorktreeEnd, WorktreeReport
    from sightline.views.console._desk import Desk
    from sightline.views.console._screen import ConsoleScreen
    from sightline.views.console.dialogs import WorktreeDialog
    from sightline.working_copies import UserWorktree

_DIFF_AT_MOST = 64 * 1024  # characters, of what is shown
_SECONDS_TO_END = 15.0  # for what still ends in it


class SessionWorktree:
    """Looked up anew each time: another session may be on the screen by now."""

    def __init__(self, desk: "Desk", screen: "ConsoleScreen") -> None:
        self._desk = desk
        self._screen = screen

    async def find(self) -> "UserWorktree | None":
        folder = self._desk.cwd
        if not in_copies_folder(folder):
            return None
        from sightline.working_copies import worktree_at

        return await asyncio.to_thread(worktree_at, folder)

    async def dialog(self, worktree: "UserWorktree", *, leaving: bool) -> "WorktreeDialog | WorktreeEnd":
        """The dialog to show; or what is done unasked."""
        from sightline.views._names import from_home
        from sightline.views._worktrees import status_words
        from sightline.views.console.dialogs import WorktreeDialog

        try:
            status = await asyncio.to_thread(worktree.status)
            if leaving and status.is_unchanged:
                return "leave" if worktree.has_shell else "remove"
            diff = await asyncio.to_thread(worktree.diff, _DIFF_AT_MOST)
        except (SightlineError, OSError) as error:
            self._desk.report(clean_line(str(error)), "error", getattr(error, "hint", ""))
            return "leave"
        changed = status_words(worktree, status) + ("" if diff.is_whole else "; the diff is cut")
        where = from_home(clean_line(str(worktree.workspace)))
        branch, room = clean_line(worktree.branch), self._screen.room
        return WorktreeDialog(
            worktree.name, branch, changed, diff.text, where, self._desk.drawing, room, leaving=leaving
        )

    async def end(self, worktree: "UserWorktree", end: "WorktreeEnd") -> "WorktreeReport":
        """Of a session that has ended."""
        from sightline.views._worktrees import end_worktree

        return await asyncio.to_thread(end_worktree, worktree, end, _SECONDS_TO_END)

    async def merge_now(self, worktree: "UserWorktree") -> None:
        from sightline.views._worktrees import merge_changes

        report = await asyncio.to_thread(merge_changes, worktree)
        self._desk.report("\n".join(report.lines), "info" if report.is_over else "warning", report.hint)
