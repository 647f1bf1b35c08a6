"""A unified diff, read: files, hunks and lines with their numbers; and which words of a changed line changed.

Diffs come from tools and from models. The numbers of a hunk are believed where they are given, so that a removed line
`-- x` is not taken for a file's header; without them, or without any header at all, lines are what they begin with.
What is no line of a diff is shown as it is. The header of a hunk is a mark where lines are left out: its numbers are
those of its lines, and its other text is shown.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from sightline.text import common_start

Kind = Literal["file", "hunk", "context", "added", "removed", "note"]

LEFT_OUT = "⋮"

_hunk = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?").match
_git = re.compile(r"diff --git a/(.+) b/(.+)").fullmatch
_words = re.compile(r"\w+|\s+|[^\w\s]").findall
_REDUNDANT = ("index ", "new file mode", "deleted file mode", "similarity index", "rename from", "rename to")

_LONGEST = 2000  # characters of a line whose words are compared
_TOKENS = 4096  # pairs of words compared in one line
_AT_MOST = 400_000  # and in one diff
_ALIKE = 0.35  # lines with less in common are shown as changed altogether


class DiffLine(NamedTuple):
    """One line to show; `number` is its number in the file it is in. `path` and `is_renamed`: of a file's header."""

    kind: Kind
    text: str
    number: int | None = None
    path: str = ""  # after the change
    is_renamed: bool = False


def read_diff(text: str) -> list[DiffLine]:
    """The lines of a diff, with one line for each file's header."""
    reader = _Reader()
    lines = [*text.removesuffix("\n").split("\n"), ""] if text else []
    for line, following in pairwise(lines):
        reader.read(line, following)
    reader.name_file(None)
    return reader.lines


class _Reader:
    """Where in a diff we are."""

    def __init__(self) -> None:
        self.lines: list[DiffLine] = []
        self._file: DiffLine | None = None  # to be named before the next line of its own
        self._old = self._new = 0
        self._old_left = self._new_left = 0
        self._numbered = False
        self._skip = False

    def read(self, line: str, following: str) -> None:
        if self._skip:
            self._skip = False
        elif not self._header(line, following):
            self._content(line)

    @property
    def _inside(self) -> bool:
        """Whether the hunk's header announced more lines than came."""
        return self._old_left > 0 or self._new_left > 0

    def name_file(self, header: DiffLine | None) -> None:
        """A file begins: one that had no line of its own (a rename) is named nevertheless."""
        if self._file is not None and self._file.text:
            self.lines.append(self._file)
        self._file = header

    def _header(self, line: str, following: str) -> bool:
        if (names := _git(line)) is not None:
            self._old_left = self._new_left = 0
            self.name_file(_file_header(names[1], names[2]))
        elif not self._inside and line.startswith("--- ") and following.startswith("+++ "):
            self._file, self._skip = _file_header(_path(line), _path(following)), True
        elif line.startswith("@@"):
            self._begin_hunk(line)
        elif not line.startswith(_REDUNDANT):
            return False
        return True

    def _begin_hunk(self, line: str) -> None:
        self.name_file(None)
        self._old_left = self._new_left = 0
        found = _hunk(line)
        self._numbered = found is not None
        if found is not None:
            self._old, self._new = int(found[1]), int(found[3])
            self._old_left, self._new_left = int(found[2] or 1), int(found[4] or 1)
            is_first = not self.lines or self.lines[-1].kind == "file"
            line = f"{LEFT_OUT} {line[found.end() :]}".rstrip()
            if line == LEFT_OUT and is_first:
                return
        self.lines.append(DiffLine("hunk", line))

    def _content(self, line: str) -> None:
        self.name_file(None)
        mark = line[:1]
        if mark not in ("+", "-", " ") and (mark or not self._inside):
            self.lines.append(DiffLine("note", line))
            return
        kind: Kind = "added" if mark == "+" else "removed" if mark == "-" else "context"
        number = self._old if kind == "removed" else self._new
        self.lines.append(DiffLine(kind, line[1:], number if self._numbered else None))
        if kind != "added":
            self._old += 1
            self._old_left -= 1
        if kind != "removed":
            self._new += 1
            self._new_left -= 1


def _path(line: str) -> str:
    """The path in `--- a/path<tab>date`."""
    path = line[4:].partition("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def _file_header(old: str, new: str) -> DiffLine:
    if old == "/dev/null":
        return DiffLine("file", f"{new} (new)", path=new)
    if new == "/dev/null":
        return DiffLine("file", f"{old} (deleted)", path=new)
    return DiffLine("file", new if old == new else f"{old} → {new}", path=new, is_renamed=old != new)


def replacements(lines: Sequence[DiffLine]) -> Iterator[tuple[int, int]]:
    """Each removed line with the added line that replaces it, by their places: where they follow each other."""
    at = 0
    while at < len(lines):
        removed = at
        while at < len(lines) and lines[at].kind == "removed":
            at += 1
        added = at
        while removed < added and at < len(lines) and lines[at].kind == "added":
            at += 1
        yield from zip(range(removed, added), range(added, at), strict=False)
        at += at == removed


Ranges = list[tuple[int, int]]


class WordDiff:
    """Compares the words of lines that replace each other, with a bound on the work for one diff."""

    def __init__(self) -> None:
        self._left = _AT_MOST

    def changed(self, old: str, new: str) -> tuple[Ranges, Ranges]:
        """Which parts of both lines changed; nothing where they have little in common, or are too long to compare."""
        if len(old) > _LONGEST or len(new) > _LONGEST:
            return [], []
        before, after = _words(old), _words(new)
        start = common_start(before, after)
        end = common_start(before[start:][::-1], after[start:][::-1])
        middle = before[start : len(before) - end], after[start : len(after) - end]
        base = len("".join(before[:start]))
        removed, added = self._middle(*middle)
        alike = max(len(old), len(new)) - max(_size(removed), _size(added))
        if alike < _ALIKE * max(len(old), len(new)):
            return [], []
        return [(base + a, base + b) for a, b in removed], [(base + a, base + b) for a, b in added]

    def _middle(self, old: list[str], new: list[str]) -> tuple[Ranges, Ranges]:
        work = len(old) * len(new)
        if not work or work > _TOKENS or work > self._left:
            return [(0, len("".join(old)))] if old else [], [(0, len("".join(new)))] if new else []
        self._left -= work
        from difflib import SequenceMatcher  # only a diff with changed lines needs it

        removed: Ranges = []
        added: Ranges = []
        for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if what != "equal":
                _join(removed, len("".join(old[:a])), len("".join(old[a:b])))
                _join(added, len("".join(new[:c])), len("".join(new[c:d])))
        return removed, added


def _join(ranges: Ranges, start: int, size: int) -> None:
    """Add a range; one a single character behind the last makes it longer instead of a new one."""
    if not size:
        return
    if ranges and start - ranges[-1][1] <= 1:
        ranges[-1] = (ranges[-1][0], start + size)
    else:
        ranges.append((start, start + size))


def _size(ranges: Ranges) -> int:
    return sum(end - start for start, end in ranges)
