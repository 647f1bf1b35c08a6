"""How the language and what it refers to are written: `¶PATH#TAG` above lines shown as `LINE:TEXT`."""

import re

FILE_MARK = "¶"
TAG_MARK = "#"
BODY_MARK = "+"
TAG = re.compile(r"[0-9A-Fa-f]{4}")

_HEADER = re.compile(rf"{FILE_MARK}\S.*{TAG_MARK}[0-9A-Fa-f]{{4}}[ \t]*")
# Search marks the lines that matched with a star and indents the others by one.
_NUMBERED = re.compile(r"[ *]?([0-9]{1,9}):(.*)", re.DOTALL)
_UNHEADED_AT_LEAST = 3  # lines whose numbers are taken away although no header stands above them


def header(display_path: str, tag: str) -> str:
    """The line above a file's lines; copied into an edit, it says which state of the file is meant."""
    return f"{FILE_MARK}{display_path}{TAG_MARK}{tag}"


def numbered(number: int, text: str) -> str:
    return f"{number}:{text}"


def strip_display(content: str) -> tuple[str, bool]:
    """Content without the header and line numbers it was copied with; whether there were any.

    Line numbers go only where nothing else can be meant: under a header each line has one; without a header there are
    at least three lines and they are numbered from 1, as a whole file is shown. `12:30` and `13:45` are left alone, and
    so are lines that all have a space after the colon: that is how a mapping is written, and hardly any file begins.
    """
    lines = content.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return content, False
    headed = _is_header(lines[first])
    rest = [line for line in lines[first + 1 :] if not _is_header(line)] if headed else lines
    bare = _without_numbers(rest, counting_up=not headed)
    if bare is not None:
        return "\n".join(bare), True
    return ("\n".join(lines[first + 1 :]), True) if headed else (content, False)


def _is_header(line: str) -> bool:
    return _HEADER.fullmatch(line.rstrip("\r")) is not None


def _without_numbers(lines: list[str], *, counting_up: bool) -> list[str] | None:
    """The lines' texts, or None when they do not all have a number. Empty lines are let through."""
    texts: list[str] = []
    numbers: list[int] = []
    for line in lines:
        found = _NUMBERED.fullmatch(line)
        if found is None and line.strip():
            return None
        texts.append(line if found is None else found[2])
        numbers.extend([] if found is None else [int(found[1])])
    if not numbers or not counting_up:
        return texts if numbers else None
    is_shown = numbers == list(range(1, len(numbers) + 1)) and not all(text[:1] in ("", " ") for text in texts)
    return texts if is_shown and len(numbers) >= _UNHEADED_AT_LEAST else None
