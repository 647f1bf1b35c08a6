"""A plain file: written whole, its folders made, made executable when its first line is that of a program (`#!`).

A model reads lines, not how they end: it writes `\\n`, and leaves out what it could not see. Rules, as careful editors
have them:

- A text without a single carriage return ends its lines as most lines of the file do. One that has any is written as it
  is, and so is a program (`#!`), whose first line must not end with one.
- A byte order mark stays, and so does the final newline. One that is written stays as well: no editor takes it away.
- What is no text, or cannot be read, has no line ends.
- Where lines change how they end, a diff shows a carriage return as `␍`: it is removed from what is displayed, and the
  two lines would look the same.
"""

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from sightline.secrets import PLACEHOLDER, RestoredText, not_restored
from sightline.text import Unified, unified_diff
from sightline.tools._tool import ToolError
from sightline.tools.files._atomic import writing

_SHOWN_BYTES = 8 * 1024 * 1024  # of the old content, to show what changed
_RESTORED_BYTES = 16 * 1024 * 1024  # of the old content, to find secret values in it
MAX_BYTES = 24 * 1024  # of the diff in a result's details
_LOOKED_AT = 8 * 1024 * 1024  # bytes of the old content, to see how its lines end
_MARK = "\ufeff"


class TextToWrite(msgspec.Struct, frozen=True):
    """A text as it is written, and in what it differs from what the model wrote."""

    text: str
    crlf: bool = False
    final_newline: bool = False
    marked: bool = False

    @property
    def details(self) -> dict[str, bool]:
        facts = {"crlf": self.crlf, "final_newline": self.final_newline, "byte_order_mark": self.marked}
        return {name: value for name, value in facts.items() if value}

    @property
    def notes(self) -> list[str]:
        """For the model."""
        ways = ("with CRLF line ends", "with a final newline", "with a byte order mark")
        flags = (self.crlf, self.final_newline, self.marked)
        written = ", ".join(way for way, is_so in zip(ways, flags, strict=True) if is_so)
        return [f"[Written {written}, as the file was before. To change that, use a command]"] if written else []


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


def write_file(
    path: Path,
    content: str,
    restored: Callable[[str, str], RestoredText] = not_restored,
    refuse: Callable[[Path, bytes | None], None] = lambda opened, found: None,
) -> WrittenFile:
    """Blocking. ToolError when it cannot be done; the file is as it was then. `restored`: the content with the secret
    values of what is replaced, which is what the file holds while it is locked. `refuse`: raises ToolError where that
    must stay; it gets the file that was opened, and None for what is too large to compare."""
    encoded(content)
    with writing(path, make_folders=True) as file:
        most = _RESTORED_BYTES if PLACEHOLDER in content else _SHOWN_BYTES
        try:
            found = file.content(most)
        except ToolError:  # it may be written and not read
            found = b""
        else:
            if found is not None:
                refuse(file.path, found if len(found) <= most else None)
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


def ended_as(before: bytes | None, content: str) -> TextToWrite:
    """`before`: the file, or as much of it as was read; None: there is none."""
    if not before or not content or "\r" in content or content.startswith("#!"):
        return TextToWrite(content)
    if before.find(b"\0", 0, _LOOKED_AT) >= 0:
        return TextToWrite(content)
    ends = before.count(b"\n", 0, _LOOKED_AT)
    final_newline = len(before) <= _LOOKED_AT and before.endswith(b"\n") and not content.endswith("\n")
    text = content + "\n" * final_newline
    crlf = before.count(b"\r\n", 0, _LOOKED_AT) * 2 > ends and "\n" in text
    if crlf:
        text = text.replace("\n", "\r\n")
    marked = before.startswith(_MARK.encode()) and not text.startswith(_MARK)
    return TextToWrite(_MARK + text if marked else text, crlf, final_newline, marked)


def diff(path: str, before: str | None, after: str) -> Unified:
    """`before` is None for a new file."""
    found = unified_diff(before, after, f"a/{path}", f"b/{path}")
    if before is None or "\r" not in found.text:
        return found
    return msgspec.structs.replace(found, text="\n".join(_with_visible_ends(found.text.split("\n"))))


def _with_visible_ends(rows: list[str]) -> Iterator[str]:
    """Rows that are removed or added together end alike, or show how each ends."""
    for changed, together in groupby(rows, key=lambda row: row[:1] in ("-", "+", "\\")):
        group = list(together)
        removed, added = ({row.endswith("\r") for row in group if row.startswith(mark)} for mark in "-+")
        visible = changed and removed and added and removed != added
        yield from (f"{row[:-1]}␍" if visible and row.endswith("\r") else row for row in group)
