"""Calls against a link that is swapped all the time: `python -m sightline.testing.races [--count 10000] [--only KIND]`.

A second process exchanges two names in the workspace as fast as it can: a folder of the workspace and a link that leads
out of it (or two links, or a file and a link). Meanwhile a tool is called again and again on that name, through the
same decisions as in a session where nobody can be asked. Counted are the calls that did what they say, those that were
refused, and what came of them outside: files written there, or a secret that was shown. That must be none.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from sightline.actors import Actor, RunningCommand
from sightline.agent.conversation._instructions import find_context_files
from sightline.agent.extensions._hooks import Hooks
from sightline.agent.loop._calls import CallRunner
from sightline.agent.loop._requests import UserRequests
from sightline.agent.permissions._approvals import Approvals
from sightline.agent.permissions._permissions import denying
from sightline.agent.permissions._session_rules import SessionRules
from sightline.conversation import CallPart, TextPart, ToolMessage
from sightline.events import Event
from sightline.exec import CommandSpec
from sightline.journal import Artifact, ArtifactReader, Entry, EntryPlace
from sightline.secrets import Secrets
from sightline.settings import Policy, Settings
from sightline.tools import Limits, ToolRegistry, Workplace, builtin_tools
from sightline.tools.hashline import Snapshots

SECRET = "the-secret-outside"
_SECONDS = 20.0  # for one call: none waits for anything

_SWAPPER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
one, two = (name.encode() for name in sys.argv[1:3])
if libc.renameat2(-100, one, -100, two, 2):
    sys.exit(f"renameat2 failed: {ctypes.get_errno()}")
print("ready", flush=True)
while True:
    libc.renameat2(-100, one, -100, two, 2)
"""


class Race(msgspec.Struct):
    """How one kind of call fared. `escaped`: what came of it outside."""

    kind: str
    done: int = 0
    refused: int = 0
    escaped: int = 0
    seconds: float = 0.0


class _Log:
    """A session no viewer is in."""

    id = "race"
    seq = 0
    is_attended = has_answers = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def append(self, event: Event) -> None: ...

    def store_entry(self, entry: Entry) -> EntryPlace | None: ...

    def call_ended(self, call: str) -> None: ...

    def flush(self) -> None: ...

    def new_call(self) -> str:
        return "race-1"

    def new_block(self) -> int:
        return 1

    def new_request(self) -> str:
        return "request-1"

    def new_agent(self, path: str) -> str:
        return path

    def start_command(self, actor: Actor, call: str, spec: CommandSpec) -> RunningCommand:
        raise NotImplementedError

    def artifact_for(self, call: str) -> Artifact:
        raise NotImplementedError

    def read_artifact(self, call: str) -> ArtifactReader:
        raise NotImplementedError

    def forget_artifact(self, call: str) -> None: ...


class _Shelf:
    def store(self, name: str, data: bytes) -> str:
        return ""

    def find(self, url: str) -> Path | None:
        return None


class Track:
    """A workspace, a folder outside, and calls as a session makes them. `place` is the name that is swapped."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.work, self.outside = folder / "work", folder / "outside"
        self.inside = self.work / "inside"
        for made in (self.work, self.outside, self.inside):
            made.mkdir()
        policy = Policy("edit", [], [f"read({self.outside}/**)"], self.work)
        limits = Limits(is_denied=denying(policy))
        self.workplace = Workplace(
            self.work,
            settings=Settings(),
            artifacts=_Shelf(),
            local=folder / "local",
            limits=lambda: limits,
        )
        self._results: list[ToolMessage] = []
        actor = Actor(_Log(folder), "agent", Secrets({}))
        approvals = Approvals(SessionRules(policy), actor, UserRequests(actor))
        self._calls = CallRunner(
            actor, ToolRegistry(builtin_tools()), self.workplace, approvals, Hooks(lambda text: None),
            self._results.append,
            lambda name, value, shown: None,
        )  # fmt: skip

    async def call(self, name: str, **args: Any) -> ToolMessage:
        await asyncio.wait_for(self._calls.make([CallPart(id="race-1", name=name, args=args)]), _SECONDS)
        return self._results.pop()

    def swapped_folder(self) -> Iterator[None]:
        """`place` is a folder of the workspace, then a link that leads out, then the folder again."""
        (self.work / "place").mkdir()
        (self.work / "other").symlink_to(self.outside)
        return self._swapping("place", "other")

    def swapped_links(self) -> Iterator[None]:
        """`place` is a link to a folder of the workspace, then one that leads out."""
        (self.work / "place").symlink_to(self.inside)
        (self.work / "other").symlink_to(self.outside)
        return self._swapping("place", "other")

    def swapped_file(self, name: str, text: str) -> Iterator[None]:
        """A file of the workspace, then a link to a secret."""
        (self.outside / "secret.txt").write_text(f"{SECRET}\n")
        (self.work / name).write_text(text)
        (self.work / "other").symlink_to(self.outside / "secret.txt")
        return self._swapping(name, "other")

    def _swapping(self, one: str, two: str) -> Iterator[None]:
        swapper = subprocess.Popen(
            [sys.executable, "-c", _SWAPPER, str(self.work / one), str(self.work / two)], stdout=subprocess.PIPE
        )
        try:
            assert swapper.stdout is not None
            if not swapper.stdout.readline():
                raise RuntimeError("this file system cannot exchange two names")
            yield
        finally:
            swapper.kill()
            swapper.wait()
            if swapper.stdout is not None:
                swapper.stdout.close()


Step = Callable[[int], Awaitable[bool | None]]  # True: done; False: refused; None: a secret was shown
Kind = Callable[[Track], tuple[Iterator[None], Step]]


def _succeeded(message: ToolMessage) -> bool | None:
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    return None if SECRET in text else not message.is_error


def write(track: Track) -> tuple[Iterator[None], Step]:
    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("write", path=f"place/{number}.txt", content="x\n"))

    return track.swapped_links(), step


def write_over(track: Track) -> tuple[Iterator[None], Step]:
    """A file that is there, in a folder that is swapped for a link."""

    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("write", path="place/same.txt", content=f"{number}\n"))

    return track.swapped_folder(), step


def make_folders(track: Track) -> tuple[Iterator[None], Step]:
    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("write", path=f"place/{number}/a/b.txt", content="x\n"))

    return track.swapped_folder(), step


def edit_new(track: Track) -> tuple[Iterator[None], Step]:
    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("edit", input=f"¶place/{number}.txt\ninsert head:\n+x"))

    return track.swapped_links(), step


def edit(track: Track) -> tuple[Iterator[None], Step]:
    """The same text in both places, so that an edit fits whichever it gets."""
    file = track.inside / "a.txt"
    file.write_text("0\n")

    async def step(number: int) -> bool | None:
        text = file.read_text()
        tag = track.workplace.shared(Snapshots).record(track.work / "place" / "a.txt", text)
        patch = f"¶place/a.txt#{tag}\nreplace 1..1:\n+{number + 1}"
        return _succeeded(await track.call("edit", input=patch))

    return track.swapped_links(), step


def archive(track: Track) -> tuple[Iterator[None], Step]:
    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("write", path="place/a.zip:entry.txt", content=f"{number}\n"))

    return track.swapped_folder(), step


def read(track: Track) -> tuple[Iterator[None], Step]:
    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("read", path="mine.txt"))

    return track.swapped_file("mine.txt", "mine\n"), step


def read_archive(track: Track) -> tuple[Iterator[None], Step]:
    (track.inside / "a.zip").write_bytes(_zipped("mine"))
    (track.outside / "a.zip").write_bytes(_zipped(SECRET))

    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("read", path="place/a.zip:entry.txt"))

    return track.swapped_links(), step


def search(track: Track) -> tuple[Iterator[None], Step]:
    (track.inside / "a.txt").write_text("the-secret? no\n")
    (track.outside / "a.txt").write_text(f"{SECRET}\n")

    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("search", pattern="the-secret", paths="place"))

    return track.swapped_links(), step


def search_above(track: Track) -> tuple[Iterator[None], Step]:
    """What is swapped lies in the folder that is searched."""
    (track.outside / "a.txt").write_text(f"{SECRET}\n")
    for number in range(200):
        (track.work / f"{number}.txt").write_text("the-secret? no\n" if number == 0 else "x\n")

    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("search", pattern="the-secret", paths="."))

    return track.swapped_folder(), step


def search_file(track: Track) -> tuple[Iterator[None], Step]:
    async def step(number: int) -> bool | None:
        return _succeeded(await track.call("search", pattern="secret", paths="mine.txt"))

    return track.swapped_file("mine.txt", "no secret\n"), step


def instructions(track: Track) -> tuple[Iterator[None], Step]:
    """Our own read."""

    async def step(number: int) -> bool | None:
        found = find_context_files(track.work, ["AGENTS.md"], track.workplace.limits().is_denied)
        here = [file.text for file in found.files if file.path.parent == track.work]
        return None if any(SECRET in text for text in here) else bool(here)

    return track.swapped_file("AGENTS.md", "Be kind.\n"), step


KINDS: dict[str, Kind] = {
    "write": write,
    "write over": write_over,
    "folders made": make_folders,
    "edit": edit,
    "edit, new file": edit_new,
    "archive entry": archive,
    "read": read,
    "read from archive": read_archive,
    "search in folder": search,
    "search above": search_above,
    "search in file": search_file,
    "instructions": instructions,
}
_COSTLY = {
    "search in folder": 10,
    "search above": 10,
    "search in file": 10,
}  # each starts a program: so many times fewer


async def race(kind: str, count: int) -> Race:
    """So many calls of one kind."""
    with tempfile.TemporaryDirectory(prefix="sightline-race-") as name:
        track = Track(Path(name))
        swapping, step = KINDS[kind](track)
        before = _contents(track.outside)
        outcome = Race(kind)
        began = time.monotonic()
        with contextmanager(lambda: swapping)():
            for number in range(max(1, count // _COSTLY.get(kind, 1))):
                match await step(number):
                    case None:
                        outcome.escaped += 1
                    case True:
                        outcome.done += 1
                    case False:
                        outcome.refused += 1
        outcome.seconds = time.monotonic() - began
        after = _contents(track.outside)
        outcome.escaped += sum(after.get(path) != before.get(path) for path in before.keys() | after.keys())
    return outcome


def _contents(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def _zipped(text: str) -> bytes:
    import io

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr("entry.txt", text)
    return data.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(prog="races", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="calls of each kind (default: 10000)")
    parser.add_argument("--only", choices=list(KINDS), action="append", help="these kinds only")
    options = parser.parse_args()
    print(f"{'kind':<20}{'done':>8}{'refused':>9}{'outside':>9}{'seconds':>9}")
    escaped = 0
    with tempfile.TemporaryDirectory(prefix="sightline-race-home-") as home:
        os.environ["SIGHTLINE_HOME"] = home
        for kind in options.only or KINDS:
            outcome = asyncio.run(race(kind, options.count))
            escaped += outcome.escaped
            row = f"{kind:<20}{outcome.done:>8}{outcome.refused:>9}{outcome.escaped:>9}{outcome.seconds:>9.1f}"
            print(row, flush=True)
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
