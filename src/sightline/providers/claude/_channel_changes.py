"""What a call of Claude Code's would change in a file, as a unified diff for whoever is asked about it."""

import os
import stat
from itertools import islice
from pathlib import Path
from typing import Any

# Past these, finding what changes takes too long: the call's arguments have to do.
_BYTES_AT_MOST = 256 * 1024
_LINES_AT_MOST = 2000


def diff_of(args: dict[str, Any], cwd: str) -> str:
    """Of a call that writes a whole file (`content`) or replaces text in one (`old_string`, `edits`). Empty when that
    cannot be said: the file is too large, or is not as the call expects it."""
    path = args.get("file_path")
    if not isinstance(path, str) or not path:
        return ""
    try:
        before = _text_in(Path(cwd, path))
    except (OSError, ValueError):
        return ""
    after = _after(args, before or "")
    return "" if after is None else _unified(path, before, after)


def _text_in(path: Path) -> str | None:
    """None when there is no such file."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(about.st_mode) or about.st_size > _BYTES_AT_MOST:
        raise ValueError("no file to compare with")
    return path.read_bytes().decode()


def _after(args: dict[str, Any], before: str) -> str | None:
    content, edits = args.get("content"), args.get("edits")
    if isinstance(content, str):
        return content
    after = before
    for edit in edits if isinstance(edits, list) else [args]:
        replaced = _replaced(after, edit)
        if replaced is None:
            return None
        after = replaced
    return after


def _replaced(text: str, edit: Any) -> str | None:
    old, new = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, dict) else (None, None)
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if not text else None
    return text.replace(old, new, -1 if edit.get("replace_all") is True else 1) if old in text else None


def _unified(path: str, before: str | None, after: str) -> str:
    import difflib

    old, new = (before or "").split("\n"), after.split("\n")
    if max(len(old), len(new)) > _LINES_AT_MOST:
        return ""
    old, new = (lines[:-1] if lines[-1] == "" else lines for lines in (old, new))
    rows = list(islice(difflib.unified_diff(old, new, lineterm=""), 2, None))
    names = ["--- /dev/null" if before is None else f"--- {path}", f"+++ {path}"]
    return "\n".join([*names, *rows, ""]) if rows else ""
