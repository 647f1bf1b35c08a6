"""local://: a folder of the session for notes. Made when first written to. Nothing leads out of it. Blocking."""

import os
from pathlib import Path

from sightline.handles import real_path
from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.files._selectors import split_selector
from sightline.tools.resources._folder import listing, path_inside
from sightline.tools.resources._resource import Resource

_COMPARED = 8 * 1024 * 1024  # bytes of the old content


def resolve(rest: str, folder: Path) -> Resource:
    path = _inside(rest, folder)
    name = _name(path, folder)
    if path.is_file():
        return Resource(url=f"local://{name}", source_path=path, immutable=False)
    if path.is_dir():
        return Resource(url=f"local://{name}", text=listing(path), source_path=path)
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
    return path_inside("local://", rest, folder, "the session's")


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(real_path(folder)).as_posix()
    return "" if name == "." else name


def _others(folder: Path) -> str:
    try:
        names = sorted(os.listdir(folder))[:10]
    except OSError:
        names = []
    return f" There are: {', '.join(map(ascii, names))}." if names else " Nothing was written to local:// yet."
