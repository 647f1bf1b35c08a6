"""What a session and a folder are called, in the words that every view uses."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from sightline.exceptions import SightlineError
from sightline.paths import in_copies_folder
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.journal import SessionRecord, Store


def title_of(record: "SessionRecord") -> str:
    """What a session is about: its title, the first prompt, or the last answer; empty where it has none."""
    return clean_line(record.title or record.first_prompt or record.last_text)


def listed_title(record: "SessionRecord") -> str:
    """The title in a list. A fork has that of its original: it names its original first, so that no cut hides it."""
    title, origin = title_of(record), clean_line(record.parent_session)
    return f"fork of {origin}{': ' if title else ''}{title}" if origin else title


def folder_name(path: str) -> str:
    """The folder of a session: one in a worktree is its workspace, with the worktree's name."""
    return _worktree_name(path) or from_home(clean_line(path))


def session_folder(store: "Store", record: "SessionRecord") -> str:
    """The same of a stored session, whose worktree may have been removed since."""
    if not in_copies_folder(record.cwd):
        return folder_name(record.cwd)
    from sightline.host import first_worktree

    found = _worktree_name(record.cwd)
    with suppress(SightlineError, OSError):
        if not found and (worktree := first_worktree(store, record.id)) is not None:
            found = f"{from_home(clean_line(worktree.workspace))} (worktree {clean_line(worktree.name)}, removed)"
    return found or folder_name(record.cwd)


def _worktree_name(path: str) -> str:
    """Empty where it is in none."""
    if not in_copies_folder(path):
        return ""
    from sightline.working_copies import worktree_at  # few sessions work in one

    worktree = worktree_at(path)
    return "" if worktree is None else f"{from_home(clean_line(str(worktree.workspace)))} (worktree {worktree.name})"


def from_home(path: str) -> str:
    """A path as people write it: with `~` for the home folder."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path
