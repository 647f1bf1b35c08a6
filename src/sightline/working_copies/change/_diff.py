"""A unified diff as git prints it, read file by file: what it is about, its hunks, and the lines around a place.

Rules:

- A line of a hunk begins with a sign. So nothing that stands in a file can be taken for what git writes about it, once
  no character but the newline ends a line.
- A file's name is in the lines before its hunks: quoted, where it has anything that is not plain.
"""

import re
from collections.abc import Iterator
from functools import cached_property

import msgspec

_START = "diff --git "
_NOTHING = "/dev/null"
_hunk = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@").match
_escape = re.compile(r"\\([abtnvfr\"\\]|[0-7]{3})")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


class DiffHunk(msgspec.Struct, frozen=True):
    """Its lines with their signs, and the numbers of the first one."""

    old: int
    new: int
    lines: tuple[str, ...]

    @property
    def old_end(self) -> int:
        """The number of the line behind it, as it was."""
        return self.old + sum(line[:1] in (" ", "-") for line in self.lines)

    @property
    def new_end(self) -> int:
        return self.new + sum(line[:1] in (" ", "+") for line in self.lines)


class FileDiff:
    """What changed in one file. `text` is all of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.removesuffix("\n").split("\n")

    @cached_property
    def paths(self) -> tuple[str, str]:
        """Before and after; empty where there is none."""
        found: dict[str, str] = {}
        for line in self._head:
            for start, side, prefix in _NAMES:
                if line.startswith(start):
                    found.setdefault(side, _name(line.removeprefix(start), prefix))
        old, new = found.get("old"), found.get("new")
        if old is None or new is None:  # a mode, a binary file: only the first line has them
            both = _name_twice(self._lines[0].removeprefix(_START))
            old, new = both if old is None else old, both if new is None else new
        is_new, is_gone = (self._has(words) for words in ("new file mode", "deleted file mode"))
        return "" if is_new else old, "" if is_gone else new

    @property
    def path(self) -> str:
        return self.paths[1] or self.paths[0]

    @cached_property
    def hunks(self) -> tuple[DiffHunk, ...]:
        return tuple(_hunks(self._lines[len(self._head) :]))

    @property
    def is_empty(self) -> bool:
        """Only its first line: it was touched, and nothing of it changed."""
        return len(self._lines) == 1

    @cached_property
    def _head(self) -> list[str]:
        at = next((at for at, line in enumerate(self._lines) if line.startswith("@@")), len(self._lines))
        return self._lines[:at]

    def _has(self, words: str) -> bool:
        return any(line.startswith(words) for line in self._head)


_NAMES = (
    ("rename from ", "old", ""),
    ("rename to ", "new", ""),
    ("copy from ", "old", ""),
    ("copy to ", "new", ""),
    ("--- ", "old", "a/"),
    ("+++ ", "new", "b/"),
)


def files_of(diff: str) -> list[FileDiff]:
    """In its order. What stands before the first file is left out."""
    starts = [match.start() for match in re.finditer(f"^{_START}", diff, re.MULTILINE)]
    ends = [*starts[1:], len(diff)]
    return [FileDiff(diff[start:end]) for start, end in zip(starts, ends, strict=False)]


def _hunks(lines: list[str]) -> Iterator[DiffHunk]:
    at = 0
    while at < len(lines):
        found = _hunk(lines[at])
        at += 1
        if found is None:
            continue
        old_left, new_left = int(found[2] or 1), int(found[4] or 1)
        inside: list[str] = []
        while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at].startswith("\\")):
            sign = lines[at][:1]
            old_left -= sign in (" ", "-")
            new_left -= sign in (" ", "+")
            inside.append(lines[at])
            at += 1
        # Of a side without lines, git gives the number of the line before.
        old = int(found[1]) + (found[2] == "0")
        new = int(found[3]) + (found[4] == "0")
        yield DiffHunk(old, new, tuple(inside))


def _name(text: str, prefix: str) -> str:
    name = text.partition("\t")[0]
    name = _unquoted(name) if name.startswith('"') else name
    return "" if name == _NOTHING else name.removeprefix(prefix)


def _name_twice(text: str) -> str:
    """Of `a/NAME b/NAME`, where both are the same."""
    if text.startswith('"'):
        return _unquoted(text[: len(text) // 2]).removeprefix("a/")
    return text[: len(text) // 2].removeprefix("a/")


def _unquoted(name: str) -> str:
    data = bytearray()
    at, inside = 0, name.removeprefix('"').removesuffix('"')
    for match in _escape.finditer(inside):
        data += inside[at : match.start()].encode("utf-8", "replace")
        data.append(_ESCAPES[match[1]] if match[1] in _ESCAPES else int(match[1], 8) & 0xFF)
        at = match.end()
    return bytes(data + inside[at:].encode("utf-8", "replace")).decode(errors="replace")
