"""The files of a folder without ripgrep: the same files, in the order of their paths, more slowly.

Ignore files are read as git reads them: `.gitignore` of the folder, of those below and of those above up to the root
of the repository; `.ignore` files count too, and more. Links are not followed and not listed; `.git` is left out.
Each folder is opened from the one above it, so that none is left for a link that is put in its place.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sightline.handles import open_folder, read_bytes
from sightline.tools.files._globs import expression
from sightline.tools.files._paths import LONGEST_PATH

_IGNORE_FILES = (".gitignore", ".ignore")
_IGNORE_BYTES = 1024 * 1024


class _Rule(msgspec.Struct, frozen=True):
    pattern: re.Pattern[str]
    negated: bool
    folders_only: bool


class _Rules(msgspec.Struct, frozen=True):
    """Those of one file."""

    rules: list[_Rule]
    depth: int  # characters of a path before the part they are about
    of_git: bool

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True: ignored. False: not. None: no rule matches."""
        inside = path[self.depth :]
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(inside):
                return not rule.negated
        return None


class _Walker(msgspec.Struct, frozen=True):
    hidden: bool
    ignoring: bool
    within_repository: bool


def walk(folder: str | Path, *, hidden: bool = True, ignoring: bool = True) -> Iterator[str]:
    """Paths of files as seen from the folder."""
    top = os.path.abspath(folder)
    above = _rules_above(top) if ignoring else []
    walker = _Walker(hidden=hidden, ignoring=ignoring, within_repository=in_repository(top))
    try:
        opened = open_folder(top)
    except OSError:
        return
    for path in _below(opened, top, above, walker):
        yield path[len(top.rstrip(os.sep)) + 1 :]


def in_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git")) or (
        os.path.dirname(folder) != folder and in_repository(os.path.dirname(folder))
    )


def _below(opened: int, folder: str, above: list[_Rules], walker: _Walker) -> Iterator[str]:
    """Closes what it is given."""
    try:
        entries = _entries(opened)
        if walker.within_repository and any(entry.name == ".git" for entry in entries):
            above = [rules for rules in above if not rules.of_git]  # another repository begins
        rules = [*above, *_rules_of(folder, opened)] if walker.ignoring else above
        for entry in entries:
            if entry.name == ".git" or (not walker.hidden and entry.name.startswith(".")):
                continue
            path, is_folder = os.path.join(folder, entry.name), _is_folder(entry)
            if is_folder is None or _ignored(path, rules, is_folder=is_folder):
                continue
            if not is_folder:
                yield path
            elif (below := _opened(entry.name, opened)) is not None:
                yield from _below(below, path, rules, walker)
    finally:
        os.close(opened)


def _opened(name: str, above: int) -> int | None:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except OSError:
        return None


def _entries(opened: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(opened) as entries:
            return sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool | None:
    """None: neither a folder nor a plain file."""
    try:
        return True if entry.is_dir(follow_symlinks=False) else False if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None


def _ignored(path: str, rules: list[_Rules], *, is_folder: bool) -> bool:
    for one in reversed(rules):
        verdict = one.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _rules_above(folder: str) -> list[_Rules]:
    found: list[_Rules] = []
    while not os.path.exists(os.path.join(folder, ".git")) and (parent := os.path.dirname(folder)) != folder:
        folder = parent
        found = [*_rules_of(folder), *found]
    return found


def _rules_of(folder: str, opened: int | None = None) -> list[_Rules]:
    """`opened`: the folder, where it is open."""
    found = []
    for name in _IGNORE_FILES:
        text = _text(name if opened is not None else os.path.join(folder, name), opened)
        rules = [rule for line in text.split("\n") if (rule := _rule(line.rstrip("\r"))) is not None]
        if rules:
            found.append(_Rules(rules, len(folder.rstrip(os.sep)) + 1, name == ".gitignore"))
    return found


def _text(path: str, folder: int | None) -> str:
    """Of a regular file, as far as it is one; never waits."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return read_bytes(descriptor, _IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _rule(line: str) -> _Rule | None:
    if len(line) > LONGEST_PATH:
        return None
    bare = line.rstrip(" ")
    line = f"{bare} " if bare != line and bare.endswith("\\") else bare
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[1:] if negated else line
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    glob = line.lstrip("/") if anchored else f"**/{line}"
    return _Rule(re.compile(expression(glob, braces=False), re.DOTALL), negated, folders_only) if line else None
