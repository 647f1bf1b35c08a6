"""A plain file: written whole, its folders made, made executable when its first line says it is a program."""

from pathlib import Path

import msgspec

from sightline.handles import read_at_most
from sightline.tools._atomic import writing
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
    with writing(path, make_folders=True) as file:
        try:
            found = file.content(_SHOWN_BYTES)
        except ToolError:  # it may be written and not read
            found = b""
        made_executable = file.replace(data, executable=data.startswith(b"#!"))
    return Written(len(data), _text(found), made_executable)


def text_before(path: Path) -> str | None:
    """What is there, as far as it is of use for showing a change; None: nothing. Blocking."""
    try:
        return _text(read_at_most(path, _SHOWN_BYTES + 1))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return ""


def _text(data: bytes | None) -> str | None:
    """Nothing of what is too long."""
    if data is None or len(data) > _SHOWN_BYTES:
        return None if data is None else ""
    return data.decode("utf-8", "replace")
