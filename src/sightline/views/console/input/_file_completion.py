"""`@file` anywhere in a prompt: names of the whole project, or what is in a folder that is named from its beginning.

`@ed` looks through the project; `@./`, `@../`, `@~/` and `@/` look into that folder, wherever it is and whatever git
ignores. A name with a blank in it is written in quotation marks: `@"my notes.txt"`.
"""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from sightline.exceptions import SightlineError
from sightline.text import clean_line
from sightline.tty.components import Item
from sightline.tty.components.editor import CompletionRequest, Completions
from sightline.tty.components.editor._completion import Deliver
from sightline.views.console.input._project_files import MOST, ProjectFiles

_mention = re.compile(r'(?<!\S)@(?:"(?P<quoted>[^"]*)|(?P<bare>(?!")\S*))\Z').search
_NEWER_AFTER = 5.0
_FORGOTTEN_AFTER = 120.0
_ENTRIES = 2000
_ELSEWHERE = ("/", "~", "./", "../")


class _Wanted(msgspec.Struct):
    word: str
    """What is to be replaced: the sign, the quotation mark, the name."""
    name: str
    deliver: Deliver


class ProjectFileCompletion:
    """One question is worked on at a time; of those that come meanwhile the last one is next."""

    def __init__(
        self,
        folder: Callable[[], str],
        spawn: Callable[[Coroutine[Any, Any, object]], object],
        say: Callable[[str], None],
        *,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._folder = folder
        self._spawn = spawn
        self._say = say
        self._is_wanted = wanted
        self._files = ProjectFiles()
        self._of = ""
        self._read_at: float | None = None
        self._used_at = 0.0
        self._reading = self._working = False
        self._next: _Wanted | None = None
        self._last: _Wanted | None = None

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        mention = _mention(request.before) if self._is_wanted() else None
        if mention is None:
            deliver(None)
            return
        name = mention["quoted"] if mention["quoted"] is not None else mention["bare"]
        if not _is_elsewhere(name):
            self._look_after()
        self._ask(_Wanted(mention[0], name, deliver))

    def _ask(self, wanted: _Wanted) -> None:
        self._next = self._last = wanted
        if not self._working:
            self._working = True
            self._spawn(self._work())

    async def _work(self) -> None:
        try:
            while (wanted := self._next) is not None:
                self._next = None
                wanted.deliver(await self._answer(wanted))
        finally:
            self._working = False

    async def _answer(self, wanted: _Wanted) -> Completions | None:
        if _is_elsewhere(wanted.name):
            folder, slash, rest = wanted.name.rpartition("/")
            if not slash:
                folder, slash, rest = wanted.name, "/", ""
            entries = await asyncio.to_thread(_entries, self._folder(), folder + slash, hidden=rest.startswith("."))
            items = tuple(Item(mentioned(folder + slash + entry), entry) for entry in entries)
            return Completions(items, len(wanted.word), len(rest), in_order=not rest) if items else None
        names = await asyncio.to_thread(self._files.best, wanted.name)
        if not names and not self._files.complete:
            return None
        items = tuple(Item(mentioned(name), name) for name in names)
        return Completions(items, len(wanted.word), len(wanted.name), in_order=True) if items else None

    def _look_after(self) -> None:
        """See that the list is there and not too old."""
        now, folder = asyncio.get_running_loop().time(), self._folder()
        if folder != self._of:
            self._files, self._of, self._read_at = ProjectFiles(), folder, None
        self._used_at = now
        if not self._reading and (self._read_at is None or now - self._read_at > _NEWER_AFTER):
            self._reading = True
            self._spawn(self._read(self._files, folder))

    async def _read(self, files: ProjectFiles, folder: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            await files.read(Path(folder), self._grown)
        except (OSError, SightlineError):
            pass  # a folder that is gone offers nothing
        finally:
            self._reading = False
        self._read_at = loop.time()
        if files.too_many:
            self._say(f"only {MOST:,} of the files here are offered after @; begin with ./ to look into folders")
        loop.call_later(_FORGOTTEN_AFTER, self._forget)

    def _grown(self) -> None:
        """Answer once more what was asked last: whoever no longer asks does not listen."""
        if self._last is not None and self._next is None:
            self._ask(self._last)

    def _forget(self) -> None:
        """A hundred thousand names are not held for nothing."""
        if asyncio.get_running_loop().time() - self._used_at >= _FORGOTTEN_AFTER and not self._reading:
            self._of, self._files, self._last = "", ProjectFiles(), None


def _is_elsewhere(name: str) -> bool:
    return name.startswith(_ELSEWHERE) or name == ".."


def mentioned(name: str) -> str:
    """A name as it is mentioned; a folder without an end, for what is in it comes next."""
    opening = '"' if any(character.isspace() for character in name) else ""
    return f"@{opening}{name}" if name.endswith("/") else f"@{opening}{name}{opening} "


def _entries(root: str, folder: str, *, hidden: bool) -> list[str]:
    """What is in a folder, folders first; nothing when it cannot be read."""
    names: list[str] = []
    try:
        with os.scandir(os.path.join(root, os.path.expanduser(folder))) as entries:
            for entry in entries:
                if (hidden or not entry.name.startswith(".")) and clean_line(entry.name) == entry.name:
                    names.append(entry.name + ("/" if entry.is_dir() else ""))
                if len(names) >= _ENTRIES:
                    break
    except (OSError, ValueError):
        return []
    return sorted(names, key=lambda name: (not name.endswith("/"), name.lower()))
