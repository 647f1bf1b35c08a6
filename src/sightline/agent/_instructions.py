"""What a model is told before the conversation begins: who it is, where it works, and what the people there want.

Made once for a session, so that the beginning of every request stays the same and can be cached.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

_FILE_AT_MOST = 64 * 1024  # characters of one file of instructions
_ENTRIES_AT_MOST = 60  # of the workspace, listed
_SECONDS_FOR_GIT = 1.0

_WHO = """\
You are Sightline, a coding agent that works in a terminal. A person gives you a task; you do it with the tools you \
have and say briefly what you did. Everything you do is shown to the person while it happens.

- Find out before you change: search and read what the task concerns.
- Change files with `edit` (small changes) or `write` (new files). Read a file before editing it; use the tags and \
line numbers you were shown.
- Run the project's own tests or checks with `bash` after a change, and go on until they pass.
- Several calls that do not depend on each other can be made at once.
- A call may be refused. Then do not try to get around it: go on without it, or say what you could not do.
- When the task is done, stop. Say what changed and what you did not verify, in a few sentences without flattery."""


class ContextFile(msgspec.Struct, frozen=True):
    path: Path
    text: str


def system_prompt(
    cwd: Path,
    *,
    context_files: Iterable[str],
    instructions: str = "",
    sandboxed: bool = True,
    now: Callable[[], float] = time.time,
) -> str:
    """Everything, in an order from what is the same everywhere to what is true here."""
    parts = [_WHO, _surroundings(cwd, sandboxed, now())]
    for file in find_context_files(cwd, context_files):
        parts.append(f'<instructions from="{file.path}">\n{file.text.strip()}\n</instructions>')
    if instructions.strip():
        parts.append(f"<instructions>\n{instructions.strip()}\n</instructions>")
    return "\n\n".join(parts)


def find_context_files(cwd: Path, names: Iterable[str]) -> list[ContextFile]:
    """Those of the folders above first, so that what is nearer is read later. Of one folder, the first name only.

    The search ends at the root of the repository, or of the file system where there is none.
    """
    wanted = list(names)
    found: list[ContextFile] = []
    for folder in _upwards(cwd):
        for name in wanted:
            text = _text(folder / name)
            if text is not None:
                found.append(ContextFile(folder / name, text))
                break
    return found[::-1]


def _upwards(cwd: Path) -> list[Path]:
    folders = [cwd, *cwd.parents]
    for number, folder in enumerate(folders):
        if (folder / ".git").exists():
            return folders[: number + 1]
    return folders


def _text(path: Path) -> str | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(_FILE_AT_MOST + 1)
    except OSError:
        return None
    text = data[:_FILE_AT_MOST].decode("utf-8", "replace")
    return f"{text}\n[cut off here]" if len(data) > _FILE_AT_MOST else text


def _surroundings(cwd: Path, sandboxed: bool, now: float) -> str:
    system = os.uname()
    facts = [
        f"Working folder: {cwd}",
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
        "or the person allow."
    )


def _branch(cwd: Path) -> str:
    """Read from git's own file: asking git would cost more than everything else here."""
    for folder in (cwd, *cwd.parents):
        head = folder / ".git" / "HEAD"
        try:
            said = head.read_text("utf-8", "replace").strip()
        except OSError:
            if (folder / ".git").is_file():
                return _asked_branch(cwd)  # a worktree keeps it elsewhere
            continue
        return said.removeprefix("ref: refs/heads/") if said.startswith("ref: ") else f"detached at {said[:12]}"
    return ""


def _asked_branch(cwd: Path) -> str:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--abbrev-ref", "HEAD"], cwd=cwd, capture_output=True, timeout=_SECONDS_FOR_GIT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


def _listing(cwd: Path) -> list[str]:
    try:
        entries = sorted(os.scandir(cwd), key=lambda entry: entry.name)
    except OSError:
        return ["(it cannot be read)"]
    names = [f"{entry.name}/" if _is_folder(entry) else entry.name for entry in entries if entry.name != ".git"]
    if not names:
        return ["(nothing)"]
    more = len(names) - _ENTRIES_AT_MOST
    return names[:_ENTRIES_AT_MOST] + ([f"… and {more} more"] if more > 0 else [])


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
