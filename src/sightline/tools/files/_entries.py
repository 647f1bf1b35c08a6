"""The `paths` of search and find: one entry or several, joined by mistake or not, each a place and perhaps a glob.

Rules:

- What exists as it is written is meant, whatever characters it holds.
- An entry with commas or semicolons stands for its parts when at least one of them exists, one with spaces when all do.
- A glob whose first part already is one looks in every folder of the workspace: `*.py` is `**/*.py`.
- Each part costs a look at the disk, on the event loop: so there is a bound to how many there may be.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.files._globs import has_glob
from sightline.tools.files._paths import display, resolve, shown, unquote_path
from sightline.tools.files._selectors import split_selector

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Begins only where a word begins: a long word without an address in it would be read anew from each of its letters.
_URL_WITHIN = re.compile(r"(?<![A-Za-z0-9+.-])[0-9+.-]*+[A-Za-z][A-Za-z0-9+.-]*+://")
_PAIRS = {"{": "}", "[": "]"}
MOST_ENTRIES = 1000


class EntryDestination(msgspec.Struct, frozen=True):
    """Where an entry leads: a file or folder, and which of the files below are meant (empty: all)."""

    entry: str
    path: Path
    glob: str = ""


def place_of(entry: str, cwd: Path) -> EntryDestination:
    path = resolve(entry, cwd)
    if not has_glob(entry) or os.path.lexists(path):
        return EntryDestination(entry, path)
    base, glob = _split_glob(entry, cwd)
    if not glob:
        return EntryDestination(entry, path)
    # The root is the root here, not the workspace: `/*` names it.
    return EntryDestination(entry, resolve(base, cwd) if base.strip("/") else Path("/"), glob)


def _split_glob(entry: str, cwd: Path) -> tuple[str, str]:
    """The part before the first segment that is a glob and not the name of a folder, and the rest."""
    segments = entry.split("/")
    names = (n for n, part in enumerate(segments) if has_glob(part) and not _is_folder(segments[: n + 1], cwd))
    first = next(names, len(segments))
    glob = "/".join(segments[first:])
    if first == 0:
        return ".", glob if glob.startswith("**/") else f"**/{glob}"
    return "/".join(segments[:first]) or "/", glob


def _is_folder(segments: list[str], cwd: Path) -> bool:
    return os.path.isdir(resolve("/".join(segments), cwd))


def is_url(entry: str) -> bool:
    """Whether it begins like an address. `file://` is only another way to write a path."""
    return _URL.match(entry) is not None and not entry.lower().startswith("file://")


def shown_as(path: Path, cwd: Path, addresses: Mapping[Path, str]) -> str:
    """A path as it is displayed, or by the address that it, or a folder above it, was named with."""
    for named, address in addresses.items():
        if path.is_relative_to(named):
            inside = shown(path.relative_to(named).as_posix())
            return address if inside == "." else f"{address}{'' if address.endswith('/') else '/'}{inside}"
    return display(path, cwd)


def expand(paths: str | list[str], cwd: Path, exists: Callable[[str], bool], *, mistake: str) -> list[str]:
    """The entries meant, each without quotes. `mistake` is the error for an empty one."""
    entries = [unquote_path(entry) for entry in ([paths] if isinstance(paths, str) else paths)]
    if not entries or not all(entries):
        raise ToolError(mistake)
    _check_number(entries)
    return [part for entry in entries for part in _parts(entry, cwd, exists)]


def _parts(entry: str, cwd: Path, exists: Callable[[str], bool]) -> list[str]:
    if _is_there(entry, cwd) or (has_url(entry) and not re.search(r"[,;\s]", entry)):
        return [entry]
    listed = _split(entry, ",;")
    if len(listed) > 1:
        found = [exists(part) for part in listed]
        # A comma may be part of an address; only when every part stands for something it was a separator.
        if any(found) if not has_url(entry) else all(found):
            return [word for part in listed for word in _words(part, cwd, exists)]
    return _words(entry, cwd, exists)


def _words(entry: str, cwd: Path, exists: Callable[[str], bool]) -> list[str]:
    words = _split(entry, " \t\n")
    return words if len(words) > 1 and not _is_there(entry, cwd) and all(map(exists, words)) else [entry]


def has_url(entry: str) -> bool:
    return _URL_WITHIN.search(entry) is not None


def _is_there(entry: str, cwd: Path) -> bool:
    if os.path.lexists(resolve(entry, cwd)):
        return True
    try:
        bare, _ = split_selector(entry)
    except ToolError:  # wrong numbers: reported later, when the lines are read
        return False
    return bare != entry and os.path.lexists(resolve(bare, cwd))


def place_exists(entry: str, cwd: Path) -> bool:
    """Whether the file or folder an entry starts from is there."""
    return bool(entry) and os.path.lexists(place_of(entry, cwd).path)


def _split(entry: str, delimiters: str) -> list[str]:
    """Cut at delimiters that are not inside braces or brackets."""
    parts, start = [], 0
    closing: list[str] = []
    for at, character in enumerate(entry):
        if closing and closing[-1] == character:
            closing.pop()
        elif character in _PAIRS and closing[-1:] != ["]"]:
            closing.append(_PAIRS[character])
        if character in delimiters and not closing:
            parts.append(entry[start:at])
            start = at + 1
    found = [clean for part in (*parts, entry[start:]) if (clean := unquote_path(part))]
    _check_number(found)
    return found


def _check_number(entries: list[str]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise ToolError(
            f"There are more than {MOST_ENTRIES:,} paths. Name fewer at a time, or a folder that they are in."
        )
