"""local://: a folder of the session for notes. Made when first written to. Nothing leads out of it. Blocking."""

import os
from pathlib import Path

from sightline.handles import real_path
from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.files._selectors import split_selector
from sightline.tools.resources._resource import Resource

LISTED = 500
_COMPARED = 8 * 1024 * 1024  # bytes of the old content
_LONGEST, _DEEPEST = 200, 20  # bytes of a name, and folders


def resolve(rest: str, folder: Path) -> Resource:
    path = _inside(rest, folder)
    name = _name(path, folder)
    if path.is_file():
        return Resource(url=f"local://{name}", source_path=path, immutable=False)
    if path.is_dir():
        return Resource(url=f"local://{name}", text=_listing(path), source_path=path)
    if name:
        raise ToolError(f"There is no local://{name}.{_others(folder)}")
    return Resource(url="local://")  # nothing was written yet


def write(rest: str, content: str, context: ToolContext) -> None:
    from sightline.tools.files._atomic import writing
    from sightline.tools.hashline import refuse_collision

    folder = context.workplace.local
    path = _inside(rest, folder)
    if rest.endswith("/") or not _name(path, folder) or path.is_dir():
        raise ToolError(f"local://{rest} is a folder. Name a file in it, such as local://notes.md.")
    bare, selector = split_selector(rest)
    if selector is not None:
        raise ToolError(f"Write replaces whole files: use local://{bare}, or change these lines with edit.")
    with writing(path, make_folders=True, private=True) as file:
        found = file.content(_COMPARED)
        if found is not None:
            compared = found if len(found) <= _COMPARED else None
            refuse_collision(path, f"local://{_name(path, folder)}", compared, context.snapshots)
        file.replace(content.encode("utf-8", "replace"))
    context.snapshots.record(path, content)


def _inside(rest: str, folder: Path) -> Path:
    """The file meant, links followed."""
    parts = rest.split("/")
    can_be_named = all(len(part.encode("utf-8", "replace")) <= _LONGEST for part in parts) and len(parts) <= _DEEPEST
    is_text = "\0" not in rest and not any("\ud800" <= one <= "\udfff" for one in rest)
    if not can_be_named or not is_text or ".." in parts or "\\" in rest:
        raise ToolError(
            f"{f'local://{rest}'[:200]!a} is not a name in the session's folder: use short names without .. and \\."
        )
    path = Path(real_path(folder / "/".join(part for part in parts if part)))
    if not path.is_relative_to(real_path(folder)):
        raise ToolError(f"local://{rest} leads out of the session's folder and is not followed.")
    return path


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(real_path(folder)).as_posix()
    return "" if name == "." else name


def _listing(folder: Path) -> str:
    """Rows as those of an archive: folders with a slash, files with their size."""
    from sightline.tools._truncation import human_size
    from sightline.tools.files._paths import shown

    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    rows = [
        shown(entry.name) + ("/" if entry.is_dir() else f" ({human_size(entry.stat(follow_symlinks=False).st_size)})")
        for entry in entries[:LISTED]
    ]
    rows += [f"[{len(entries) - LISTED} more]"] if len(entries) > LISTED else []
    return "\n".join(rows)


def _others(folder: Path) -> str:
    try:
        names = sorted(os.listdir(folder))[:10]
    except OSError:
        names = []
    return f" There are: {', '.join(map(ascii, names))}." if names else " Nothing was written to local:// yet."
