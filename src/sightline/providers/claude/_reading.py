"""Results without the words Claude Code adds for its model: numbers before the lines of a file, that a command printed
nothing, where a long output was saved, and how to address a subagent. What was read or printed stands in the same line
once more, as it is."""

import re

import msgspec

from sightline.events import ReadFact
from sightline.text import clean_line, clean_text

_numbered = re.compile(r" *\d{1,9}[\t→]").match
_silent = re.compile(r"\(\w+ completed with no output\)").fullmatch
_SAVED = "<persisted-output>"
_SAVED_END = "\n</persisted-output>"
_saved_head = re.compile(rf"{_SAVED}\n[^\n]*\n\nPreview \([^)\n]*\):\n").match
_LAUNCHED = "Async agent launched"
_address = re.compile(r"\n?agentId: \w+ \([^\n]*SendMessage[^\n]*\)(?:\n<usage>.*?</usage>)?\s*\Z", re.DOTALL)
_COMPARED = 200  # characters that identify an output


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


class _Printed(msgspec.Struct):
    stdout: str
    persistedOutputPath: str = ""
    persistedOutputSize: int = 0


class _PrintedLine(msgspec.Struct):
    tool_use_result: _Printed


_decode = msgspec.json.Decoder(_Line).decode
_decode_printed = msgspec.json.Decoder(_PrintedLine).decode


def as_shown(text: str, raw: bytes) -> tuple[str, dict[str, object] | None]:
    """The text of a result and its details; `raw` is the line it came in."""
    if _silent(text):
        return "", None
    if text.startswith(_SAVED):
        return _long_output(text, raw), None
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
    return content, _read(file).as_details()


def as_answered(text: str) -> str:
    """The answer of a subagent without how its model is to address it; nothing of one that was only started."""
    return "" if text.startswith(_LAUNCHED) else _address.sub("", text)


def in_background(text: str) -> bool:
    """Whether the result of a call that started a subagent shows that it works in the background."""
    return text.startswith(_LAUNCHED)


def _long_output(text: str, raw: bytes) -> str:
    """As much of a saved output as the line carries, and where the rest is."""
    head, whole = _saved_head(text), text.rstrip()
    if head is None or not whole.endswith(_SAVED_END, head.end() - 1):
        return text
    shown = whole[head.end() : -len(_SAVED_END)].removesuffix("\n...")
    try:
        printed = _decode_printed(raw).tool_use_result
    except (ValueError, RecursionError):
        return f"{shown}\n… the rest is not in the stream"
    stdout = clean_text(printed.stdout)
    if stdout.startswith(shown[:_COMPARED]):
        shown = stdout
    size, path = printed.persistedOutputSize, clean_line(printed.persistedOutputPath)
    of = f" of {size:,}" if size else ""
    where = f": all of it is in {path}" if path else ""
    return f"{shown}\n… {len(shown.encode('utf-8', 'replace')):,}{of} bytes shown{where}"


def _read(file: _File) -> ReadFact:
    """Which lines, of how many. What follows the last line break counts as a line there, also when it is nothing."""
    last, total = file.startLine + file.numLines - 1, file.totalLines
    if last >= total and file.content.endswith("\n"):
        last, total = last - 1, total - 1
    return ReadFact(path=clean_line(file.filePath), first=file.startLine, last=last, total=total)
