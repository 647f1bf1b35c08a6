"""Worktrees of the user's sessions: arguments to calls. Imports happen inside."""

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from sightline.cli._environment import current_folder, palette_of
from sightline.exceptions import UserMistake

if TYPE_CHECKING:
    from sightline.working_copies import UserWorktree


def enter_worktree(named: str | Literal[True]) -> "UserWorktree":
    """Change to the worktree of this name (True: a new one), at the folder that the current one is in the workspace."""
    from sightline.text import message
    from sightline.working_copies import open_worktree

    def making(name: str) -> None:
        os.write(2, message("note", f"making the worktree {name}", "").encode())

    cwd = current_folder()
    worktree = open_worktree(cwd, "" if named is True else named, making)
    try:
        os.chdir(folder := worktree.folder_for(cwd))
    except OSError as problem:
        raise UserMistake(f"cannot work in {folder}: {problem.strerror}") from None
    return worktree


def in_worktree(arguments: argparse.Namespace, run: Callable[[argparse.Namespace], int]) -> int:
    """Run a prompt in a worktree, which is removed when nothing changed in it."""
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.worktrees import left_behind

    was = current_folder()
    worktree = enter_worktree(arguments.worktree)
    if worktree.is_in_use():
        hint = "`sightline ps` lists the sessions that run; attach to it, or use another name"
        raise UserMistake(f"the worktree {worktree.name} is in use", hint)
    try:
        with worktree.used():
            return run(arguments)
    finally:
        os.chdir(was)
        write_text(2, left_behind(worktree))


def listed(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_text
    from sightline.views.plain.commands.worktrees import worktrees_table

    write_text(1, worktrees_table(palette_of(arguments), columns_of(1)))
    return 0


def merge(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.worktrees import diff_text, merge_worktree
    from sightline.working_copies import find_worktree

    worktree = find_worktree(current_folder(), arguments.name)
    if arguments.diff:
        write_text(1, diff_text(worktree))
        return 0
    shown = merge_worktree(worktree)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return shown.exit_code


def remove(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.worktrees import removed_lines
    from sightline.working_copies import find_worktree

    worktree = find_worktree(current_folder(), arguments.name)
    write_text(1, "".join(f"{line}\n" for line in removed_lines(worktree, worktree.remove())))
    return 0
