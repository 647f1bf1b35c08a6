"""The programs Sightline itself runs: found once, in places no sandboxed command can write to.

Rules:

- A name is looked up in the folders of PATH, in order. Skipped are folders that are not absolute, folders in a
  workspace, and files that are really (links followed) in one: a sandboxed command may have put the program there, and
  we would run it outside the sandbox.
- What sets up the sandbox (`env`, `sh`, `bwrap`, `nsenter`) comes from the system's own folders where PATH has these,
  wherever in it they stand.
- The answer holds for the process, until there is another workspace. Where a program exists in workspaces only, it is
  refused, never run.
- A workspace is the folder the process was started in, each folder given to `work_in` (the sandbox and the agent's
  workplace call it, before anything is run for them), and each in which a command ran before, in any session.
- Not counted as in the workspace is what the protected set makes read-only there, when home is the workspace: the
  hidden folders of home, where people install programs. Of an earlier session in home, also the folders of PATH.
- A script that names its interpreter through `env` is started with that interpreter, found in the same way: `env` would
  take the first on PATH.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from sightline.exceptions import OutsideFailure
from sightline.exec.sandbox import _known_workspaces

_LAUNCHERS = frozenset({"env", "sh", "bwrap", "nsenter", "true"})
_OF_THE_SYSTEM = frozenset(
    {
        "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin", "/run/current-system/sw/bin",
        "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin",
    }
)  # fmt: skip
_STORES = ("/nix/store/", "/gnu/store/")
_CACHE_OF_HOME = ".cache"  # as `settings._protected` has it
_FIRST_LINE_AT_MOST = 256
_LONGEST_NAME = 4096
_WORDS_AT_MOST = 2000  # of one command that are looked up
_NOWHERE = "/dev/null"

_workspaces: set[str] = set()
_found: dict[tuple[str, str], str] = {}
_found_with: frozenset[str] = frozenset()  # the workspaces of other sessions that were known then


class UntrustedProgram(OutsideFailure):
    """The program exists only where a sandboxed command could have put it."""


def work_in(folder: str | os.PathLike[str]) -> None:
    """From now on no program is run from this folder."""
    real = os.path.realpath(folder)
    if real in _workspaces or real == "/":  # no command may write to all of `/`: the sandbox refuses it
        return
    _workspaces.add(real)
    _found.clear()


def program(name: str) -> str:
    """The absolute path of a program we need; OutsideFailure when it cannot be used."""
    found = find_program(name)
    if found is None:
        raise OutsideFailure(f"{name} is not installed", f"install {name}, or add its folder to PATH")
    return found


def find_program(name: str, path: str | None = None) -> str | None:
    """Its absolute path, None where there is none on PATH. UntrustedProgram where it is in a workspace only."""
    global _found_with
    path = os.environ.get("PATH", os.defpath) if path is None else path
    if _found_with is not (elsewhere := _known_workspaces.known()):
        _found.clear()
        _found_with = elsewhere
    known = _found.get((name, path))
    if known is not None:
        return known
    refused = ""
    for file in _candidates(name, _system_first(path) if name in _LAUNCHERS else path):
        if is_trusted(file):
            _found[name, path] = file
            return file
        refused = refused or file
    if refused:
        raise UntrustedProgram(
            f"{name} is not run from {refused}: the agent's commands can write there",
            f"install {name} outside the folder you work in, or remove that folder from PATH",
        )
    return None


def start_words(name: str, path: str | None = None) -> list[str]:
    """The first words of a command line that starts a program by name; with a `/` in it, the name is the user's."""
    if "/" in name:
        return [name]
    found = find_program(name, path)
    if found is None:
        number = errno.EACCES if _is_somewhere(name, path) else errno.ENOENT
        raise OSError(number, os.strerror(number), name)
    interpreter = _interpreter_from_path(found)
    return [found] if not interpreter else [*start_words(interpreter[0], path), *interpreter[1:], found]


def trusted_path() -> str:
    """PATH without the folders whose programs are not run: for a script of ours that calls programs by name."""
    return os.pathsep.join(_trusted_folders(_system_first(os.environ.get("PATH", os.defpath)))) or os.defpath


def planted_programs(words: Iterable[str], path: str, cwd: str) -> tuple[str, ...]:
    """Of these words those that PATH makes a program in a workspace, by its path: for a command that was not asked
    about, because a rule names the program by its word."""
    found = []
    for word in islice((each for each in dict.fromkeys(words) if _can_be_a_name(each)), _WORDS_AT_MOST):
        files = (os.path.join(cwd, folder, word) for folder in path.split(os.pathsep))
        first = next((file for file in files if os.access(file, os.X_OK) and os.path.isfile(file)), "")
        if first and not is_trusted(first):
            found.append(first)
    return tuple(found)


def _can_be_a_name(word: str) -> bool:
    return bool(word) and "\0" not in word and len(word) <= _LONGEST_NAME


def is_trusted(file: str) -> bool:
    """Whether no sandboxed command can have written a file, or replaced it."""
    return not any(_is_in_workspace(path) for path in (os.path.abspath(file), os.path.realpath(file)))


def _system_first(path: str) -> str:
    return os.pathsep.join(sorted(path.split(os.pathsep), key=lambda folder: not _is_of_the_system(folder)))


def _is_of_the_system(folder: str) -> bool:
    return folder in _OF_THE_SYSTEM or folder.startswith(_STORES)


def _candidates(name: str, path: str) -> Iterator[str]:
    for folder in path.split(os.pathsep):
        file = os.path.join(folder, name)
        if os.path.isabs(file) and os.access(file, os.X_OK) and os.path.isfile(file):
            yield file


def _is_somewhere(name: str, path: str | None) -> bool:
    """Whether there is such a file on PATH that may not be executed."""
    folders = (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep)
    return any(os.path.isfile(os.path.join(folder, name)) for folder in folders if os.path.isabs(folder))


def _trusted_folders(path: str) -> list[str]:
    return [folder for folder in path.split(os.pathsep) if os.path.isabs(folder) and is_trusted(folder)]


def _is_in_workspace(path: str) -> bool:
    mine = _workspaces | {_started_in()}
    if any(_is_below(path, folder) and not _is_protected(path, folder) for folder in mine):
        return True
    others = [
        folder for folder in _known_workspaces.known() if _is_below(path, folder) and not _is_protected(path, folder)
    ]
    return any(not (_holds_home(folder) and _is_on_path(path)) for folder in others)


@cache
def _started_in() -> str:
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # removed meanwhile: nothing is found in it
        return _NOWHERE
    return folder if folder != "/" else _NOWHERE


def _holds_home(workspace: str) -> bool:
    return _is_below(os.path.realpath(os.path.expanduser("~")), workspace)


def _is_on_path(path: str) -> bool:
    """Read-only for commands where home is the workspace: one session there must not cost the user these programs."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any(_is_below(path, os.path.realpath(folder)) for folder in folders if os.path.isabs(folder))


def _is_protected(path: str, workspace: str) -> bool:
    home = os.path.realpath(os.path.expanduser("~"))
    if not (_is_below(home, workspace) and _is_below(path, home)):
        return False
    first = os.path.relpath(path, home).split(os.sep)[0]
    return first.startswith(".") and first not in (".", "..", ".git", _CACHE_OF_HOME)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _interpreter_from_path(file: str) -> list[str]:
    """`node` of `#!/usr/bin/env node`, with what follows after `-S`; nothing when the first line is another."""
    try:
        with open(file, "rb") as opened:
            line = opened.read(_FIRST_LINE_AT_MOST).partition(b"\n")[0]
    except OSError:
        return []
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if len(words) < 2 or os.path.basename(words[0]) != "env":
        return []
    named = words[2:] if words[1] == "-S" else words[1:]
    return [] if not named or named[0].startswith("-") or "=" in named[0] else named
