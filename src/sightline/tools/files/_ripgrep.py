"""ripgrep as a process of ours: found, run, read as it writes, and ended with its caller.

Rules:

- It is looked for beside this Python (where the package that carries it puts it), then on PATH outside the workspace.
  There may be none.
- Only our arguments count: no configuration file, nothing is read from the terminal, and of the environment it has what
  leads to the user's own rules of what git ignores.
- A glob given with `-g` would bring ignored files back. Globs are therefore the rules of one more ignore file, which
  weighs less than any other; it is handed over as the standard input.
- It runs in a folder that is open (see `sightline.handles`), and files that are named are handed over open: a link that
  is swapped meanwhile leads nowhere else.
- A caller that leaves before the end kills the process, its threads with it. It has a limit of memory.
- One that did not end by itself found a part at most: that is reported as a failure.
- It opens every ignore file it meets, and waits for a named pipe. Those in the folder and above are looked at before.
"""

import asyncio
import os
import re
import signal
import stat
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import IO

from sightline.exec import UntrustedProgram, bare_environment, find_program
from sightline.handles import Swapped, open_folder, path_of
from sightline.tools._tool import ToolError
from sightline.tools.files._globs import coarse
from sightline.tools.files._paths import display, reason_of, shown
from sightline.tools.files._walk import in_repository, walk

# What every run has in common: hidden files yes, the insides of repositories no.
_ALWAYS = ("--no-config", "--no-messages", "--color=never", "--hidden", "--glob=!.git")
_CHUNK = 1 << 18
_LITTLE = 1 << 14
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.004
_ENVIRONMENT = ("HOME", "XDG_CONFIG_HOME")
_BATCH = 2000
_LOOKED_AT = 20_000  # folders
# What it is run with where one of them cannot be read.
_IGNORE_FILES = {
    ".gitignore": "--no-ignore-vcs",
    ".ignore": "--no-ignore-dot",
    ".rgignore": "--no-ignore-dot",
    ".git/info/exclude": "--no-ignore-exclude",
}
_MEMORY = 4 * 1024**3  # of addresses, which is far more than what is used


@cache
def program() -> str | None:
    """The path of ripgrep; None when there is none."""
    # In the workspace, too: our interpreter's folder is protected there.
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    if os.access(beside, os.X_OK):
        return beside
    try:
        return find_program("rg")
    except UntrustedProgram:
        return None


class RunningRipgrep:
    """A ripgrep that runs."""

    def __init__(self, process: Process, output: int) -> None:
        self._process = process
        self._output = output
        self.ended = False  # everything it wrote was read

    async def chunks(self) -> AsyncIterator[bytes]:
        """What it writes, in pieces that end anywhere. A ripgrep that writes little at a time is looked after less
        often: to be woken for every file would cost more than the search."""
        pause = _FIRST_PAUSE
        while chunk := await self._next():
            yield chunk
            if len(chunk) < _LITTLE:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        self.ended = True

    async def _next(self) -> bytes:
        """Empty at the end."""
        while True:
            try:
                return os.read(self._output, _CHUNK)
            except BlockingIOError:
                await self._readable()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._output, _wake, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._output)

    async def complaint(self) -> str:
        """Its error about the arguments. For after the last chunk."""
        _, errors = await self._process.communicate()
        return errors.decode("utf-8", "replace").strip() if self._process.returncode == 2 else ""

    async def failure(self) -> str:
        """Why it did not search everything; empty when it did. For after the last chunk."""
        _, errors = await self._process.communicate()
        code = self._process.returncode
        if code is not None and code < 0:
            return f"ripgrep was ended by {_signal_name(-code)}"
        if code == 0 or code == 1 or (code == 2 and not errors.strip()):  # 2 alone: files that cannot be read
            return ""
        return f"ripgrep ended with code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


def ignoring(folder: Path, *, gitignore: bool) -> list[str]:
    """`.gitignore` files count in a folder that is no repository, too. In one they are read as git does: without
    `--require-git`, ripgrep would also read those above the repository."""
    if not gitignore:
        return ["--no-ignore"]
    without = {_IGNORE_FILES[name] for _, name in _endless_above(folder)}
    return ["--require-git" if in_repository(str(folder)) else "--no-require-git", *sorted(without)]


def endless_ignore_files(folders: Iterable[Path], cwd: Path) -> list[str]:
    """The ignore files in these folders and above that are pipes or devices, each with what follows from it. ripgrep
    would wait for them, so it runs without those of the same name."""
    found = {Path(place, name): name for folder in folders for place, name in _endless_above(folder)}
    without = "{} is left out" if program() is None else "no {} is used"
    return [f"{display(path, cwd)} (not a regular file; {without.format(name)})" for path, name in found.items()]


def _endless_above(folder: Path) -> list[tuple[str, str]]:
    """Places and names. All up to the root: ripgrep opens those above a repository, too, whether or not they count."""
    here = os.path.realpath(folder)
    places = [here, *map(str, Path(here).parents)]
    return [(place, name) for place in places for name in _IGNORE_FILES if _is_endless(os.path.join(place, name))]


def _is_endless(path: str) -> bool:
    """Whether reading it may never end: anything but a file, a folder and /dev/null, which many a link leads to."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return False
    return not (stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev)


def why_slow(folders: Iterable[Path]) -> str:
    """Of a ripgrep that did not end in time: an ignore file below that it waits for; empty when none is found. Looks at
    a bounded number of folders. Blocking."""
    below = (os.walk(folder) for folder in folders)
    for place, _, files in islice(chain.from_iterable(below), _LOOKED_AT):
        for name in files:
            path = os.path.join(place, name)
            if name in _IGNORE_FILES and _is_endless(path):
                return f"reading {shown(path)}, which is not a regular file, does not end; set gitignore to false"
    return ""


@asynccontextmanager
async def running(
    arguments: Sequence[str],
    folder: Path,
    *,
    rules: str = "",
    files: Sequence[int] = (),
    command: Sequence[str] = (),
) -> AsyncIterator[RunningRipgrep]:
    """`rules`: lines of an ignore file, read as seen from the folder. `files`: descriptors it may read. `command`: what
    is run in its place."""
    argv = [*(command or _ripgrep(rules)), *arguments]
    try:
        place = open_folder(folder)
    except OSError as problem:
        raise ToolError(f"Cannot look into {shown(folder)}: {reason_of(problem)}.") from None
    try:
        if not os.access(path_of(place, folder), os.X_OK):  # it can be listed, and not entered
            raise ToolError(f"Cannot look into {shown(folder)}: permission denied.")
        output, its_end = os.pipe()
        os.set_blocking(output, False)
        try:
            process = await _started(argv, path_of(place, folder), rules, its_end, files)
            ripgrep = RunningRipgrep(process, output)
            try:
                _limit_memory(process.pid)
                yield ripgrep
            finally:
                if not ripgrep.ended and process.returncode is None:
                    process.kill()
                await asyncio.shield(process.communicate())
        finally:
            os.close(output)
    finally:
        os.close(place)


def _ripgrep(rules: str) -> list[str]:
    found = program()
    assert found is not None, "there is no ripgrep; the caller has to check first"
    return [found, *_ALWAYS, *(["--ignore-file=/dev/stdin"] if rules else [])]


async def _started(argv: list[str], folder: str, rules: str, output: int, files: Sequence[int]) -> Process:
    try:
        with _as_file(rules) as given:
            return await asyncio.create_subprocess_exec(
                *argv,
                cwd=folder,
                env=bare_environment(*_ENVIRONMENT),
                stdin=given,
                stdout=output,
                stderr=PIPE,
                pass_fds=files,
            )
    finally:
        os.close(output)


def _limit_memory(process: int) -> None:
    """A file without a single line end is one line, which is held whole."""
    import resource

    if hasattr(resource, "prlimit"):
        with suppress(OSError, ValueError):
            resource.prlimit(process, resource.RLIMIT_AS, (_MEMORY, _MEMORY))


@contextmanager
def _as_file(rules: str) -> Iterator[IO[bytes] | int]:
    """An unnamed file rather than a pipe: it holds any number of rules, and can be opened a second time."""
    if not rules:
        yield DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(os.fsencode(rules))
        file.seek(0)
        yield file


async def listing(
    folder: Path,
    *,
    hidden: bool = True,
    gitignore: bool = True,
    newest_first: bool = False,
    rules: str = "",
) -> AsyncGenerator[list[str], None]:
    """The files below a folder, as seen from it, in batches. Without ripgrep neither order nor rules count. ToolError
    when ripgrep did not get to the end."""
    if program() is None:
        names = walk(folder, hidden=hidden, ignoring=gitignore)
        while batch := await asyncio.to_thread(list, islice(names, _BATCH)):
            yield batch
        return
    arguments = ["--files", "--null", *ignoring(folder, gitignore=gitignore)]
    arguments += [] if hidden else ["--no-hidden"]
    arguments += ["--sortr=modified"] if newest_first else []
    rest = b""
    async with running(arguments, folder, rules=rules) as process:
        async for chunk in process.chunks():
            whole, _, rest = (rest + chunk).rpartition(b"\0")
            if whole:
                yield os.fsdecode(whole).split("\0")
        if failure := await process.failure():
            raise ToolError(f"The listing of {folder} is not complete: {failure}. Try again, or name a smaller folder.")


def why_closed(folder: Path) -> str:
    """Why a folder cannot be looked into; empty when it can. One that was swapped is an error of the whole call."""
    try:
        os.close(open_folder(folder))
    except Swapped:
        return ""
    except OSError as problem:
        return reason_of(problem)
    return "" if os.access(folder, os.X_OK) else "permission denied"


def rules_for(globs: list[tuple[str, str]]) -> str:
    """Of (folder, as `below` writes it, and glob in that folder): all is ignored but folders and what is meant.

    May let too much through, never too little: what an ignore file cannot express exactly is a star there.
    """
    meant = [f"!/{_escaped(folder)}{line}" for folder, line in coarse(globs)]
    return "\n".join(["*", "!*/", *meant, ""])


def _escaped(folder: str) -> str:
    """On one line: what a line cannot hold is a star."""
    return re.sub(r"[\s\udc80-\udcff]+", "*", re.sub(r"([\\*?\[\]{}!#])", r"\\\1", folder))
