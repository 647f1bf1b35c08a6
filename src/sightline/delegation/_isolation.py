"""The working copy of one isolated agent: opened before it begins, watched while it works, merged when it is done.

Rules:

- What it has changed is published as it grows, by counts: the copy is the agent's diff.
- Nothing is merged of an agent that failed or was stopped, and nothing that its parent may not write. What is not
  merged stays as a patch, which is stored before anything is removed.
- A file that was changed on both sides, and cannot be merged, stays as the workspace has it. Both sides are stored.
- Merging is shown as a call of the agent, with the diff.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from sightline.actors import Actor
from sightline.agent._bugs import log_bug
from sightline.events import CallEnding, DiffFact, ToolResult, ToolUse
from sightline.exceptions import SightlineError
from sightline.text import clean_line
from sightline.tools import CallWriter, writing_as
from sightline.working_copies import ChangeList, CopyKind, Merged, RefusedFile, StoredCommits

if TYPE_CHECKING:
    from sightline.working_copies import WorkingCopy

_SECONDS_BETWEEN_LOOKS = 1.0
_DIFF_AT_MOST = 64 * 1024  # characters, of what is shown
_NAMED_AT_MOST = 20  # files


class CopyCounts(msgspec.Struct, frozen=True):
    """How much of a working copy differs from its workspace."""

    files: int = 0
    added: int = 0  # lines
    removed: int = 0


class HandedIn(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the changes of an isolated agent."""

    kind: CopyKind
    files: list[str] = []  # that it changed
    merged: Merged | None = None  # None: nothing was merged
    patch: str = ""  # the file with all changes
    branch: str = ""  # where they are committed
    commit: str = ""
    left_out: list[str] = []  # of repositories inside, which the branch cannot have
    refused: list[RefusedFile] = []  # not committed, since it would not have been merged
    commits: list[StoredCommits] = []  # that nothing but its copy had
    problem: str = ""  # why they could not be handed in; the copy is still there


class Isolation:
    """Used in the session's event loop only."""

    def __init__(self, copy: "WorkingCopy", actor: Actor, changed: Callable[[CopyCounts], object]) -> None:
        """`changed`: called with the counts when they are others than before."""
        self.copy = copy
        self._actor = actor
        self._changed = changed
        self._counts = CopyCounts()
        self._look = asyncio.Event()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def look_soon(self) -> None:
        """It has just done something."""
        self._look.set()

    def hurry(self) -> None:
        """Nobody waits for it any more."""
        self.copy.hurry()

    async def _watch(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS_BETWEEN_LOOKS):
                    await self._look.wait()
            self._look.clear()
            try:
                self._note(await asyncio.to_thread(self.copy.changes))
            except (OSError, SightlineError) as error:  # what is merged is looked up again
                log_bug("a working copy could not be read", error)

    def _note(self, found: ChangeList) -> None:
        added, removed = sum(each.added for each in found.files), sum(each.removed for each in found.files)
        counts = CopyCounts(len(found.files), added, removed)
        if counts != self._counts:
            self._counts = counts
            self._changed(counts)

    async def hand_in(self, *, is_good: bool, title: str, branch: bool, may_write: Callable[[str], bool]) -> HandedIn:
        """The agent and all its processes have ended. `is_good`: it ended well, so that what it changed is merged, or
        committed to a branch (`branch`). `may_write`: whether the agent it works for may write a file."""
        self._watching.cancel()
        await asyncio.wait([self._watching])
        try:
            found = await asyncio.to_thread(self.copy.changes)
            self._note(found)
            commits = await asyncio.to_thread(self.copy.store_commits)
            if not found.files:
                await asyncio.to_thread(self.copy.remove)
                return HandedIn(kind=self.copy.kind, commits=commits)
            if branch and is_good:
                handed_in = await self._committed(found, title, may_write)
            else:
                handed_in = await (self._merged(found, may_write) if is_good else self._stored(found))
            return msgspec.structs.replace(handed_in, commits=commits)
        except (OSError, SightlineError) as error:
            problem = clean_line(str(error))
            return HandedIn(kind=self.copy.kind, problem=f"{problem}; they are in {self.copy.record.files}")

    async def _merged(self, found: ChangeList, may_write: Callable[[str], bool]) -> HandedIn:
        """Shown as a call: what the workspace has now was not there before."""
        diff = await asyncio.to_thread(self.copy.diff, _DIFF_AT_MOST)
        call, names = self._actor.new_call(), [each.path for each in found.files]
        self._actor.publish(ToolUse(call, "merge", arg=_files(len(names))))
        with writing_as(CallWriter(self._actor.log.id, self._actor.path, call, time.time())):
            merged = await asyncio.to_thread(self.copy.merge, may_write)
        await asyncio.to_thread(self.copy.remove)
        handed_in = HandedIn(kind=self.copy.kind, files=names, merged=merged, patch=str(merged.patch or ""))
        fact = DiffFact(
            diff=diff.text,
            added=self._counts.added,
            removed=self._counts.removed,
        )
        left = bool(merged.conflicts or merged.refused)
        ending = CallEnding(ended="error").as_details() if left else {}
        self._actor.publish(ToolResult(call, handed_in_text(handed_in), {**fact.as_details(), **ending}, left))
        return handed_in

    async def _committed(self, found: ChangeList, title: str, may_write: Callable[[str], bool]) -> HandedIn:
        """The patch has what a commit cannot: what git ignores there, repositories inside, and what is refused."""
        branch = await asyncio.to_thread(self.copy.commit, title, may_write)
        stored = await asyncio.to_thread(self.copy.store_patch)
        await asyncio.to_thread(self.copy.remove)
        names, patch = [each.path for each in found.files], str(stored.path or "")
        return HandedIn(
            kind=self.copy.kind,
            files=names,
            branch=branch.name,
            commit=branch.commit,
            left_out=[*branch.left_out],
            refused=[*branch.refused],
            patch=patch,
        )

    async def _stored(self, found: ChangeList) -> HandedIn:
        stored = await asyncio.to_thread(self.copy.store_patch)
        await asyncio.to_thread(self.copy.remove)
        return HandedIn(kind=self.copy.kind, files=[each.path for each in found.files], patch=str(stored.path or ""))


def handed_in_text(handed_in: HandedIn) -> str:
    """For people and models."""
    return "\n".join([_files_text(handed_in), *map(commits_text, handed_in.commits)])


def commits_text(stored: StoredCommits) -> str:
    """Commits of a working copy that is removed."""
    made = f"Commits that only its copy had: {_named(stored.names)}."
    if stored.repository is not None:
        why = clean_line(stored.problem)
        return f"{made} They are in the repository {clean_line(str(stored.repository))} (git fetch FOLDER NAME): {why}."
    if stored.bundle is None:
        return f"{made} They are gone with it, and could not be stored: {clean_line(stored.problem)}."
    return f"{made} They are stored in {stored.bundle} (git fetch FILE NAME; git ls-remote FILE lists the names)."


def _files_text(handed_in: HandedIn) -> str:
    if handed_in.problem:
        return f"What it changed could not be merged: {handed_in.problem}."
    if not handed_in.files:
        return "It changed no files."
    changed = f"It changed {_named(handed_in.files)} in its own copy ({handed_in.kind})."
    if handed_in.branch:
        where = f"committed to the branch {handed_in.branch} ({handed_in.commit[:12]}), not merged"
        parts = [f"{changed} It is {where}."]
        parts += [f"Not committed: {clean_line(each.path)}: {clean_line(each.why)}." for each in handed_in.refused]
        if handed_in.left_out:
            parts.append(f"Not committed, of repositories inside: {_named(handed_in.left_out)}.")
        parts.append(f"All changes, also those that git ignores: {handed_in.patch} (git apply).")
        return "\n".join(parts)
    merged = handed_in.merged
    if merged is None:
        return f"{changed} Nothing was merged. All changes: {handed_in.patch} (git apply)."
    parts = [
        changed,
        f"Merged into the workspace: {_named(merged.applied)}." if merged.applied else "Nothing was merged.",
    ]
    for conflict in merged.conflicts:
        sides = [f"its version: {conflict.agent}"] if conflict.agent is not None else ["it deleted the file"]
        sides += [f"both with conflict markers: {conflict.merge}"] if conflict.merge is not None else []
        parts.append(f"Not merged: {clean_line(conflict.path)} ({conflict.reason}) is as it was; {', '.join(sides)}.")
    parts += [f"Not merged: {clean_line(each.path)}: {clean_line(each.why)}." for each in merged.refused]
    if merged.conflicts or merged.refused:
        parts.append(f"All changes: {handed_in.patch} (git apply).")
    return "\n".join(parts)


def _named(files: Sequence[str]) -> str:
    shown = ", ".join(map(clean_line, files[:_NAMED_AT_MOST]))
    return shown if len(files) <= _NAMED_AT_MOST else f"{shown} and {len(files) - _NAMED_AT_MOST} more"


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"
