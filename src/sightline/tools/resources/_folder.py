"""Files of a folder behind an address: nothing leads out of it. Blocking."""

import os
from pathlib import Path

from sightline.handles import real_path
from sightline.tools._tool import ToolError

LISTED = 500
_LONGEST, _DEEPEST = 200, 20  # bytes of a name, and folders


def path_inside(scheme: str, rest: str, folder: Path, whose: str) -> Path:
    """The file meant, links followed. `whose`: the folder, for the error: `the session's`."""
    parts = rest.split("/")
    can_be_named = all(len(part.encode("utf-8", "replace")) <= _LONGEST for part in parts) and len(parts) <= _DEEPEST
    is_text = "\0" not in rest and not any("\ud800" <= one <= "\udfff" for one in rest)
    if not can_be_named or not is_text or ".." in parts or "\\" in rest:
        raise ToolError(
            f"{f'{scheme}{rest}'[:200]!a} is not a name in {whose} folder: use short names without .. and \\."
        )
    path = Path(real_path(folder / "/".join(part for part in parts if part)))
    if not path.is_relative_to(real_path(folder)):
        raise ToolError(f"{scheme}{rest} leads out of {whose} folder and is not followed.")
    return path


def listing(folder: Path) -> str:
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
