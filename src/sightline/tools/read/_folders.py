"""A folder as a tree: two levels, what changed last first, with sizes and ages.

Links are named with where they lead and never followed, so a loop ends where it begins.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sightline.handles import open_folder
from sightline.tools._tool import ToolError
from sightline.tools._truncation import human_size
from sightline.tools.files._paths import reason_of, shown

CHILDREN = 12  # shown of a folder below the top
LOOKED_AT = 20_000  # entries of one folder
LOOKED_AT_IN_ALL = 100_000  # then folders are named and not opened
EMPTY = "(empty directory)"
_NOT_OPENED = frozenset({".git", "node_modules", "__pycache__"})  # large, and hardly ever of interest


class FolderTree(msgspec.Struct, frozen=True):
    lines: list[str]
    limited: bool  # some folder has more than is shown


class _Entry(msgspec.Struct, frozen=True):
    name: str
    is_folder: bool
    changed: float
    note: str


def tree(folder: Path, now: float) -> FolderTree:
    """Blocking. ToolError when the folder itself cannot be read; the error of one below stands in its place."""
    try:
        opened = open_folder(folder)
        try:
            return _tree(opened, now)
        finally:
            os.close(opened)
    except OSError as error:
        raise ToolError(f"Cannot list '{folder}': {reason_of(error)}.") from None


def _tree(opened: int, now: float) -> FolderTree:
    entries, more = _children(opened)
    lines: list[str] = []
    limited, cut = more > 0, False
    looked_at = len(entries)
    for entry in entries:
        lines.append(_line(entry, now, 0))
        if not entry.is_folder or entry.name in _NOT_OPENED:
            continue
        if looked_at < LOOKED_AT_IN_ALL:
            below, count, cut = _below(entry.name, opened, now)
            lines += below
            looked_at += count
        limited = limited or cut or looked_at >= LOOKED_AT_IN_ALL
    if more:
        lines.append(f"… {more} more not looked at")
    return FolderTree(lines or [EMPTY], limited)


def _below(name: str, above: int, now: float) -> tuple[list[str], int, bool]:
    """Its rows, how many entries were looked at for them, and whether there are more."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        try:
            entries, more = _children(opened)
        finally:
            os.close(opened)
    except OSError as error:
        return [f"  ({reason_of(error)})"], 0, False
    looked_at = len(entries)
    more += max(0, len(entries) - CHILDREN)
    lines = [_line(entry, now, 1) for entry in entries[:CHILDREN]]
    return [*lines, *([f"  … {more} more"] if more else [])], looked_at, more > 0


def _children(opened: int) -> tuple[list[_Entry], int]:
    """What changed last first, and how many more there are."""
    found: list[_Entry] = []
    more = 0
    with os.scandir(opened) as entries:
        for entry in entries:
            if len(found) < LOOKED_AT:
                found.append(_entry(entry, opened))
            else:
                more += 1
    return sorted(found, key=lambda entry: (-entry.changed, entry.name)), more


def _entry(entry: os.DirEntry[str], folder: int) -> _Entry:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return _Entry(entry.name, False, 0.0, "?")
    if stat.S_ISDIR(facts.st_mode):
        return _Entry(entry.name, True, facts.st_mtime, "")
    return _Entry(entry.name, False, facts.st_mtime, ", ".join(_notes(entry, facts, folder)))


def _notes(entry: os.DirEntry[str], facts: os.stat_result, folder: int) -> Iterator[str]:
    if stat.S_ISLNK(facts.st_mode):
        try:
            yield f"link to {shown(os.readlink(entry.name, dir_fd=folder))}"
        except OSError:
            yield "link"
    elif stat.S_ISREG(facts.st_mode):
        yield human_size(facts.st_size)
    else:
        yield "not a regular file"


def _line(entry: _Entry, now: float, depth: int) -> str:
    notes = ", ".join(filter(None, [entry.note, age(now - entry.changed)]))
    return f"{'  ' * depth}{shown(entry.name)}{'/' if entry.is_folder else ''} ({notes})"


def age(seconds: float) -> str:
    """`just now`, `5m ago`, `3h ago`, `2d ago`, `6w ago`, `2y ago`."""
    day = 86_400
    units = (("m", 60, 3600), ("h", 3600, day), ("d", day, 14 * day), ("w", 7 * day, 365 * day))
    unit, length = next(((unit, length) for unit, length, until in units if seconds < until), ("y", 365 * day))
    return "just now" if seconds < 60 else f"{int(seconds // length)}{unit} ago"
