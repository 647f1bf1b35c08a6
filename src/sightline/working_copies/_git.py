"""Git, used on a repository whose files and settings may be hostile.

Rules:

- The program is found outside every workspace. It gets none of the GIT_… variables that lead elsewhere, no terminal, no
  pager and no editor, and it has a time limit, after which it is ended with the programs it started.
- Nothing a repository's own settings name is run: no hooks, no file system monitor, no filters, no diff programs, no
  signing, and no protocol leads out. The user's own filters (git-lfs) are theirs, and stay.
- A repository is found by git itself once, which refuses those of other users. From then on it is named: a `.git` file
  that is changed meanwhile, or `core.worktree`, leads nowhere.
- Paths come and go ended by zero bytes.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from tempfile import TemporaryFile
from threading import Event, Timer
from typing import IO

from sightline.exceptions import OutsideFailure
from sightline.exec import UntrustedProgram, find_program, trusted_environment

_SECONDS, _READING_SECONDS = 120.0, 30.0
STOPPING_SECONDS = 2.0
_PAUSE = 0.1  # between two looks at whether it was stopped
_PROBLEM_AT_MOST = 64 * 1024  # bytes
_ALLOWED = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.quotePath": "true",
    "core.alternateRefsCommand": "true",
    "credential.helper": "",
    "commit.gpgSign": "false",
    "diff.external": "",
    "diff.suppressBlankEmpty": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
_FALLBACK_IDENTITY = ("Sightline", "sightline@localhost")


class GitFailure(OutsideFailure):
    """Git did not do what it was to do."""


class TimeLimit:
    """Within which one thing has to end, however often git is run for it."""

    def __init__(self, seconds: float = _SECONDS, stopped: Event | None = None) -> None:
        """`stopped`: may be set by any thread; what still runs a moment later is ended."""
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._stopped = stopped or Event()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def left(self) -> float:
        """GitFailure when there is none."""
        now = time.monotonic()
        if self.is_stopped:
            self._until = min(self._until, now + STOPPING_SECONDS)
        if self._until <= now:
            why = "it was stopped" if self.is_stopped else f"it did not end within {self._seconds:.0f} seconds"
            raise GitFailure(why)
        return self._until - now


class Repository:
    """One, with its working tree. `limit`: for all that git does in it together."""

    def __init__(self, program: str, folder: str, git_dir: str, common: str, limit: TimeLimit | None = None) -> None:
        self._program = program
        self.folder = folder
        self.git_dir = git_dir
        self.common = common
        self._limit = limit

    def run(
        self,
        *words: str,
        data: bytes = b"",
        allowed: tuple[int, ...] = (0,),
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """What it prints. GitFailure for any other exit code than these."""
        env = {**(env or {}), **self._place}
        return _run(self._program, words, self.folder, data, allowed, env, self._filters, self._limit)

    def read(self, *words: str, limit: int) -> tuple[bytes, bool]:
        """The beginning of what it prints, and whether that is all of it: where there is more, git is ended."""
        return _read(self._program, words, self.folder, self._place, self._filters, limit)

    def line(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        return os.fsdecode(self.run(*words, env=env).strip())

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Of these paths, as seen from its folder, those that it ignores. Tracked files are not."""
        data = b"".join(b"./%b\0" % os.fsencode(path) for path in paths)  # a `:` would begin a pattern
        if not data:
            return set()
        words = ("check-ignore", "-z", "--stdin")
        try:
            found = {path.removeprefix("./") for path in _split(self.run(*words, data=data, allowed=(0, 1)))}
        except GitFailure:  # a path is in a submodule that was not checked out
            found = {
                path.removeprefix("./") for path in _split(self.run(*words, "--no-index", data=data, allowed=(0, 1)))
            }
            found -= set(self.files())
        return found

    def files(self) -> list[str]:
        """All in its working tree that it has or would add; a repository in it as one folder, ended by a `/`."""
        return _split(self.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"))

    def head(self) -> str | None:
        """The commit; None where there is none yet."""
        found = self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", allowed=(0, 1))
        return found.decode().strip() or None

    def blob(self, commit: str, path: str) -> bytes | None:
        """The content of a file in a commit, without any filter."""
        try:
            return self.run("cat-file", "blob", f"{commit}:{path}")
        except GitFailure:
            return None

    def tree(self, folder: str, git_dir: str) -> "Repository":
        """Another working tree of the same."""
        return Repository(self._program, folder, git_dir, self.common, self._limit)

    def inner(self, git_dir: str) -> "Repository":
        """That of a submodule, whose folder is in this one's."""
        return Repository(self._program, git_dir, git_dir, git_dir, self._limit)

    def within(self, limit: TimeLimit) -> "Repository":
        return Repository(self._program, self.folder, self.git_dir, self.common, limit)

    def identity(self) -> dict[str, str]:
        """Variables with which a commit has an author: none where the user has named one."""
        missing: dict[str, str] = {}
        for role in ("AUTHOR", "COMMITTER"):
            if not self.run("var", f"GIT_{role}_IDENT", allowed=(0, 128)):
                name, mail = _FALLBACK_IDENTITY
                missing |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": mail}
        return missing

    @property
    def _place(self) -> dict[str, str]:
        return {"GIT_DIR": self.git_dir, "GIT_COMMON_DIR": self.common, "GIT_WORK_TREE": self.folder}

    @cached_property
    def _filters(self) -> dict[str, str]:
        """Settings that take from the repository's own filters and merge drivers what they would run."""
        words = ("config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^(filter|diff|merge)\..*\.")
        found = _split(_run(self._program, words, self.folder, b"", (0, 1), self._place, {}, self._limit))
        own = (name for scope, name in zip(found[::2], found[1::2], strict=False) if scope in ("local", "worktree"))
        return {name: "false" if name.endswith(".required") else "" for name in own}


def find_repository(folder: str) -> Repository | None:
    """That `folder` is in; None where it is in none, or git is missing or refuses it."""
    top = _top(folder)
    program = git_program()
    if top is None or program is None:
        return None
    try:
        words = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
        found = _run(program, words, top, b"", (0,), {}, {})
    except GitFailure:
        return None
    git_dir, _, common = os.fsdecode(found.removesuffix(b"\n")).partition("\n")
    return Repository(program, top, git_dir, common) if common and "\n" not in common else None


def git_program() -> str | None:
    try:
        return find_program("git")
    except UntrustedProgram:
        return None


def merge_files(folder: str, ours: str, base: str, theirs: str) -> tuple[bytes, bool] | None:
    """Three files of a folder in one: the text, and whether it is without conflicts. None where they cannot be."""
    program = git_program()
    if program is None:
        return None
    labels = [word for label in ("workspace", "start", "agent") for word in ("-L", label)]
    words = ("merge-file", "-p", "--diff3", *labels, ours, base, theirs)
    process = _process(program, words, folder, b"", {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder)}, {})
    if process.returncode < 0 or process.returncode > 127:
        return None
    return process.stdout, process.returncode == 0


def _top(folder: str) -> str | None:
    """The nearest folder, from this one up, that has a `.git`."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _run(
    program: str,
    words: Iterable[str],
    folder: str,
    data: bytes,
    allowed: tuple[int, ...],
    env: Mapping[str, str],
    settings: Mapping[str, str],
    limit: TimeLimit | None = None,
) -> bytes:
    words = tuple(words)
    process = _process(program, words, folder, data, env, settings, limit)
    if process.returncode not in allowed:
        why = process.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise GitFailure(f"git {words[0]} failed in {folder}: {why or f'exit code {process.returncode}'}")
    return process.stdout


def _process(
    program: str,
    words: Iterable[str],
    folder: str,
    data: bytes,
    env: Mapping[str, str],
    settings: Mapping[str, str],
    limit: TimeLimit | None = None,
) -> subprocess.CompletedProcess[bytes]:
    words, limit = tuple(words), limit or TimeLimit()
    process = _started(program, words, folder, env, settings, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    unsent: bytes | None = data
    try:
        while True:
            try:
                output, problems = process.communicate(unsent, timeout=min(limit.left(), _PAUSE))
                return subprocess.CompletedProcess(words, process.returncode, output, problems)
            except subprocess.TimeoutExpired:
                unsent = None
    except GitFailure as problem:
        raise GitFailure(f"git {words[0]} was ended in {folder}: {problem.message}") from None
    finally:
        _end(process)


def _started(
    program: str,
    words: tuple[str, ...],
    folder: str,
    env: Mapping[str, str],
    settings: Mapping[str, str],
    stdin: int,
    stderr: IO[bytes] | int,
) -> "subprocess.Popen[bytes]":
    """In a group of its own, with which `_end` ends it; in our session, since what is in another one is a command's."""
    environment = {**_environment({**settings, **_SETTINGS}), **env}
    try:
        return subprocess.Popen(
            [program, *words], cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment,
            process_group=0,
        )  # fmt: skip
    except (OSError, ValueError) as problem:
        raise GitFailure(f"git {words[0]} cannot be run in {folder}: {problem}") from problem


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """With the programs it started. One that ended by itself has ended those."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):  # what was not written yet is lost
                pipe.close()


def _read(
    program: str,
    words: Iterable[str],
    folder: str,
    env: Mapping[str, str],
    settings: Mapping[str, str],
    limit: int,
) -> tuple[bytes, bool]:
    words = tuple(words)
    timed_out = Event()
    with TemporaryFile() as problems:
        process = _started(program, words, folder, env, settings, stdin=subprocess.DEVNULL, stderr=problems)

        def time_out() -> None:
            timed_out.set()
            _kill(process)

        timer = Timer(_READING_SECONDS, time_out)
        timer.start()
        try:
            assert process.stdout is not None
            with process.stdout as output:
                data = output.read(limit + 1)
            if len(data) > limit:
                _kill(process)
            process.wait()
        except BaseException:
            _end(process)
            raise
        finally:
            timer.cancel()
        if timed_out.is_set():
            raise GitFailure(f"git {words[0]} did not end within {_READING_SECONDS:.0f} seconds in {folder}")
        if len(data) > limit:
            return data[:limit], False
        problems.seek(0)
        why = problems.read(_PROBLEM_AT_MOST).decode(errors="replace").strip().partition("\n")[0]
    if process.returncode:
        raise GitFailure(f"git {words[0]} failed in {folder}: {why or f'exit code {process.returncode}'}")
    return data, True


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings go through variables: a name may have any character there."""
    users = trusted_environment(os.environ).items()
    environ = {name: value for name, value in users if not name.startswith("GIT_") or name.startswith(_ALLOWED)}
    environ |= {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "GIT_PAGER": "cat", "GIT_NO_LAZY_FETCH": "1"}
    environ |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C"}
    environ["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (name, value) in enumerate(settings.items()):
        environ |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return environ


def _split(data: bytes) -> list[str]:
    return [os.fsdecode(each) for each in data.split(b"\0") if each]
