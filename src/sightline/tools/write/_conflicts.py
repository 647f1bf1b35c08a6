"""What a model is told of conflicts that were resolved: what is left, and the tags of the files as they are now."""

from collections.abc import Sequence
from typing import Any

from sightline.events import FilesFact
from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.conflicts import ResolvedFile, readable
from sightline.tools.files._paths import display
from sightline.tools.hashline import header


def told_one(resolved: ResolvedFile, context: ToolContext) -> tuple[str, dict[str, Any]]:
    text = f"Resolved conflict {resolved.done[0]} in {_name(resolved, context)}. {_left(resolved)}"
    if context.settings.read.hash_lines:
        text = f"{_header(resolved, context)}\n{text}"
    return text, _details([resolved], context)


def told_all(files: Sequence[ResolvedFile], context: ToolContext) -> tuple[str, dict[str, Any]]:
    done = [resolved for resolved in files if not resolved.problem]
    failed = [f"{_name(resolved, context)}: {resolved.problem}" for resolved in files if resolved.problem]
    if not done:
        raise ToolError("No conflict was resolved.\n" + "\n".join(failed))
    count = sum(len(resolved.done) for resolved in done)
    lines = [f"Resolved {count} conflict{'s' if count != 1 else ''} in {len(done)} file{'s' if len(done) != 1 else ''}"]
    lines += [
        f"{_name(resolved, context)}: {', '.join(map(str, resolved.done))}. {_left(resolved)}" for resolved in done
    ]
    if failed:
        lines += ["", "Failed:", *failed]
    if context.settings.read.hash_lines:
        lines += ["", "Snapshots:", *(_header(resolved, context) for resolved in done)]
    return "\n".join(lines), _details(files, context)


def _name(resolved: ResolvedFile, context: ToolContext) -> str:
    return display(resolved.path, context.cwd)


def _left(resolved: ResolvedFile) -> str:
    if not resolved.left:
        return "No conflicts are left in it."
    return f"Left: {', '.join(f'conflict://{number}' for number in resolved.left)}"


def _header(resolved: ResolvedFile, context: ToolContext) -> str:
    tag = context.snapshots.record(resolved.path, readable(resolved.text))
    return header(_name(resolved, context), tag)


def _details(files: Sequence[ResolvedFile], context: ToolContext) -> dict[str, Any]:
    listed = [
        {"path": _name(resolved, context), "resolved": list(resolved.done), "problem": resolved.problem}
        for resolved in files[:100]
    ]
    return {"ui": {"kind": FilesFact.KIND}, "files": listed}
