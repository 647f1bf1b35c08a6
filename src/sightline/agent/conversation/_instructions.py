"""The system prompt: who the model is, where it works, the instruction files found there, and which skills there are.

Made once for a session, so that the beginning of every request stays the same and can be cached.

Rules for what is read here without a call, and so without an approval:

- A file of instructions is a regular file of the workspace. One that is a link is read where it leads to a place in
  the repository (without one, in its folder), and nothing is read that a rule forbids reading.
- In a folder above the workspace it must belong to the user, to root or to the owner of the workspace, and no other
  user may be able to write it.
- What is not read for such a reason is reported.
- Nothing here blocks, whatever a path turns out to be, and git is not run: its own files have the branch.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import msgspec

from sightline.handles import NotRegular, entry, read_at_most, read_bytes
from sightline.text import clean_line

_FILE_AT_MOST = 64 * 1024  # characters of one file of instructions
_ENTRIES_AT_MOST = 60  # of the workspace, listed
_LOOKED_AT_MOST = 10_000  # entries of the workspace
_GIT_FILE_AT_MOST = 4096
_branch_named = re.compile(r"ref: refs/heads/([^\x00-\x20\x7f]+)").fullmatch
_commit_named = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}").fullmatch
_git_folder_named = re.compile(r"gitdir: ([^\0\n]+)").fullmatch

_WHO = """\
You are Sightline, a coding agent that works in a terminal. A user gives you a task; you do it with the tools you \
have and say briefly what you did. Everything you do is shown to the user while it happens.

- Find out before you change: search and read what the task concerns.
- Change files with `edit` (small changes) or `write` (new files). Read a file before editing it; use the tags and \
line numbers you were shown.
- Run the project's own tests or checks with `bash` after a change, and continue until they pass.
- Several calls that do not depend on each other can be made at once.
- A call may be refused. Then do not try to get around it: continue without it, or say what you could not do.
- When the task is done, stop. Say what changed and what you did not verify, in a few sentences without flattery."""


class ContextFile(msgspec.Struct, frozen=True):
    path: Path
    text: str


class InstructionFiles(msgspec.Struct, frozen=True):
    """Files of instructions, those of the folders above first; and why others are not read."""

    files: list[ContextFile] = []
    notices: list[str] = []


def system_prompt(
    cwd: Path,
    *,
    found: InstructionFiles,
    role: str = "",
    instructions: str = "",
    skills: str = "",
    sandboxed: bool = True,
    now: Callable[[], float] = time.time,
) -> str:
    """All parts, from what is the same everywhere to what is specific to this folder. `role`: of an agent that works
    for another, in place of that of the agent of a session. `skills`: those it is offered."""
    parts = [role or _WHO, _surroundings(cwd, sandboxed, now())]
    for file in found.files:
        place = clean_line(str(file.path)).replace('"', "'")
        parts.append(f'<instructions from="{place}">\n{file.text.strip()}\n</instructions>')
    if instructions.strip():
        parts.append(f"<instructions>\n{instructions.strip()}\n</instructions>")
    if skills:
        parts.append(skills)
    return "\n\n".join(parts)


def find_context_files(
    cwd: Path, names: Iterable[str], is_denied: Callable[[str], bool] | None = None
) -> InstructionFiles:
    """Those of the folders above first, so that what is nearer is read later. Of one folder, the first name only.

    The search ends at the root of the repository, or of the file system where there is none.
    """
    names, folders = list(names), _upwards(cwd)
    root = folders[-1] if (folders[-1] / ".git").exists() else cwd
    found: list[ContextFile] = []
    notices: list[str] = []
    for folder in folders:
        for name in names:
            path = folder / name
            try:
                text = _text(path, cwd, root, is_denied)
            except _NotRead as why:
                notices.append(f"{clean_line(str(path))} is not read: {why}")
                continue
            if text is not None:
                found.append(ContextFile(path, text))
                break
    return InstructionFiles(found[::-1], notices[::-1])


class _NotRead(Exception):
    """A file of instructions that is there and is left alone."""


def _upwards(cwd: Path) -> list[Path]:
    folders = [cwd, *cwd.parents]
    for number, folder in enumerate(folders):
        if (folder / ".git").exists():
            return folders[: number + 1]
    return folders


def _text(path: Path, cwd: Path, root: Path, is_denied: Callable[[str], bool] | None) -> str | None:
    """None when there is no such file, or it may not be read."""
    try:
        with entry(path, "read") as file:
            if file.status() is None:
                return None
            _refuse_leading_out(path, file.path, root)
            if is_denied is not None and (is_denied(str(path)) or is_denied(str(file.path))):
                raise _NotRead("a rule forbids reading it")
            descriptor = file.open_regular()
        try:
            if not path.parent.is_relative_to(cwd):
                _refuse_of_others(os.fstat(descriptor), cwd)
            data = read_bytes(descriptor, _FILE_AT_MOST + 1)
        finally:
            os.close(descriptor)
    except NotRegular as problem:
        if stat.S_ISDIR(problem.mode):
            return None
        raise _NotRead("it is not a regular file") from None
    except (OSError, ValueError):
        return None
    text = data[:_FILE_AT_MOST].decode("utf-8", "replace")
    return f"{text}\n[cut off here]" if len(data) > _FILE_AT_MOST else text


def _refuse_leading_out(path: Path, real: Path, root: Path) -> None:
    folder = Path(os.path.realpath(path.parent))
    is_link = real != folder / path.name
    if is_link and not real.is_relative_to(folder) and not real.is_relative_to(os.path.realpath(root)):
        raise _NotRead("it is a link that leads outside the project")


def _refuse_of_others(status: os.stat_result, cwd: Path) -> None:
    if status.st_uid not in (os.geteuid(), 0, cwd.stat().st_uid):
        raise _NotRead("it is in a parent folder and belongs to another user")
    of_others = stat.S_IWOTH if status.st_gid == os.getegid() else stat.S_IWOTH | stat.S_IWGRP
    if status.st_mode & of_others:
        raise _NotRead("it is in a parent folder and other users can write to it")


def _surroundings(cwd: Path, sandboxed: bool, now: float) -> str:
    system = os.uname()
    facts = [
        f"Working folder: {clean_line(str(cwd))}",
        f"Date: {time.strftime('%Y-%m-%d', time.localtime(now))}",
        f"Platform: {system.sysname} {system.release}, {system.machine}",
        f"Shell: {os.path.basename(os.environ.get('SHELL', 'sh'))}",
    ]
    branch = _branch(cwd)
    facts.append(f"Git branch: {branch}" if branch else "Git: not a repository")
    facts.append(about_sandbox(sandboxed))
    return "\n".join([*facts, "", "The working folder has:", *_listing(cwd)])


def about_sandbox(sandboxed: bool) -> str:
    if not sandboxed:
        return "Commands run without a sandbox."
    return (
        "Commands run in a sandbox: they can write below the working folder only, and connect only to hosts that rules "
        "or the user allow."
    )


def _branch(cwd: Path) -> str:
    """The branch, from git's own files: running git costs more than everything else here, and runs what they name."""
    for folder in (cwd, *cwd.parents):
        git = folder / ".git"
        if not git.exists():
            continue
        if git.is_file():  # a worktree or a submodule has its head elsewhere; never in several steps
            elsewhere = _git_folder_named(_line(git))
            if elsewhere is None:
                return ""
            git = folder / elsewhere[1]
        head = _line(git / "HEAD")
        branch = _branch_named(head)
        return clean_line(branch[1]) if branch else f"detached at {head[:12]}" if _commit_named(head) else ""
    return ""


def _line(path: Path) -> str:
    """The line in one of git's small files; empty for anything else."""
    try:
        return read_at_most(path, _GIT_FILE_AT_MOST).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def _listing(cwd: Path) -> list[str]:
    try:
        with os.scandir(cwd) as found:
            entries = sorted(islice(found, _LOOKED_AT_MOST), key=lambda entry: entry.name)
    except OSError:
        return ["(it cannot be read)"]
    names = [f"{entry.name}/" if _is_folder(entry) else entry.name for entry in entries if entry.name != ".git"]
    if not names:
        return ["(nothing)"]
    more = len(names) - _ENTRIES_AT_MOST
    # Cleaned, so that no name is a line of its own.
    return [*map(clean_line, names[:_ENTRIES_AT_MOST]), *([f"… and {more} more"] if more > 0 else [])]


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
