"""What is looked for: places, and which paths below them."""

import os
import re
import stat
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

    def matcher(self) -> "Matcher":
        return Matcher(self.globs)


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
