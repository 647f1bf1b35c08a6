"""The files of a folder without ripgrep: the same files, in the order of their paths, more slowly.

Ignore files are read as git reads them: `.gitignore` of the folder, of those below and of those above up to the root
of the repository; `.ignore` files count too, and more. Links are not followed and not listed; `.git` is left out.
"""

import os
import re
from collections.abc import Iterator

import msgspec

from sightline.tools._globs import expression

_IGNORE_FILES = (".gitignore", ".ignore")


class _Rule(msgspec.Struct, frozen=True):
    pattern: re.Pattern[str]
    keeps: bool
    folders_only: bool


class _Rules(msgspec.Struct, frozen=True):
    """Those of one file."""

    rules: list[_Rule]
    depth: int  # characters of a path before the part they are about
    of_git: bool

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True: ignored. False: kept. None: not mentioned."""
        inside = path[self.depth :]
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(inside):
                return not rule.keeps
        return None


class _Walker(msgspec.Struct, frozen=True):
    hidden: bool
    ignoring: bool
    within_repository: bool


def walk(folder: str, *, hidden: bool = True, ignoring: bool = True) -> Iterator[str]:
    """Paths of files as seen from the folder."""
    top = os.path.abspath(folder)
    above = _rules_above(top) if ignoring else []
    walker = _Walker(hidden=hidden, ignoring=ignoring, within_repository=in_repository(top))
    for path in _below(top, above, walker):
        yield path[len(top.rstrip(os.sep)) + 1 :]


def in_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git")) or (
        os.path.dirname(folder) != folder and in_repository(os.path.dirname(folder))
    )


def _below(folder: str, above: list[_Rules], walker: _Walker) -> Iterator[str]:
    entries = _entries(folder)
    if walker.within_repository and any(entry.name == ".git" for entry in entries):
        above = [rules for rules in above if not rules.of_git]  # another repository begins
    rules = [*above, *_rules_of(folder)] if walker.ignoring else above
    for entry in entries:
        if entry.name == ".git" or (not walker.hidden and entry.name.startswith(".")):
            continue
        is_folder = _is_folder(entry)
        if is_folder is None or _ignored(entry.path, rules, is_folder=is_folder):
            continue
        if is_folder:
            yield from _below(entry.path, rules, walker)
        else:
            yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
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


def _rules_of(folder: str) -> list[_Rules]:
    found = []
    for name in _IGNORE_FILES:
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as file:
                rules = [rule for line in file if (rule := _rule(line.rstrip("\r\n"))) is not None]
        except OSError:
            continue
        if rules:
            found.append(_Rules(rules, len(folder.rstrip(os.sep)) + 1, name == ".gitignore"))
    return found


def _rule(line: str) -> _Rule | None:
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line[1:] if keeps else line
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    glob = line.lstrip("/") if anchored else f"**/{line}"
    return _Rule(re.compile(expression(glob, braces=False), re.DOTALL), keeps, folders_only) if line else None
