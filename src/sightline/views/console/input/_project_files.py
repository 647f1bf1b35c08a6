"""The files of a project by name: listed in the background, searched in a thread.

- ripgrep lists them (as the tools do), so what `.gitignore` names is not among them. Folders are those with a file.
- Hidden files are offered only when a dot is typed at the beginning of a name.
- A folder that is typed with its slash is no longer offered, only what is in it.
- A list is used while a newer one is made. It holds at most a hundred thousand names, a message reports when there are
  more, and it is freed some time after its last use.
- A name that cannot be shown as it is cannot be typed either: it is not offered.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from itertools import islice
from pathlib import Path

from sightline.text import clean_line
from sightline.tty.components import fuzzy_match
from sightline.tty.components._fuzzy import FuzzyIndex

MOST = 100_000
_OFFERED = 200
_CONSIDERED = 400
_SHOWN_EVERY = 0.3
_SORTED = 5000
_asks_for_hidden = re.compile(r"(?:^|/)\.").search


class ProjectFiles:
    """The names below one folder, folders ending with a slash."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._indices: dict[bool, tuple[list[str], FuzzyIndex]] = {}
        self.complete = False
        self.too_many = False

    async def read(self, folder: Path, grown: Callable[[], None]) -> None:
        """List the files. `grown` is called now and then meanwhile, and at the end."""
        listing = await asyncio.to_thread(_listing)
        files: list[str] = []
        clock = asyncio.get_running_loop().time
        reported = clock()
        batches = listing(folder)
        try:
            async for batch in batches:
                files += batch
                if len(files) >= MOST:
                    self.too_many = True
                    break
                if clock() - reported > _SHOWN_EVERY and not self.complete:
                    await asyncio.to_thread(self._hold, list(files))
                    grown()
                    reported = clock()
        finally:
            await batches.aclose()
        await asyncio.to_thread(self._hold, files[:MOST])
        self.complete = True
        grown()

    def best(self, query: str) -> list[str]:
        """Names that match a query, the best first. For one thread at a time."""
        names, index = self._index(hidden=_asks_for_hidden(query) is not None)
        if not query:
            return names[:_OFFERED]
        found = index.search(query)
        folded = query.lower()
        if "/" in query:
            likely = (number for number in found if names[number].lower().startswith(folded))
        else:
            likely = (number for number in found if _is_in_last_part(folded, names[number].lower()))
        numbers = dict.fromkeys([*islice(likely, _CONSIDERED), *found[:_CONSIDERED]])
        considered = (names[number] for number in numbers)
        offered = (name for name in considered if name != query or not query.endswith("/"))
        return sorted(offered, key=lambda name: _order(query, name))[:_OFFERED]

    def _hold(self, files: list[str]) -> None:
        good = [name for name in files if _can_be_typed(name)]
        self._names = _shallow_first([*good, *_folders(good)])
        self._indices = {}

    def _index(self, *, hidden: bool) -> tuple[list[str], FuzzyIndex]:
        indices = self._indices  # a new list may come in meanwhile, in another thread
        if hidden not in indices:
            names = self._names if hidden else [name for name in self._names if name[0] != "." and "/." not in name]
            indices[hidden] = (names, FuzzyIndex(names))
        return indices[hidden]


def _listing() -> Callable[[Path], AsyncGenerator[list[str], None]]:
    """Imported in a thread: it imports the tools."""
    from sightline.tools.files._ripgrep import listing

    return listing


def _folders(files: list[str]) -> set[str]:
    found: set[str] = set()
    for name in files:
        at = name.rfind("/")
        while at > 0 and (folder := name[: at + 1]) not in found:
            found.add(folder)
            at = name.rfind("/", 0, at)
    return found


def _depth(name: str) -> int:
    return name.count("/", 0, -1)


def _shallow_first(names: list[str]) -> list[str]:
    """Names by depth, and sorted where there are few: a long sort would block every other thread."""
    by_depth: dict[int, list[str]] = {}
    for name in names:
        by_depth.setdefault(_depth(name), []).append(name)
    for alike in by_depth.values():
        if len(alike) <= _SORTED:
            alike.sort()
    return [name for depth in sorted(by_depth) for name in by_depth[depth]]


def _can_be_typed(name: str) -> bool:
    """Whether the editor shows it unchanged, and it can be quoted if it has spaces."""
    plain = name.isprintable() or clean_line(name) == name
    return plain and not ('"' in name and any(character.isspace() for character in name))


def _is_in_last_part(query: str, name: str) -> bool:
    return name.rfind(query) > name.rfind("/", 0, -1)


def _order(query: str, name: str) -> tuple[int, int, int, str]:
    """Names whose last part matches come before those that match as a whole; of a typed folder, its direct entries come
    first."""
    if query.endswith("/") and name.startswith(query):
        return (0, _depth(name), 0, name)
    last = name[name.rfind("/", 0, -1) + 1 :]
    if "/" not in query and (match := fuzzy_match(query, last)) is not None:
        return (0, -match[0], _depth(name), name)
    match = fuzzy_match(query, name)
    return (1, 0 if match is None else -match[0], _depth(name), name)
