"""ripgrep as a process of ours: found, run, read as it writes, and ended with whoever waits for it.

Rules:

- It is looked for beside this Python (where the package that carries it puts it), then on PATH outside the workspace.
  There may be none.
- Only our arguments count: no configuration file, and nothing is read from the terminal.
- A glob given with `-g` would bring ignored files back. Which files are wanted is therefore said as the rules of one
  more ignore file, which weighs less than any other; it is handed over as the standard input.
- Whoever leaves before the end kills the process, its threads with it.
"""

import asyncio
import os
import re
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO

from sightline.exec import UntrustedProgram, find_program
from sightline.tools._walk import in_repository, walk

# What every run has in common: hidden files yes, the insides of repositories no.
_ALWAYS = ("--no-config", "--no-messages", "--color=never", "--hidden", "--glob=!.git")
_CHUNK = 1 << 18
_LITTLE = 1 << 14
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.004
_BATCH = 2000


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


class Running:
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
        """What it had to say against its arguments. For after the last chunk."""
        _, errors = await self._process.communicate()
        return errors.decode("utf-8", "replace").strip() if self._process.returncode == 2 else ""


def _wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


def ignoring(folder: Path, *, gitignore: bool) -> str:
    """`.gitignore` files mean something in a folder that is no repository, too. In one they are read as git does:
    told not to care, ripgrep would also read those above the repository."""
    if not gitignore:
        return "--no-ignore"
    return "--require-git" if in_repository(str(folder)) else "--no-require-git"


@asynccontextmanager
async def running(arguments: Sequence[str], folder: Path, *, rules: str = "") -> AsyncIterator[Running]:
    """`rules`: lines of an ignore file, read as seen from the folder."""
    found = program()
    assert found is not None, "there is no ripgrep; the caller has to ask first"
    argv = [found, *_ALWAYS, *(["--ignore-file=/dev/stdin"] if rules else []), *arguments]
    output, its_end = os.pipe()
    os.set_blocking(output, False)
    try:
        process = await _started(argv, folder, rules, its_end)
        ripgrep = Running(process, output)
        try:
            yield ripgrep
        finally:
            if not ripgrep.ended and process.returncode is None:
                process.kill()
            await asyncio.shield(process.communicate())
    finally:
        os.close(output)


async def _started(argv: list[str], folder: Path, rules: str, output: int) -> Process:
    try:
        with _as_file(rules) as given:
            return await asyncio.create_subprocess_exec(*argv, cwd=folder, stdin=given, stdout=output, stderr=PIPE)
    finally:
        os.close(output)


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
    roots: Sequence[str] = (".",),
    hidden: bool = True,
    gitignore: bool = True,
    newest_first: bool = False,
    rules: str = "",
) -> AsyncGenerator[list[str], None]:
    """The files below the roots as seen from the folder, in batches. Without ripgrep neither order nor rules count."""
    if program() is None:
        names = _walked(folder, roots, hidden=hidden, gitignore=gitignore)
        while batch := await asyncio.to_thread(list, islice(names, _BATCH)):
            yield batch
        return
    arguments = ["--files", "--null", ignoring(folder, gitignore=gitignore)]
    arguments += [] if hidden else ["--no-hidden"]
    arguments += ["--sortr=modified"] if newest_first else []
    alone = list(roots) == ["."]  # not said then: names come without `./`
    arguments += [] if alone else ["--", *roots]
    rest = b""
    async with running(arguments, folder, rules=rules) as process:
        async for chunk in process.chunks():
            whole, _, rest = (rest + chunk).rpartition(b"\0")
            if whole:
                found = os.fsdecode(whole).split("\0")
                yield found if alone else [name.removeprefix("./") for name in found]


def _walked(folder: Path, roots: Sequence[str], *, hidden: bool, gitignore: bool) -> Iterator[str]:
    for root in roots:
        for name in walk(os.path.join(folder, root), hidden=hidden, ignoring=gitignore):
            yield os.path.normpath(os.path.join(root, name))


def rules_for(globs: list[tuple[str, str]]) -> str:
    """Of (folder, as `below` writes it, and glob in that folder): all is ignored but folders and what is meant.

    May let too much through, never too little: what cannot be said in one line of an ignore file is said as a star.
    """
    kept = [f"!/{_escaped(folder)}{_one_line(glob) if _is_closed(glob) else '**'}" for folder, glob in globs]
    return "\n".join(["*", "!*/", *kept, ""])


def _is_closed(glob: str) -> bool:
    return glob.count("{") == glob.count("}") and glob.count("[") == glob.count("]")


def _escaped(folder: str) -> str:
    return _one_line(re.sub(r"([\\*?\[\]{}!#])", r"\\\1", folder))


def _one_line(text: str) -> str:
    return re.sub(r"[\s\udc80-\udcff]+", "*", text)
