"""Searching with ripgrep: its arguments, its records, and when enough was found.

Rules:

- Its plain output is read, not its JSON: that costs a third of the time, and long lines come shortened. A record is
  `PATH NUL NUMBER (":" match | "-" surroundings) TEXT newline`, which no file name and no text can imitate.
- It searches on all cores, in no order, and to the end: pages are in the order of paths. When there are so many
  matches that this would be a waste, it is started anew in the order of paths and stopped once the page is full.
- Files are read, not mapped: one that shrinks while it is searched must not take ripgrep down.
- Each folder that is named is searched by a run of its own, in that folder, held open; files that are named are handed
  over open. One run follows the other in the order of paths.
- In a folder ripgrep goes by names, and a link that is put in place of a folder while it looks leads it elsewhere. What
  is shown of a file is therefore compared with the file, opened without any link; what is not in it is left out.
- It has a deadline. When that passes, or ripgrep is ended or fails, what was found so far is reported as a part.
- Without ripgrep a program of ours stands in for it (`_plain_engine`), which writes the same records.
"""

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

import msgspec

from sightline.handles import Swapped, judged, open_below, open_regular, ours, path_of, real_path
from sightline.tools._tool import ToolError
from sightline.tools.files import _ripgrep
from sightline.tools.files._globs import Globs
from sightline.tools.files._paths import reason_of, shown
from sightline.tools.files._ripgrep import RunningRipgrep, ignoring, rules_for, running
from sightline.tools.files._selectors import LineRange
from sightline.tools.search._query import (
    LINE_CHARACTERS,
    MATCHES_IN_ANY_ORDER,
    MULTILINE_BYTES,
    BadPattern,
    FileMatches,
    MatchLine,
    SearchPage,
    SearchQuery,
    SearchTarget,
)

SECONDS = 30.0
_LINE_BYTES = 64 * 1024
_RECORD_BYTES = 1024 * 1024  # a longer one is none
_FILES_AT_ONCE = 100  # handed over open

_RECORD = re.compile(rb"([^\0]*)\0([0-9]+)([:-])([^\n]*)\n")
# Written among the records of a file that is named, or whose beginning looked like text; not always.
_BINARY = re.compile(
    rb"[^\0]*?: (?:binary file matches|WARNING: stopped searching binary file after match) "
    rb'\(found "\\0" byte around offset [0-9]+\)\n'
)
_FORMAT = (
    "--null", "--line-number", "--with-filename", "--no-heading", "--no-context-separator", "--no-mmap",
    # In bytes: a longer line has more characters than are shown, and its beginning is enough.
    f"--max-columns={LINE_CHARACTERS * 4}", "--max-columns-preview",
)  # fmt: skip


class MatchCollector:
    """Collects the lines of one file after the other. `in_order`: files come in the order of their paths."""

    def __init__(self, query: SearchQuery, *, in_order: bool) -> None:
        self._query = query
        self._in_order = in_order
        self._files: dict[str, FileMatches] = {}
        self._ranges = {str(target.path): target.ranges for target in query.targets if target.ranges}
        self._matches = 0
        self._last = 0  # the number of the last line that matched
        self._current = FileMatches("")
        self._current_ranges: tuple[LineRange, ...] = ()
        self._done: set[str] = set()  # a file that two targets lead to is found twice
        self.overflowed = False  # too many matches for a search in no order
        self.satisfied = False  # nothing that comes later can be shown
        self.problem = ""  # why not everything was searched
        self.unreadable: list[str] = []  # of what was named, with the reason

    def add(self, path: str, number: int, matched: bool, raw: bytes) -> None:
        if path != self._current.path:
            self._next_file(path)
        if path in self._done:
            return
        if self._current_ranges:
            if not self._near(number):
                return
            matched = matched and any(number in range_ for range_ in self._current_ranges)
        if self._current.more and number > self._last + self._query.after:
            self.satisfied = self._query.single
            return
        if matched and self._current.matches == self._query.per_file:
            self._current.more = True
            matched = False  # still worth showing, as what surrounds the match before it
        if matched:
            self._count_match(path, number)
        self._current.lines.append(MatchLine(number, matched, raw))

    def _count_match(self, path: str, number: int) -> None:
        self._last = number
        self._current.matches += 1
        self._matches += 1
        if self._current.matches == 1:
            self._files[path] = self._current
            self.satisfied = self._in_order and len(self._files) > self._query.enough
        self.overflowed = not self._in_order and self._matches > MATCHES_IN_ANY_ORDER

    def _next_file(self, path: str) -> None:
        self._done.add(self._current.path)
        if self._in_order and len(self._files) <= self._query.first:
            self._current.lines = []  # of an earlier page
        if self._query.is_denied is not None and self._query.is_denied(shown(real_path(path))):
            self._done.add(path)
        self._current = FileMatches(path, [])
        self._current_ranges = self._ranges.get(path, ())

    def _near(self, number: int) -> bool:
        """Whether a line is in a selected range or could surround a match there."""
        before, after = self._query.before, self._query.after
        last = self._current_ranges[-1].last
        if last is not None and number > last + after:
            self.satisfied = self._query.single
        return any(
            one.first - before <= number and (one.last is None or number <= one.last + after)
            for one in self._current_ranges
        )

    def found(self) -> SearchPage:
        """The page."""
        ordered = sorted(self._files.values(), key=lambda hits: path_order(hits.path))
        page = ordered[self._query.first : self._query.enough]
        for hits in page:
            hits.lines = _around_matches(hits.lines, self._query.before, self._query.after)
        return SearchPage(
            hits=page, more_files=len(ordered) > self._query.enough, problem=self.problem, unreadable=self.unreadable
        )


def path_order(path: str) -> list[bytes]:
    """Folder by folder, as ripgrep sorts."""
    return os.fsencode(path).split(b"/")


def _around_matches(lines: list[MatchLine], before: int, after: int) -> list[MatchLine]:
    """Without what surrounded only matches that are left out."""
    near = {n for line in lines if line.matched for n in range(line.number - before, line.number + after + 1)}
    return [line for line in lines if line.number in near]


class _Part(msgspec.Struct, frozen=True):
    """What one run searches: a folder, of it what the globs mean (none: everything), or files."""

    folder: Path
    globs: tuple[str, ...] = ()
    files: tuple[SearchTarget, ...] = ()


class _Scope(msgspec.Struct, frozen=True):
    """How the names in a run's records are read: those of files that were handed over, and those in the folder."""

    folder: Path
    files: dict[bytes, str]
    globs: Globs | None


async def search(query: SearchQuery) -> SearchPage:
    parts = _parts(query.targets)
    try:
        async with asyncio.timeout(SECONDS):
            collector = MatchCollector(query, in_order=query.single)
            await _search(query, parts, collector, in_order=query.single)
            if collector.overflowed:
                collector = MatchCollector(query, in_order=True)
                await _search(query, parts, collector, in_order=True)
    except TimeoutError:
        folders = [part.folder for part in parts if not part.files]
        why = await asyncio.to_thread(_ripgrep.why_slow, folders) if query.gitignore else ""
        collector.problem = f"the search took more than {SECONDS:.0f} seconds and was stopped{why and f': {why}'}"
    return await asyncio.to_thread(_confirmed, collector.found(), [part.folder for part in parts if not part.files])


def _confirmed(found: SearchPage, folders: list[Path]) -> SearchPage:
    """What can be seen without following a link. Blocking."""
    confirmed = [hits for hits in found.hits if _is_confirmed(hits, folders)]
    if len(confirmed) == len(found.hits):
        return found
    problem = found.problem or f"{len(found.hits) - len(confirmed)} files changed while they were searched"
    return msgspec.structs.replace(found, hits=confirmed, problem=problem)


def _is_confirmed(hits: FileMatches, folders: list[Path]) -> bool:
    above = [folder for folder in folders if hits.path.startswith(f"{str(folder).rstrip('/')}/")]
    if not above:
        return True  # a file that was handed over open
    folder = max(above, key=lambda folder: len(str(folder)))
    try:
        descriptor = open_below(folder, os.path.relpath(hits.path, folder))
    except OSError:
        return False
    expected = {line.number: line.raw for line in hits.lines}
    with os.fdopen(descriptor, "rb") as file:
        if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return _is_in(expected, _wide_lines(file))
        file.seek(3 if file.peek(3)[:3] == b"\xef\xbb\xbf" else 0)
        return _is_in(expected, _lines(file))


def _is_in(expected: dict[int, bytes], lines: Iterator[bytes]) -> bool:
    """Whether each line begins with what was found of it."""
    last, found = max(expected), 0
    for number, line in enumerate(lines, 1):
        if number in expected:
            if not line.startswith(expected[number].removesuffix(b"\r")[:LINE_CHARACTERS]):
                return False
            found += 1
        if number >= last:
            break
    return found == len(expected)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The beginning of each; of a long one the rest is passed over."""
    while line := file.readline(_LINE_BYTES):
        yield line
        while not line.endswith(b"\n") and (line := file.readline(_LINE_BYTES)):
            pass


def _wide_lines(file: BinaryIO) -> Iterator[bytes]:
    text = file.read(MULTILINE_BYTES).decode("utf-16", "replace")
    yield from (line.encode("utf-8", "replace") for line in text.split("\n"))


async def _search(query: SearchQuery, parts: list[_Part], collector: MatchCollector, *, in_order: bool) -> None:
    for part in parts:
        if not part.files and (reason := _ripgrep.why_closed(part.folder)):
            collector.unreadable.append(f"{shown(part.folder)} ({reason})")
            continue
        with _opened(part, collector) as descriptors:
            if part.files and not descriptors:
                continue
            paths = [path_of(opened, path) for opened, path in descriptors.items()]
            names = {os.fsencode(name): path for name, path in zip(paths, descriptors.values(), strict=True)}
            chosen = [("", glob) for glob in part.globs]
            scope = _Scope(part.folder, names, Globs(chosen) if chosen else None)
            rules = rules_for(chosen) if chosen and _ripgrep.program() is not None else ""
            command, arguments = _command(query, part, paths, in_order=in_order)
            run = running(arguments, part.folder, rules=rules, files=tuple(descriptors), command=command)
            with judged(str(part.folder)) if part.files else nullcontext():  # the root, where nothing is looked for
                async with run as process:
                    await _read(process, collector, scope)
        if collector.satisfied or collector.overflowed or collector.problem:
            return


@contextmanager
def _opened(part: _Part, collector: MatchCollector) -> Iterator[dict[int, str]]:
    """The files that are named, by their descriptors; those that cannot be read are left out, and reported."""
    with ExitStack() as stack:
        found = {}
        for target in part.files:
            try:
                # What was made for the search, or is behind an address, was judged where that was done.
                with ours(target.path) if target.label else nullcontext():
                    descriptor = open_regular(target.path)
            except Swapped as problem:
                raise ToolError(f"Cannot search {target.label or shown(target.path)}: {problem.strerror}.") from None
            except OSError as problem:
                collector.unreadable.append(f"{target.label or shown(target.path)} ({reason_of(problem)})")
                continue
            stack.callback(os.close, descriptor)
            found[descriptor] = str(target.path)
        yield found


async def _read(process: RunningRipgrep, collector: MatchCollector, scope: _Scope) -> None:
    """Until the end, or until enough was read."""
    rest = name = b""
    path: str | None = None
    async for chunk in process.chunks():
        data = rest + chunk
        if b"binary file" in data:
            data = _BINARY.sub(b"", data)
        end = 0
        for record in _RECORD.finditer(data):
            end = record.end()
            if record[1] != name:
                name, path = record[1], _absolute(record[1], scope)
            if path is not None:
                collector.add(path, int(record[2]), record[3] == b":", record[4])
            if collector.satisfied or collector.overflowed:
                return
        rest = data[end:]
        if len(rest) > _RECORD_BYTES:
            collector.problem = "ripgrep's output could not be read"
            return
    if complaint := await process.complaint():
        raise BadPattern(complaint)
    collector.problem = await process.failure()


def _absolute(name: bytes, scope: _Scope) -> str | None:
    """The path a name stands for; None when no glob matches it."""
    if name in scope.files:
        return scope.files[name]
    path = os.fsdecode(name).removeprefix("./")
    if scope.globs is not None and not scope.globs(path):
        return None
    return os.path.join(scope.folder, path)


def _command(query: SearchQuery, part: _Part, files: list[str], *, in_order: bool) -> tuple[list[str], list[str]]:
    """What is run, where that is not ripgrep; and its arguments."""
    at_most = None if any(target.ranges for target in query.targets) else query.per_file + 1
    if _ripgrep.program() is None:
        from sightline.tools.search._plain_engine import SearchTask, command

        task = SearchTask(
            pattern=query.pattern, multiline=query.multiline, ignore_case=query.ignore_case, gitignore=query.gitignore,
            before=query.before, after=query.after, at_most=at_most, globs=part.globs, files=tuple(files),
        )  # fmt: skip
        return command(task), []
    arguments = [*_FORMAT, f"-B{query.before}", f"-A{query.after}", *ignoring(part.folder, gitignore=query.gitignore)]
    if query.ignore_case:
        arguments.append("--ignore-case")
    if query.multiline:
        arguments += ["--multiline", f"--max-filesize={MULTILINE_BYTES}"]
    if in_order and not query.single:
        arguments.append("--sort=path")
    if at_most is not None:
        arguments.append(f"--max-count={at_most}")
    return [], [*arguments, f"--regexp={query.pattern}", "--", *(files or ["."])]


def _parts(targets: list[SearchTarget]) -> list[_Part]:
    """In the order of paths; what is named more than once is searched once."""
    parts: list[_Part] = []
    by_path: dict[str, list[SearchTarget]] = {}
    for target in targets:
        by_path.setdefault(str(target.path), []).append(target)
    for path in sorted(by_path, key=path_order):
        same = by_path[path]
        if not same[0].is_file:
            globs = () if any(not target.glob for target in same) else tuple(target.glob for target in same)
            parts.append(_Part(Path(path), globs))
        elif parts and 0 < len(parts[-1].files) < _FILES_AT_ONCE:
            parts[-1] = msgspec.structs.replace(parts[-1], files=(*parts[-1].files, same[0]))
        else:
            parts.append(_Part(Path("/"), files=(same[0],)))
    return parts
