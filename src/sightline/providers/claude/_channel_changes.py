"""What a call of Claude Code's would change in a file, as a unified diff for whoever is asked about it."""

import os
import stat
from pathlib import Path
from typing import Any

from sightline.text import unified_diff

_BYTES_AT_MOST = 16 * 1024 * 1024  # of a file to compare with; past that the call's arguments have to do


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
    return "" if after is None else unified_diff(before, after, path, path).text


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
