"""What is looked for (`FindQuery`), and the paths found, the most recently changed first.

Rules:

- Where most files it looks at are meant, ripgrep sorts; but it writes nothing before it is done. When that takes longer
  than a moment, a second one that does not sort provides progress meanwhile, and the result if time runs out.
- Where a glob chooses a few of many, or several folders are named, the files found are sorted by their times here.
- ripgrep lists files. The folders of a listing are those that its files are in; an empty folder is not found, and a
  glob that ends as names of files do (`*.py`) finds no folder.
"""

import asyncio
import os
import re
import stat
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing
from itertools import islice
from pathlib import Path

import msgspec

from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.files import _ripgrep
from sightline.tools.files._entries import EntryDestination, expand, is_url, place_exists, place_of
from sightline.tools.files._globs import Globs, below, composed, has_glob
from sightline.tools.files._paths import reason_of, shown

EMPTY = "`paths` must contain non-empty globs or paths"
_EVERYTHING = "**/*"


class FindQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`files` were named as such; the rest is looked for below `roots`, seen from `base`."""

    files: list[Path]
    base: Path
    roots: list[str]
    globs: list[tuple[str, str]]
    hidden: bool
    gitignore: bool
    limit: int
    seconds: float

    @property
    def everything(self) -> bool:
        return self.globs == [("", _EVERYTHING)]

    @property
    def files_only(self) -> bool:
        """Whether all globs end as names of files do: `*.py` means no folder."""
        return all("." in _ending(glob) for _, glob in self.globs)  # one that ends with a slash has no ending


class FindScope(msgspec.Struct, frozen=True):
    """What is looked through, what was not there, and what could not be read, with the reason."""

    there: list[EntryDestination]
    missing: list[str]
    unreadable: list[str]


class Matcher:
    """Whether a path seen from the base is meant. Most are decided by how they end, which is cheaper."""

    def __init__(self, globs: list[tuple[str, str]]) -> None:
        self._meant = None if globs == [("", _EVERYTHING)] else Globs(globs)
        self._endings = tuple(_ending(glob) for _, glob in globs)
        folders = [(folder, glob) for folder, glob in globs if glob.endswith("/")]
        self._folders = Globs(folders) if folders else None

    def __call__(self, path: str) -> bool:
        if self._meant is None:
            return True
        return composed(path).endswith(self._endings) and self._meant(path)

    def means_folder(self, path: str) -> bool:
        """A glob that ends with a slash means folders alone."""
        return self(path) or (self._folders is not None and self._folders(f"{path}/"))


def _ending(glob: str) -> str:
    """What the name of every path that is meant ends with."""
    return re.split(r"[*?\[\]{}\\/]", composed(glob))[-1]


def entries_of(paths: list[str], cwd: Path) -> list[str]:
    written = [entry if is_url(entry) else entry.replace("\\", "/") for entry in paths]
    return expand(written, cwd, lambda part: is_url(part) or place_exists(part, cwd), mistake=EMPTY)


async def places_of(entries: list[str], context: ToolContext) -> list[EntryDestination]:
    return [await _backing(entry, context) if is_url(entry) else place_of(entry, context.cwd) for entry in entries]


async def _backing(url: str, context: ToolContext) -> EntryDestination:
    if url.lower().startswith(("http://", "https://")):
        raise ToolError(f"find looks for files, not for {url}. Use read for a web page.")
    if has_glob(url):
        raise ToolError(f"Glob patterns are not supported for internal URLs: {url}")
    from sightline.tools import resources

    resource = await resources.resolve(url, context)
    if resource.source_path is None:
        raise ToolError(f"There is no file behind {url}. Use read to see what it is.")
    return EntryDestination(url, resource.source_path)


def scope_of(places: list[EntryDestination]) -> FindScope:
    """ToolError when there is nothing to list."""
    scope = FindScope([], [], [])
    for place in places:
        mode: int | None
        try:
            mode = place.path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            mode = 0 if place.path.is_symlink() else None  # one that leads nowhere is there itself
        except OSError as problem:
            scope.unreadable.append(f"{shown(place.entry)} ({reason_of(problem)})")
            continue
        if mode is None:
            scope.missing.append(shown(place.entry))
        elif stat.S_ISDIR(mode) and (reason := _ripgrep.why_closed(place.path)):
            scope.unreadable.append(f"{shown(place.entry)} ({reason})")
        else:
            scope.there.append(place)
    if scope.there:
        return scope
    if scope.unreadable:
        raise ToolError(f"Cannot look into {'; '.join(scope.unreadable)}.")
    names = ", ".join(scope.missing)
    raise ToolError(f"Path not found: {names}. Give a folder that exists, or a glob such as **/NAME.")


def query_of(places: list[EntryDestination], *, hidden: bool, gitignore: bool, limit: int, seconds: float) -> FindQuery:
    folders, files = [], []
    for place in places:
        if place.path == Path("/"):
            raise ToolError("Searching from root directory '/' is not allowed. Name a folder in it.")
        if place.path.is_dir():
            folders.append(place)
        elif place.glob:
            raise ToolError(f"Path is not a directory: {place.path}")
        else:
            files.append(place.path)
    base = Path(os.path.commonpath([place.path for place in folders])) if folders else Path("/")
    return FindQuery(
        files=files,
        base=base,
        roots=list(dict.fromkeys(os.path.relpath(place.path, base) for place in folders)),
        globs=list(dict.fromkeys((below(place.path, base), place.glob or _EVERYTHING) for place in folders)),
        hidden=hidden,
        gitignore=gitignore,
        limit=limit,
        seconds=seconds,
    )


UPDATE_SECONDS = 0.2


class FileListing(msgspec.Struct, frozen=True):
    """Absolute paths, folders with a slash at the end; `more`: there are others, `timed_out`: there may be."""

    paths: list[str]
    more: bool = False
    timed_out: bool = False


class _Seen:
    """The paths of a stream that are meant. `enough`: files after which no others are of interest."""

    def __init__(self, query: FindQuery, enough: int | None) -> None:
        self._is_meant = Matcher(query.globs)
        self._enough = enough
        self._folders_too = not query.files_only
        self._parents: set[str] = set()
        self.files: dict[str, None] = {}

    def add(self, names: list[str]) -> None:
        if self._folders_too:
            self._parents.update({name.rpartition("/")[0] for name in names})
        for name in names if self._enough is None or len(self.files) < self._enough else ():
            if self._is_meant(name):
                self.files[name] = None
                if len(self.files) == self._enough:
                    return

    def folders(self) -> list[str]:
        every: set[str] = set()
        for folder in self._parents:
            while folder and folder not in every:
                every.add(folder)
                folder = folder.rpartition("/")[0]
        return [folder for folder in every if self._is_meant.means_folder(folder)]


async def listing(query: FindQuery, report: Callable[[list[str]], None]) -> FileListing:
    """`report` gets what was found so far from time to time while it takes long."""
    if not query.roots:
        return await asyncio.to_thread(_newest, query, [], [])
    seen = _Seen(query, None)
    sortable = len(query.roots) == 1 and (query.everything or query.files_only)
    if _ripgrep.program() is None or not sortable:
        finished = await _within(_watch(query, seen, report), query.seconds)
        return await _outcome(query, seen, timed_out=not finished)
    best = _Seen(query, query.limit + 1)
    sorting = asyncio.create_task(_read_sorted(query, best))
    try:
        if not await _done(sorting, UPDATE_SECONDS):
            seconds = query.seconds - UPDATE_SECONDS
            await _within(_watch(query, seen, report, until=sorting), seconds)
    finally:
        finished = await _stop(sorting)
    return await _outcome(query, best if finished else seen, timed_out=not finished)


async def _read_sorted(query: FindQuery, seen: _Seen) -> None:
    async with aclosing(_names(query, newest_first=True)) as batches:
        async for names in batches:
            seen.add(names)


async def _watch(
    query: FindQuery, seen: _Seen, report: Callable[[list[str]], None], until: "asyncio.Task[None] | None" = None
) -> None:
    """Collect what comes, and report it; end with the task `until`, if there is one."""
    reported = time.monotonic()
    async with aclosing(_names(query, newest_first=False)) as batches:
        async for names in batches:
            seen.add(names)
            if time.monotonic() - reported >= UPDATE_SECONDS:
                reported = time.monotonic()
                report([os.path.join(query.base, name) for name in islice(seen.files, query.limit)])
            if until is not None and until.done():
                return
    if until is not None:
        await asyncio.wait({until})


async def _names(query: FindQuery, *, newest_first: bool) -> AsyncGenerator[list[str], None]:
    """As seen from the base. One ripgrep for each root, which runs in it and so follows no link to it."""
    for root in query.roots:
        start = "" if root == "." else f"{root}/"
        globs = [(below.removeprefix(start), glob) for below, glob in query.globs if below.startswith(start)]
        names = _ripgrep.listing(
            query.base / root,
            hidden=query.hidden,
            gitignore=query.gitignore,
            newest_first=newest_first,
            rules=_ripgrep.rules_for(globs) if query.files_only else "",
        )
        async with aclosing(names) as batches:
            async for batch in batches:
                yield [start + name for name in batch] if start else batch


async def _within(work: Coroutine[object, None, None], seconds: float) -> bool:
    """Whether it ended in time."""
    task = asyncio.create_task(work)
    try:
        await _done(task, seconds)
    finally:
        finished = await _stop(task)
    return finished


async def _done(task: "asyncio.Task[None]", seconds: float) -> bool:
    done, _ = await asyncio.wait({task}, timeout=seconds)
    return bool(done)


async def _stop(task: "asyncio.Task[None]") -> bool:
    """End it if it has not ended; whether it had. A failure of its own is raised here."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if task.cancelled():
        return False
    task.result()
    return True


async def _outcome(query: FindQuery, seen: _Seen, *, timed_out: bool) -> FileListing:
    found = await asyncio.to_thread(_newest, query, list(seen.files), seen.folders())
    return msgspec.structs.replace(found, timed_out=timed_out)


def _newest(query: FindQuery, files: list[str], folders: list[str]) -> FileListing:
    """The paths that can be shown. One that is gone by now is left out."""
    named = [str(path) for path in query.files]
    candidates = [*_timed(named, ""), *_timed((os.path.join(query.base, name) for name in files), "")]
    candidates += _timed((os.path.join(query.base, name) for name in folders), "/")
    newest = sorted(dict.fromkeys(candidates), key=lambda found: -found[0])
    return FileListing([path for _, path in newest[: query.limit]], more=len(newest) > query.limit)


def _timed(paths: Iterable[str], ending: str) -> Iterator[tuple[int, str]]:
    for path in paths:
        try:
            yield os.lstat(path).st_mtime_ns, path + ending
        except OSError:
            continue
