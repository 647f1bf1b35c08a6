"""A plain file: written whole, its folders made, made executable when its first line says it is a program."""

import os
import stat
from pathlib import Path

import msgspec

from sightline.tools._atomic import replace_file
from sightline.tools._tool import ToolError

_SHOWN_BYTES = 8 * 1024 * 1024  # of the old content, to show what changed


class Written(msgspec.Struct, frozen=True):
    size: int
    before: str | None  # what was there, as far as it is of use for showing the change; None: nothing
    made_executable: bool


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
    before = text_before(path)
    try:
        Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ToolError(f"Cannot make the folder {path.parent}: {problem.strerror}.") from problem
    target = replace_file(path, data)
    return Written(len(data), before, _make_executable(target, data))


def text_before(path: Path) -> str | None:
    """What is there, as far as it is of use for showing a change; None: nothing. Blocking."""
    try:
        if path.stat().st_size > _SHOWN_BYTES:
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
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        wanted = mode | (mode & 0o444) >> 2
        if wanted == mode:
            return False
        os.chmod(target, wanted)
        return stat.S_IMODE(target.stat().st_mode) == wanted
    except OSError:
        return False
