"""Results without the words Claude Code adds for its model: numbers before the lines of a file, and that a command
printed nothing. What was read stands in the same line once more, as it is in the file."""

import re
from typing import Any

import msgspec

from sightline.text import clean_line, clean_text

_numbered = re.compile(r" *\d{1,9}[\t→]").match
_silent = re.compile(r"\(\w+ completed with no output\)").fullmatch


class _File(msgspec.Struct):
    content: str
    filePath: str = ""
    startLine: int = 1
    numLines: int = 0
    totalLines: int = 0


class _Result(msgspec.Struct):
    file: _File


class _Line(msgspec.Struct):
    tool_use_result: _Result


_decode = msgspec.json.Decoder(_Line).decode


def as_shown(text: str, raw: bytes) -> tuple[str, dict[str, Any] | None]:
    """The text of a result and its details; `raw` is the line it came in."""
    if _silent(text):
        return "", None
    number = _numbered(text)
    if number is None:
        return text, None
    try:
        file = _decode(raw).tool_use_result.file
    except (ValueError, RecursionError):
        return text, None
    content = clean_text(file.content)
    first_line = content.partition("\n")[0]
    if not text.startswith(first_line, number.end()):  # of another result in the same line
        return text, None
    return content, {"ui": {"kind": "read", "path": clean_line(file.filePath), **_lines(file)}}


def _lines(file: _File) -> dict[str, int]:
    """Which lines, of how many. What follows the last line break counts as a line there, also when it is nothing."""
    last, total = file.startLine + file.numLines - 1, file.totalLines
    if last >= total and file.content.endswith("\n"):
        last, total = last - 1, total - 1
    return {"first": file.startLine, "last": last, "total": total}
