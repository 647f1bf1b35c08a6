"""Replacing a conflict with its resolution.

The file is read again first. A conflict that no longer reads as it was shown is left alone: another program changed it.
Everything outside the conflict stays as it is, byte for byte.
"""

from pathlib import Path

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.conflicts._regions import Region, find_regions, split_lines
from sightline.tools.conflicts._registry import Conflict, Conflicts
from sightline.tools.files._atomic import Writing, writing

MAX_BYTES = 16 * 1024 * 1024  # of a file with conflicts


class ResolvedFile(msgspec.Struct, frozen=True):
    """One file: its text now, which conflicts are gone and which are left; or why nothing was done to it."""

    path: Path
    text: str = ""
    done: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    problem: str = ""


def resolve_one(number: int, content: str, conflicts: Conflicts) -> ResolvedFile:
    """Blocking. ToolError when the id is not known, the file changed, or the content cannot be."""
    _refuse_markers(content)
    known = conflicts.get(number)
    with writing(known.path) as file:
        text, now = _current(file, conflicts)
        conflict = next((conflict for conflict in now if conflict.id == number), None)
        if conflict is None:
            raise ToolError(
                f"Conflict {number} in {known.path.name} changed since it was shown, or is resolved already. "
                f"Read {known.path.name}:conflicts again."
            )
        return _replace(file, text, [conflict], content, conflicts)


def resolve_all(content: str, conflicts: Conflicts) -> list[ResolvedFile]:
    """Blocking. Every conflict known, file by file; a file that fails does not hold back the others."""
    _refuse_markers(content)
    paths = conflicts.paths()
    if not paths:
        raise ToolError("No conflicts are known in this session. Read FILE:conflicts to find them.")
    return [_resolve_file(path, content, conflicts) for path in paths]


def planned(number: int | None, content: str, conflicts: Conflicts) -> list[tuple[Path, str, str]]:
    """What resolving one conflict, or (None) all that are known, would make of each file: before and after. Nothing is
    written. Blocking; ToolError as when it is done."""
    _refuse_markers(content)
    known = {conflict.id: conflict for conflict in conflicts.all()}
    chosen = list(known) if number is None else [conflicts.get(number).id]
    made: list[tuple[Path, str, str]] = []
    for path in dict.fromkeys(known[id].path for id in chosen):
        with writing(path) as file:
            text, now = _current(file, conflicts)
        made.append((path, text, _resolved(text, [conflict for conflict in now if conflict.id in chosen], content)))
    return made


def _resolve_file(path: Path, content: str, conflicts: Conflicts) -> ResolvedFile:
    shown = {conflict.id for conflict in conflicts.all() if conflict.path == path}
    try:
        with writing(path) as file:
            text, now = _current(file, conflicts)
            chosen = [conflict for conflict in now if conflict.id in shown]
            if not chosen:
                raise ToolError("its conflicts changed since they were shown, or are resolved already. Read it again.")
            return _replace(file, text, chosen, content, conflicts)
    except ToolError as problem:
        return ResolvedFile(path, problem=problem.message)


def _current(file: Writing, conflicts: Conflicts) -> tuple[str, list[Conflict]]:
    data = file.content(MAX_BYTES)
    if data is None:
        raise ToolError(f"'{file.path}' not found.")
    if len(data) > MAX_BYTES:
        raise ToolError(f"{file.path.name} has more than {MAX_BYTES >> 20} MiB by now. Resolve it with a command.")
    text = data.decode("utf-8", "surrogateescape")
    return text, conflicts.register(file.path, text)


def _replace(file: Writing, text: str, chosen: list[Conflict], content: str, conflicts: Conflicts) -> ResolvedFile:
    result = _resolved(text, chosen, content)
    file.replace(result.encode("utf-8", "surrogateescape"))
    conflicts.forget(conflict.id for conflict in chosen)
    left = conflicts.register(file.path, result)
    return ResolvedFile(
        file.path, result, tuple(sorted(conflict.id for conflict in chosen)), tuple(conflict.id for conflict in left)
    )


def _resolved(text: str, chosen: list[Conflict], content: str) -> str:
    lines = split_lines(text)
    for conflict in sorted(chosen, key=lambda conflict: -conflict.region.first):
        region = conflict.region
        lines[region.first - 1 : region.last] = expanded(content, region, conflict.id)
    return "".join(lines)


def expanded(content: str, region: Region, number: int) -> list[str]:
    """The lines that take a conflict's place: a line `@ours` and the like stands for that side."""
    sides = {"@ours": region.ours, "@theirs": region.theirs, "@base": region.base, "@both": region.ours + region.theirs}
    result: list[str] = []
    for line in split_lines(content):
        bare = line.removesuffix("\n").removesuffix("\r")
        if bare.strip() not in sides:
            result.append(bare + region.line_end)
            continue
        side = sides[bare.strip()]
        if side is None:
            raise ToolError(
                f"Conflict {number} has no base: the merge was not made in diff3 style. Use @ours or @theirs."
            )
        result.extend(side)
    return result


def _refuse_markers(content: str) -> None:
    if find_regions(content):
        raise ToolError("The replacement has conflict markers itself. Write the text that is to stay, without markers.")
