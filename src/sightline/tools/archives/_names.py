"""Paths that lead into an archive, and the names of the entries there."""

import re

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.files._paths import LONGEST_PATH
from sightline.tools.files._selectors import Selector, split_selector

_SUFFIX = re.compile(r"\.(?:tar\.gz|tgz|tar|zip)(?=:|$)", re.IGNORECASE)
_DEPTH = 256  # folders above an entry; no file system takes many more
_DRIVE = re.compile(r"[A-Za-z]:(?:/|$)")


class ArchivePath(msgspec.Struct, frozen=True):
    """One way to read a path: an archive, what is meant in it (empty: its top), and which lines of that."""

    archive: str
    inner: str
    selector: Selector | None = None


def places(path: str) -> list[tuple[str, str]]:
    """Every way to cut a path after an archive's suffix, the longest archive path first."""
    cuts = [match.end() for match in _SUFFIX.finditer(path, 0, LONGEST_PATH)]
    return [(path[:cut], path[cut + 1 :]) for cut in reversed(cuts)]


def candidates(path: str) -> list[ArchivePath]:
    """What a path to read may mean, the longest archive path first. The one whose archive is a file is meant."""
    if not _SUFFIX.search(path):
        return []
    bare, selector = split_selector(path)
    return [ArchivePath(archive, inner, selector) for archive, inner in places(bare)]


def normalize_entry(name: str) -> str:
    """`a/b` for `./a//b/` and `a\\b`; ToolError for a name that leads out of the archive."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ToolError(f"Archive path cannot contain '..': {name}")
    if "\0" in name:
        raise ToolError("Archive path cannot contain a NUL character.")
    return "/".join(parts)


def safe_name(name: str) -> str | None:
    """An entry's name as it is found by; None for one that would land outside the folder it is unpacked in."""
    name = name.replace("\\", "/")
    parts = name.split("/")
    if name.startswith("/") or _DRIVE.match(name) or ".." in parts or "\0" in name or len(parts) > _DEPTH:
        return None
    return normalize_entry(name)
