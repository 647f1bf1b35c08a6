"""A plain file: written whole, its folders made, made executable when its first line says it is a program."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.secrets import PLACEHOLDER, RestoredText, not_restored
from sightline.tools._tool import ToolError
from sightline.tools.files._atomic import writing
from sightline.tools.write._line_ends import TextToWrite, ended_as

_SHOWN_BYTES = 8 * 1024 * 1024  # of the old content, to show what changed
_RESTORED_BYTES = 16 * 1024 * 1024  # of the old content, to find secret values in it


class WrittenFile(msgspec.Struct, frozen=True):
    content: RestoredText  # what it holds now
    ended: TextToWrite
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


def write_file(path: Path, content: str, restored: Callable[[str, str], RestoredText] = not_restored) -> WrittenFile:
    """Blocking. ToolError when it cannot be done; the file is as it was then. `restored`: the content with the secret
    values of what is replaced, which is what the file holds while it is locked."""
    encoded(content)
    with writing(path, make_folders=True) as file:
        try:
            found = file.content(_RESTORED_BYTES if PLACEHOLDER in content else _SHOWN_BYTES)
        except ToolError:  # it may be written and not read
            found = b""
        ended = ended_as(found, content)
        new = restored(ended.text, "" if found is None else found.decode("utf-8", "surrogateescape"))
        data = new.text.encode("utf-8", "surrogateescape")
        made_executable = file.replace(data, executable=data.startswith(b"#!"))
    return WrittenFile(new, ended, len(data), _text(found), made_executable)


def _text(data: bytes | None) -> str | None:
    """Nothing of what is too long."""
    if data is None or len(data) > _SHOWN_BYTES:
        return None if data is None else ""
    return data.decode("utf-8", "replace")
