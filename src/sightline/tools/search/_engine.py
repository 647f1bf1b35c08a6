"""Searching with ripgrep: which arguments, which of its lines mean what, when it has said enough.

Rules:

- Its plain output is read, not its JSON: that costs a third of the time, and long lines come shortened. A record is
  `PATH NUL NUMBER (":" match | "-" surroundings) TEXT newline`, which no file name and no text can imitate.
- It searches on all cores, in no order, and to the end: pages are in the order of paths. When there are so many
  matches that this would be a waste, it is started anew in the order of paths and stopped once the page is full.
- Files are read, not mapped: one that shrinks while it is searched must not take ripgrep down.
"""

import os
import re
from pathlib import Path

import msgspec

from sightline.tools._globs import below, union
from sightline.tools._ripgrep import Running, ignoring, rules_for, running
from sightline.tools.search._collect import Collector, path_order
from sightline.tools.search._query import LINE_CHARACTERS, MULTILINE_BYTES, BadPattern, Found, Query, Target

_RECORD = re.compile(rb"([^\0]*)\0([0-9]+)([:-])([^\n]*)\n")
# Said among the records of a file that is named, or whose beginning looked like text; not always.
_BINARY = re.compile(
    rb"[^\0]*?: (?:binary file matches|WARNING: stopped searching binary file after match) "
    rb'\(found "\\0" byte around offset [0-9]+\)\n'
)
_FORMAT = (
    "--null", "--line-number", "--with-filename", "--no-heading", "--no-context-separator", "--no-mmap",
    # In bytes: a longer line has more characters than are shown, and its beginning is enough.
    f"--max-columns={LINE_CHARACTERS * 4}", "--max-columns-preview",
)  # fmt: skip


class _Scope(msgspec.Struct, frozen=True):
    """Where ripgrep runs, what it is told to search, and which of the files it finds are meant."""

    folder: Path
    roots: list[str]
    rules: str
    wanted: re.Pattern[str] | None
    nested: bool  # a root lies in another


async def search(query: Query) -> Found:
    scope = _scope(query.targets)
    in_order = query.single or scope.nested
    collector = await _run(query, scope, in_order=in_order)
    if collector.overflowed:
        collector = await _run(query, scope, in_order=True)
    return collector.found()


async def _run(query: Query, scope: _Scope, *, in_order: bool) -> Collector:
    collector = Collector(query, in_order=in_order)
    async with running(_arguments(query, scope, in_order=in_order), scope.folder, rules=scope.rules) as process:
        if not await _read(process, collector, scope):
            complaint = await process.complaint()
            if complaint:
                raise BadPattern(complaint)
    return collector


async def _read(process: Running, collector: Collector, scope: _Scope) -> bool:
    """Whether enough was read before the end."""
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
                return True
        rest = data[end:]
    return False


def _absolute(name: bytes, scope: _Scope) -> str | None:
    """The path a name stands for; None when it is of a file that no glob asked for."""
    path = os.fsdecode(name).removeprefix("./")
    if path.startswith("/"):
        return path
    if scope.wanted is not None and not scope.wanted.fullmatch(path):
        return None
    return os.path.join(scope.folder, path)


def _arguments(query: Query, scope: _Scope, *, in_order: bool) -> list[str]:
    arguments = [*_FORMAT, f"-B{query.before}", f"-A{query.after}", ignoring(scope.folder, gitignore=query.gitignore)]
    if query.ignore_case:
        arguments.append("--ignore-case")
    if query.multiline:
        arguments += ["--multiline", f"--max-filesize={MULTILINE_BYTES}"]
    if in_order and not query.single:
        arguments.append("--sort=path")
    if not any(target.ranges for target in query.targets):
        arguments.append(f"--max-count={query.per_file + 1}")
    return [*arguments, f"--regexp={query.pattern}", "--", *scope.roots]


def _scope(targets: list[Target]) -> _Scope:
    folders = [target for target in targets if not target.is_file]
    base = Path(os.path.commonpath([target.path for target in folders])) if folders else Path("/")
    paths = sorted({str(target.path) for target in targets}, key=path_order)
    files = {str(target.path) for target in targets if target.is_file}
    globs = [(below(target.path, base), target.glob or "**") for target in folders]
    chosen = any(target.glob for target in folders)
    return _Scope(
        folder=base,
        roots=[path if path in files else os.path.relpath(path, base) for path in paths],
        rules=rules_for(globs) if chosen else "",
        wanted=union(globs) if chosen else None,
        nested=any(below.startswith(f"{above.rstrip('/')}/") for above in paths for below in paths if above != below),
    )
