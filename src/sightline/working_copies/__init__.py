"""Working copies of a workspace, in each of which one agent works apart from the others."""

from sightline._later import later

TYPE_CHECKING = False
# A session without isolated agents has none.
if TYPE_CHECKING:
    from sightline.working_copies._copy import WorkingCopy as WorkingCopy
    from sightline.working_copies._facts import Branch as Branch
    from sightline.working_copies._facts import ChangeList as ChangeList
    from sightline.working_copies._facts import CopyChange as CopyChange
    from sightline.working_copies._facts import CopyKind as CopyKind
    from sightline.working_copies._facts import DiffText as DiffText
    from sightline.working_copies._facts import MergeConflict as MergeConflict
    from sightline.working_copies._facts import Merged as Merged
    from sightline.working_copies._facts import RefusedFile as RefusedFile
    from sightline.working_copies._facts import StoredCommits as StoredCommits
    from sightline.working_copies._facts import StoredPatch as StoredPatch
    from sightline.working_copies._leftovers import leftovers as leftovers
    from sightline.working_copies._leftovers import remove_leftover as remove_leftover
    from sightline.working_copies._opening import KindChoice as KindChoice
    from sightline.working_copies._opening import open_copy as open_copy
    from sightline.working_copies._records import CopyRecord as CopyRecord
    from sightline.working_copies._user_worktrees import RemovedWorktree as RemovedWorktree
    from sightline.working_copies._user_worktrees import UserWorktree as UserWorktree
    from sightline.working_copies._user_worktrees import WorktreeStatus as WorktreeStatus
    from sightline.working_copies._user_worktrees import check_worktree_name as check_worktree_name
    from sightline.working_copies._user_worktrees import find_worktree as find_worktree
    from sightline.working_copies._user_worktrees import open_worktree as open_worktree
    from sightline.working_copies._user_worktrees import worktree_at as worktree_at
    from sightline.working_copies._user_worktrees import worktrees as worktrees
    from sightline.working_copies.change._change import RepositoryChange as RepositoryChange
    from sightline.working_copies.change._change import change_choices as change_choices
    from sightline.working_copies.change._change import read_change as read_change
    from sightline.working_copies.change._target import ChangeChoices as ChangeChoices

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
