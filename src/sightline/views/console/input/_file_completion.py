"""Completion of `@file` anywhere in a prompt: names of the whole project, or of one folder.

`@ed` searches the project; `@./`, `@../`, `@~/` and `@/` list that folder, also what git ignores. A name with a space
in it is written in quotation marks: `@"my notes.txt"`.
"""

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.exceptions import SightlineError
from sightline.text import clean_line
from sightline.tty.components import Item
from sightline.tty.components.editor import CompletionRequest, Completions
from sightline.tty.components.editor._completion import Deliver
from sightline.views.console.input._drafts import Spawn
from sightline.views.console.input._project_files import MOST, ProjectFiles

_mention = re.compile(r'(?<!\S)@(?:"(?P<quoted>[^"]*)|(?P<bare>(?!")\S*))\Z').search
_NEWER_AFTER = 5.0
_DROPPED_AFTER = 120.0
_ENTRIES = 2000
_ELSEWHERE = ("/", "~", "./", "../")


class _FileQuery(msgspec.Struct):
    word: str
    """The text that is replaced: the sign, the quotation mark, the name."""
    name: str
    deliver: Deliver


class ProjectFileCompletion:
    """Answers one query at a time; of those that come meanwhile, the last one is next."""

    def __init__(
        self,
        folder: Callable[[], str],
        spawn: Spawn,
        report: Callable[[str], None],
        *,
        is_enabled: Callable[[], bool] = lambda: True,
    ) -> None:
        self._folder = folder
        self._spawn = spawn
        self._report = report
        self._is_enabled = is_enabled
        self._files = ProjectFiles()
        self._of = ""
        self._read_at: float | None = None
        self._used_at = 0.0
        self._reading = self._working = False
        self._next: _FileQuery | None = None
        self._last: _FileQuery | None = None

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        mention = _mention(request.before) if self._is_enabled() else None
        if mention is None:
            deliver(None)
            return
        name = mention["quoted"] if mention["quoted"] is not None else mention["bare"]
        if not _is_elsewhere(name):
            self._refresh()
        self._query(_FileQuery(mention[0], name, deliver))

    def _query(self, query: _FileQuery) -> None:
        self._next = self._last = query
        if not self._working:
            self._working = True
            self._spawn(self._work())

    async def _work(self) -> None:
        try:
            while (query := self._next) is not None:
                self._next = None
                query.deliver(await self._answer(query))
        finally:
            self._working = False

    async def _answer(self, query: _FileQuery) -> Completions | None:
        if _is_elsewhere(query.name):
            folder, slash, rest = query.name.rpartition("/")
            if not slash:
                folder, slash, rest = query.name, "/", ""
            entries = await asyncio.to_thread(_entries, self._folder(), folder + slash, hidden=rest.startswith("."))
            items = tuple(Item(mentioned(folder + slash + entry), entry) for entry in entries)
            return Completions(items, len(query.word), len(rest), in_order=not rest) if items else None
        names = await asyncio.to_thread(self._files.best, query.name)
        if not names and not self._files.complete:
            return None
        items = tuple(Item(mentioned(name), name) for name in names)
        return Completions(items, len(query.word), len(query.name), in_order=True) if items else None

    def _refresh(self) -> None:
        """List the files if there is no list, or it is too old."""
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
            self._report(f"only {MOST:,} of the files here are offered after @; begin with ./ to look into folders")
        loop.call_later(_DROPPED_AFTER, self._drop)

    def _grown(self) -> None:
        """Answer the last query again. The editor ignores an answer to a query that is over."""
        if self._last is not None and self._next is None:
            self._query(self._last)

    def _drop(self) -> None:
        """Free the list when it was not used for a while."""
        if asyncio.get_running_loop().time() - self._used_at >= _DROPPED_AFTER and not self._reading:
            self._of, self._files, self._last = "", ProjectFiles(), None


def _is_elsewhere(name: str) -> bool:
    return name.startswith(_ELSEWHERE) or name == ".."


def mentioned(name: str) -> str:
    """A name as it is written in a prompt; after a folder the name continues."""
    opening = '"' if any(character.isspace() for character in name) else ""
    return f"@{opening}{name}" if name.endswith("/") else f"@{opening}{name}{opening} "


def _entries(root: str, folder: str, *, hidden: bool) -> list[str]:
    """The names in a folder, folders first; empty when it cannot be read."""
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
