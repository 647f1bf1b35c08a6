"""Conflicts as text for a model."""

from collections.abc import Callable, Sequence
from pathlib import Path

from sightline.tools._tool import ToolError
from sightline.tools.conflicts._regions import readable
from sightline.tools.conflicts._registry import Conflict, Conflicts, parse_url

SHOWN = 100  # conflicts of one file
SHOWN_LINES = 200  # of one conflict

_HOW = (
    "Resolve one by writing its replacement to conflict://ID; a line @ours, @theirs, @base or @both stands for that "
    "side. conflict://* resolves all."
)


def render(conflicts: Sequence[Conflict], name: str) -> str:
    """What `FILE:conflicts` shows."""
    if not conflicts:
        return f"No unresolved conflicts in {name}."
    count = f"{len(conflicts)} unresolved conflict{'s' if len(conflicts) > 1 else ''} in {name}"
    parts = [count, *(_one(conflict) for conflict in conflicts[:SHOWN])]
    if len(conflicts) > SHOWN:
        parts.append(f"[{len(conflicts) - SHOWN} more; resolve some and read again]")
    return "\n\n".join([*parts, _HOW])


def _one(conflict: Conflict) -> str:
    region = conflict.region
    names = [("ours", region.ours_name), ("theirs", region.theirs_name)]
    if region.base is not None:
        names.insert(1, ("base", region.base_name))
    sides = ", ".join(f"{side}: {name}" if name else side for side, name in names)
    lines = [f"conflict://{conflict.id} lines {region.first}-{region.last} ({sides})"]
    for number, line in enumerate(region.lines[:SHOWN_LINES], start=region.first):
        lines.append(f"{number}:{_bare(line)}")
    if (more := len(region.lines) - SHOWN_LINES) > 0:
        lines.append(f"[{more} more lines; read conflict://{conflict.id} or one of its sides]")
    return "\n".join(lines)


def read_conflict(url: str, conflicts: Conflicts, name_of: Callable[[Path], str]) -> str:
    """What a conflict URL shows: the whole region, one side of it, or a list of all conflicts known."""
    target = parse_url(url)
    if target.number is None:
        return _list(conflicts.all(), name_of)
    conflict = conflicts.get(target.number)
    region = conflict.region
    if target.scope is None:
        return readable(region.text)
    side = {"ours": region.ours, "theirs": region.theirs, "base": region.base}[target.scope]
    if side is None:
        raise ToolError(
            f"Conflict {conflict.id} has no base: the merge was not made in diff3 style. It has /ours and /theirs."
        )
    return readable("".join(side))


def _list(conflicts: Sequence[Conflict], name_of: Callable[[Path], str]) -> str:
    if not conflicts:
        return "No conflicts are known in this session. Read FILE:conflicts to find them."
    return "\n".join(
        f"conflict://{conflict.id} {name_of(conflict.path)}:{conflict.region.first}-{conflict.region.last}"
        for conflict in conflicts
    )


def _bare(line: str) -> str:
    return readable(line.removesuffix("\n").removesuffix("\r"))
