"""The agent's side of a working copy: where its files are, and which of them may differ from the start."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from sightline.working_copies._states import FileState, Signature

CANDIDATES_AT_MOST = 100_000
GIT = ".git"  # what git itself uses; a folder with another spelling of it has files like any other

# Of paths relative to the workspace, those that git ignores there.
Ignoring = Callable[[list[str]], set[str]]


class Candidates(msgspec.Struct):
    """Paths that may have changed. `is_whole`: false where there are more, or a folder could not be read.
    `repositories`: folders below its own that have a `.git`; of an overlay those in which something of it changed."""

    paths: set[str]
    is_whole: bool = True
    repositories: set[str] = msgspec.field(default_factory=set)


class AgentSide(Protocol):
    """With `force`, what the agent made unreadable is read too; for an agent that has finished."""

    words: tuple[str, ...]
    cwd: str
    root: str  # where files of its own are

    def candidates(self, ignoring: Ignoring, *, force: bool) -> Candidates:
        """Nothing in a `.git`. New folders that are ignored are left out with all that is in them."""

    def look(self, path: str, *, force: bool) -> FileState:
        """Its file at a path that is a candidate."""

    def signature(self, path: str) -> Signature | None:
        """Of that file."""

    def has_folder(self, path: str) -> bool:
        """Whether the agent sees a folder at a path where the workspace has one."""

    def is_in_use(self) -> bool:
        """Whether a process is known to be in it."""


def is_git(name: str) -> bool:
    """Whether git may take a file of this name for its own: where names that differ in case are the same, it does."""
    return name.casefold() == GIT
