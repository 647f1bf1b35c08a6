"""Searching without ripgrep: a program of its own with Python's regular expressions, on one core.

It is a process because a pattern can take for ever and nothing but an end of the process stops it then. It runs in the
folder it searches and writes what ripgrep would: `PATH NUL NUMBER (":" | "-") TEXT newline`. An invalid pattern is
reported on stderr, with exit code 2.

A file is first searched as one text, or for the letters of a pattern that is nothing else, which tells most files apart
quickly; only one that has a match is searched line by line, so that no match crosses lines that must not.
"""

import os
import re
import sys
from collections.abc import Iterator

import msgspec

from sightline._working_folder import python_words
from sightline.handles import open_exactly, read_bytes
from sightline.tools.files._globs import Globs
from sightline.tools.files._walk import walk
from sightline.tools.search._query import SearchPattern

FILE_BYTES = 256 * 1024 * 1024  # a larger one is not searched
LINE_BYTES = 2048 + 1  # shown of a line; it has at most a quarter of that in characters
_SYNTAX = re.compile(r"[\\.^$*+?()\[\]{}|]")
# Where a text begins and ends is not where its lines do: such a pattern is tried on the lines at once.
_TEXT_EDGES = re.compile(r"\\[AzZ]")


class SearchTask(SearchPattern, frozen=True, kw_only=True):
    """What to search for, below the folder or in the files that are handed over. `at_most`: matches of one file."""

    at_most: int | None
    globs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def command(task: SearchTask) -> list[str]:
    return [*python_words(__name__), msgspec.json.encode(task).decode()]


def main() -> int:
    task = msgspec.json.decode(sys.argv[1], type=SearchTask)
    try:
        pattern = _compiled(task)
    except (re.error, OverflowError, RecursionError) as error:
        sys.stderr.write(f"error: {error} (there is no ripgrep here: patterns are Python's)\n")
        return 2
    literal = b"" if task.ignore_case or _SYNTAX.search(task.pattern) else task.pattern.encode("utf-8", "replace")
    try:
        for name, descriptor in _opened(task):
            try:
                text = _text(descriptor, literal)
            finally:
                os.close(descriptor)
            if text is not None and (rows := _rows(text, task, pattern)):
                sys.stdout.buffer.write(b"".join(os.fsencode(name) + b"\0" + row for row in rows))
                sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)  # enough was read
    return 0


def _compiled(task: SearchTask) -> re.Pattern[str]:
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", task.pattern).replace(r"\z", r"\Z")
    return re.compile(pattern, re.MULTILINE | (re.IGNORECASE if task.ignore_case else 0))


def _opened(task: SearchTask) -> Iterator[tuple[str, int]]:
    """Each file and its descriptor. Those that were handed over are open already; below the folder no link counts."""
    for path in task.files:
        yield path, os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    if task.files:
        return
    folder = os.getcwd()
    is_meant = Globs(("", glob) for glob in task.globs) if task.globs else None
    for name in walk(folder, ignoring=task.gitignore):
        if is_meant is None or is_meant(name):
            try:
                yield name, open_exactly(os.path.join(folder, name))
            except OSError:
                continue


def _text(descriptor: int, literal: bytes) -> str | None:
    """None when it cannot be read, is not text, or does not contain the letters a pattern consists of."""
    try:
        data = read_bytes(descriptor, FILE_BYTES + 1)
    except OSError:
        return None
    if len(data) > FILE_BYTES:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if literal not in data:
        return None
    return None if b"\0" in data else data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _rows(text: str, task: SearchTask, pattern: re.Pattern[str]) -> list[bytes]:
    if not _TEXT_EDGES.search(pattern.pattern) and not pattern.search(text):
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if task.multiline:
        matched = _crossing(text, pattern)
    else:
        matched = [number for number, line in enumerate(lines) if pattern.search(line)]
    numbers = set(matched[: task.at_most])
    near = sorted({near for n in numbers for near in range(n - task.before, n + task.after + 1)})
    return [_row(n, lines[n], is_match=n in numbers) for n in near if 0 <= n < len(lines)]


def _row(number: int, line: str, *, is_match: bool) -> bytes:
    return b"%d%s%s\n" % (number + 1, b":" if is_match else b"-", line[:LINE_BYTES].encode("utf-8", "replace"))


def _crossing(text: str, pattern: re.Pattern[str]) -> list[int]:
    """The lines, counted from 0, that a match of several lines covers."""
    found: list[int] = []
    for match in pattern.finditer(text):
        first = text.count("\n", 0, match.start())
        last = first + match[0].removesuffix("\n").count("\n")
        found += [line for line in range(first, last + 1) if not found or line > found[-1]]
    return found


if __name__ == "__main__":
    sys.exit(main())
