"""A plain file: written whole, its folders made, made executable when its first line says it is a program."""

import os
import stat
from itertools import islice
from pathlib import Path

import msgspec

from sightline.tools._atomic import replace_file
from sightline.tools._tool import ToolError

DIFF_LINES = 2000  # a longer file is shown without what changed
DIFF_CHARS = 32 * 1024


class Written(msgspec.Struct, frozen=True):
    size: int
    created: bool
    made_executable: bool
    diff: str


def encoded(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError as problem:
        raise ToolError(
            f"The content has half of a surrogate pair at character {problem.start}, which no file can hold. Write the "
            "character itself."
        ) from problem


def write_file(path: Path, content: str) -> Written:
    """Blocking. ToolError when it cannot be done; the file is as it was then."""
    data = encoded(content)
    before = _text_before(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ToolError(f"Cannot make the folder {path.parent}: {problem.strerror}.") from problem
    target = replace_file(path, data)
    return Written(len(data), before is None, _make_executable(target, data), _diff(before or "", content))


def _text_before(path: Path) -> str | None:
    """What is about to be replaced, for showing the change; None when there is no file, "" when it is no text."""
    try:
        if path.stat().st_size > DIFF_LINES * 200:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError:
        return ""


def _make_executable(target: Path, data: bytes) -> bool:
    """Whoever may read it may run it. A file system without modes is no reason to fail."""
    if not data.startswith(b"#!"):
        return False
    mode = stat.S_IMODE(target.stat().st_mode)
    wanted = mode | (mode & 0o444) >> 2
    if wanted == mode:
        return False
    try:
        os.chmod(target, wanted)
    except OSError:
        return False
    return bool(stat.S_IMODE(target.stat().st_mode) & 0o111)


def _diff(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    if len(old) > DIFF_LINES or len(new) > DIFF_LINES:
        return ""
    import difflib

    lines = difflib.unified_diff(old, new, lineterm="", n=3)
    return "\n".join(islice(lines, 2, None))[:DIFF_CHARS]  # the first two name files
