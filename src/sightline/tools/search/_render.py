"""What was found as text for a model and as details for views. Reads files for their snapshots: not for the loop.

When not all matches fit, they are taken in turn, the first of every file, then the second of every file: one file never
takes the whole page.
"""

from pathlib import Path

import msgspec

from sightline.events import SearchFact
from sightline.handles import ours, read_at_most
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Outcome
from sightline.tools._truncation import MAX_BYTES, cut_end, fitting, truncate_head
from sightline.tools.files._entries import shown_as
from sightline.tools.files._paths import shown
from sightline.tools.hashline import Snapshots, header, numbered
from sightline.tools.search._query import (
    FILES_PER_PAGE,
    LINE_CHARACTERS,
    FileMatches,
    MatchLine,
    SearchPage,
    SearchQuery,
)
from sightline.tools.search._scope import SearchScope

_NOTES = 2 * 1024  # bytes reserved for the notes below the lines
_DISPLAY = 24 * 1024  # bytes of the text for views
_SNAPSHOT = 4 * 1024 * 1024  # bytes of a file that is read whole for its snapshot
_SNAPSHOTS = 16 * 1024 * 1024  # bytes of all files of a page that are
_LOOKED_AT = 100  # files named without a match that are checked for being text
_NAMES = 10  # names in one note
_HEADING = 16  # bytes of a heading besides its path: marks, tag, empty line before it
_MARGIN = 10  # bytes of a line besides its text: mark, number, separator, newline


class FileExcerpt(msgspec.Struct):
    """What is shown of one file."""

    name: str
    hits: FileMatches
    lines: list[MatchLine] = []
    matches: int = 0


def _select(files: list[FileExcerpt], before: int, after: int, budget: int) -> bool:
    """Fills in what is shown; whether anything was left out."""
    turns = [_blocks(file.hits.lines, before, after) for file in files]
    chosen: list[set[int]] = [set() for _ in files]
    left_out = False
    for turn in range(max((len(blocks) for blocks in turns), default=0)):
        for file, blocks, numbers in zip(files, turns, chosen, strict=True):
            if turn >= len(blocks):
                continue
            fresh = [line for line in blocks[turn] if line.number not in numbers]
            cost = sum(min(len(line.raw), LINE_CHARACTERS * 4) + _MARGIN for line in fresh)
            cost += 0 if numbers else len(file.name.encode("utf-8", "replace")) + _HEADING
            if left_out or cost > budget:
                left_out = True
                continue
            budget -= cost
            numbers.update(line.number for line in fresh)
            file.matches += 1
    for file, numbers in zip(files, chosen, strict=True):
        file.lines = [line for line in file.hits.lines if line.number in numbers]
    return left_out


def _blocks(lines: list[MatchLine], before: int, after: int) -> list[list[MatchLine]]:
    """Per match, the lines from before it to after it."""
    by_number = {line.number: line for line in lines}
    return [
        [by_number[near] for near in range(line.number - before, line.number + after + 1) if near in by_number]
        for line in lines
        if line.matched
    ]


class _Body(msgspec.Struct):
    text: str = ""
    display: str = ""
    cut_lines: bool = False


def render(
    found: SearchPage, query: SearchQuery, scope: SearchScope, entries: list[str], context: ToolContext
) -> Outcome:
    labels = {target.path: target.label for target in query.targets if target.label}
    files = [FileExcerpt(shown_as(Path(hits.path), context.cwd, labels), hits) for hits in found.hits]
    fixed = {str(target.path) for target in query.targets if not target.editable}
    left_out = _select(files, query.before, query.after, MAX_BYTES - _NOTES)
    files = [file for file in files if file.lines]
    tags = _tags([file for file in files if file.hits.path not in fixed], context)
    body = _body(files, tags, query)
    notes = _notes(found, query, scope, body, left_out)
    text = truncate_head("\n\n".join([body.text or "No matches found", *notes]), max_lines=1 << 40)
    details = _details(files, found, scope, body)
    details["scope_path"] = ", ".join(entries)[:1000]
    if left_out or text.truncated:
        details["truncated"] = True
        details["meta"] = {"truncation": {"by": "bytes", "max_bytes": MAX_BYTES}}
    if found.problem:
        details["incomplete"] = found.problem
    return Outcome(text=text.text, details=details, is_error=bool(found.problem))


def _tags(files: list[FileExcerpt], context: ToolContext) -> dict[str, str]:
    """By path; a file that is not UTF-8 has none, because edits could not be written back to it."""
    if not context.settings.read.hash_lines:
        return {}
    budget, tags = _SNAPSHOTS, {}
    for file in files:
        path = Path(file.hits.path)
        try:
            # The collector has left out what a rule forbids reading.
            with ours(path):
                data = read_at_most(path, min(_SNAPSHOT, budget) + 1)
            text = data.decode("utf-8") if len(data) <= min(_SNAPSHOT, budget) else None
        except (OSError, UnicodeDecodeError):
            continue
        budget -= len(data) if text is not None else 0
        tags[file.hits.path] = _tag(path, text, file, context.snapshots)
    return tags


def _tag(path: Path, text: str | None, file: FileExcerpt, snapshots: Snapshots) -> str:
    """Of the whole file when it still is what was searched, else of the lines that were found."""
    if text is not None:
        lines = text.removeprefix("\ufeff").split("\n")
        if all(line.number <= len(lines) and _is(lines[line.number - 1], line) for line in file.lines):
            return snapshots.record(path, text)
    return snapshots.record_lines(path, {line.number: line.text for line in file.lines if not _is_cut(line)})


def _is(text: str, line: MatchLine) -> bool:
    found = line.text
    return text.removesuffix("\r") == found if not _is_cut(line) else text.startswith(found[:LINE_CHARACTERS])


def _is_cut(line: MatchLine) -> bool:
    return len(line.raw) > LINE_CHARACTERS and len(line.text) > LINE_CHARACTERS


def _body(files: list[FileExcerpt], tags: dict[str, str], query: SearchQuery) -> _Body:
    body, blocks, frames = _Body(), [], []
    for file in files:
        tag = tags.get(file.hits.path)
        if query.single:
            heading = [header(file.name, tag)] if tag else []
        else:
            heading = [f"# {file.name}#{tag}" if tag else f"# {file.name}"]
        blocks.append("\n".join([*heading, *(_line(line, anchored=tag is not None) for line in file.lines)]))
        frames.append("\n".join([f"# {file.name}", *(_frame(line) for line in file.lines)]))
        body.cut_lines |= any(_is_cut(line) for line in file.lines)
    body.text, body.display = "\n\n".join(blocks), "\n\n".join(frames)
    return body


def _line(line: MatchLine, *, anchored: bool) -> str:
    mark, text = "*" if line.matched else " ", _shortened(line)
    return mark + (numbered(line.number, text) if anchored else f"{line.number}|{text}")


def _frame(line: MatchLine) -> str:
    return f"{'*' if line.matched else ' '}{line.number:>5}│{_shortened(line)}"


def _shortened(line: MatchLine) -> str:
    text = line.text
    return cut_end(text[:LINE_CHARACTERS]) + "…" if _is_cut(line) else text


def _notes(found: SearchPage, query: SearchQuery, scope: SearchScope, body: _Body, left_out: bool) -> list[str]:
    notes = []
    if found.problem:
        notes.append(f"[Not complete: {found.problem}. There may be more matches. Narrow the pattern or paths]")
    if found.more_files:
        notes.append(f"[{FILES_PER_PAGE} files shown, more match. Use skip={query.enough} for the next page]")
    elif not found.hits and query.first:
        notes.append(f"[Nothing after the first {query.first} files. Use a smaller skip]")
    capped = [hits for hits in found.hits if hits.more]
    if capped:
        what = "the file" if query.single else "a file"
        more = " or lines (path:A-B)" if query.single else ", or search one of them alone"
        notes.append(f"[Only the first {query.per_file} matches of {what} are shown. Narrow the pattern{more}]")
    if left_out:
        notes.append("[Not all matches fit into 50 KB; every file shows its first ones. Narrow the pattern or paths]")
    if body.cut_lines:
        notes.append(f"[Lines longer than {LINE_CHARACTERS} characters are cut]")
    if scope.missing:
        notes.append(f"Skipped missing paths: {_names(scope.missing)}")
    if unreadable := [*scope.unreadable, *scope.unreadable_members, *found.unreadable]:
        notes.append(f"Could not read: {_names(unreadable)}")
    binary = _binary(found, query)
    if binary:
        notes.append(f"Skipped binary files: {_names(binary)}")
    return notes


def _binary(found: SearchPage, query: SearchQuery) -> list[str]:
    """Files that were named and have no match because they are not searched."""
    matched = {hits.path for hits in found.hits}
    named = [target.path for target in query.targets if target.is_file and str(target.path) not in matched]
    return [shown(path.name) for path in named[:_LOOKED_AT] if _is_binary(path)]


def _is_binary(path: Path) -> bool:
    try:
        with ours(path):
            beginning = read_at_most(path, 8192)
    except OSError:
        return False
    return b"\0" in beginning and not beginning.startswith((b"\xff\xfe", b"\xfe\xff"))


def _names(names: list[str]) -> str:
    return ", ".join(name[:200] for name in names[:_NAMES]) + (", …" if len(names) > _NAMES else "")


def _details(files: list[FileExcerpt], found: SearchPage, scope: SearchScope, body: _Body) -> Details:
    fact = SearchFact(
        match_count=sum(file.matches for file in files),
        file_count=len(files),
        files=[file.name for file in files],
        display_content=fitting(body.display, _DISPLAY),
    )
    details = fact.as_details(file_matches=[{"path": file.name, "count": file.matches} for file in files])
    facts = {
        "file_limit_reached": found.more_files,
        "per_file_limit_reached": any(hits.more for hits in found.hits),
        "lines_truncated": body.cut_lines,
        "missing_paths": scope.missing[:100],
        "unreadable_paths": [*scope.unreadable, *scope.unreadable_members, *found.unreadable][:100],
    }
    return details | {key: value for key, value in facts.items() if value}
