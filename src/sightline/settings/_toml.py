"""Where things stand in a TOML file, and how values are written into one.

The standard library reads TOML without positions, neither for a mistake in a value nor for an edit that
leaves comments alone. This walks over a text that it has already read without complaint.
"""

import re
from collections.abc import Sequence

import msgspec

from sightline.settings._fields import Key


class TomlEntry(msgspec.Struct, frozen=True):
    """A key and its value, or a table's header (no value). Positions are offsets; `end` is after the line's newline."""

    key: Key
    table: Key  # the table it is written in; of a header, the table itself
    line: int
    start: int
    value_start: int
    value_end: int
    end: int

    @property
    def is_header(self) -> bool:
        return self.value_start == self.value_end


_blank = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_key_part = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|("(?:[^"\\\n]|\\.)*")|'([^'\n]*)')[ \t]*""")
_value_piece = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""(?!")|\'\'\'.*?\'\'\'(?!')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[{]|[\]}]|\n|[^"'#\[\]{}\n]+''',
    re.DOTALL,
)
_bare_key = re.compile(r"[A-Za-z0-9_-]+").fullmatch


def entries(text: str) -> list[TomlEntry]:
    """In the order of the file. What is inside an inline table or an array is part of the value it is in."""
    found: list[TomlEntry] = []
    table: Key = ()
    position, counted, line = _after_blank(text, 0), 0, 1
    while position < len(text):
        start = text.rfind("\n", 0, position) + 1
        line += text.count("\n", counted, position)
        counted = position
        if text[position] == "[":
            opening = 2 if text.startswith("[[", position) else 1
            table, position = _key(text, position + opening)
            end = _line_end(text, position)
            found.append(TomlEntry(table, table, line, start, end, end, end))
        else:
            name, position = _key(text, position)
            value_start = _after_spaces(text, position + 1)
            value_end = _value_end(text, value_start)
            end = _line_end(text, value_end)
            found.append(TomlEntry((*table, *name), table, line, start, value_start, value_end, end))
        position = _after_blank(text, end)
    return found


def line_of(found: Sequence[TomlEntry], key: Key) -> int:
    """The line a key is on, or what it is inside of."""
    lines = {entry.key: entry.line for entry in reversed(found)}
    for length in range(len(key), 0, -1):
        if key[:length] in lines:
            return lines[key[:length]]
        below = next((entry.line for entry in found if entry.key[:length] == key[:length]), 0)
        if below:
            return below
    return 1


def split_key(text: str) -> Key:
    """A dotted key; empty when it is none."""
    if '"' not in text and "'" not in text:
        key = tuple(part.strip() for part in text.split("."))
        return key if all(key) else ()
    try:
        key, end = _key(text, 0)
    except (ValueError, TypeError):
        return ()
    return key if end == len(text) else ()


def join_key(key: Key) -> str:
    return ".".join(name if _bare_key(name) else written(name) for name in key)


def written(value: object) -> str:
    """A value as TOML, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(map(written, value))}]"
        case dict():
            inside = ", ".join(f"{join_key((name,))} = {written(below)}" for name, below in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case str():
            return '"' + _needs_an_escape.sub(_escape, value) + '"'
    return str(value)


_needs_an_escape = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(match: "re.Match[str]") -> str:
    """Also what would not be seen, or would turn the text around it, in an editor."""
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _key(text: str, position: int) -> tuple[Key, int]:
    parts: list[str] = []
    while True:
        match = _key_part.match(text, position)
        if match is None:
            raise ValueError(f"no key at {position}")
        parts.append(_unescaped(match[2]) if match[2] else match[1] or match[3] or "")
        position = match.end()
        if not text.startswith(".", position):
            return tuple(parts), position
        position += 1


def _unescaped(basic_string: str) -> str:
    import tomllib

    return str(tomllib.loads(f"k = {basic_string}")["k"])


def _after_blank(text: str, position: int) -> int:
    match = _blank.match(text, position)
    return match.end() if match else position


def _after_spaces(text: str, position: int) -> int:
    while text.startswith((" ", "\t"), position):
        position += 1
    return position


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _value_end(text: str, start: int) -> int:
    """After the last character of the value that begins here, a comment behind it not counted."""
    position, end, depth = start, start, 0
    while (match := _value_piece.match(text, position)) is not None:
        piece = match[0]
        if depth == 0 and (piece == "\n" or piece.startswith("#")):
            break
        depth += (piece in "[{") - (piece in "]}")
        position = match.end()
        if piece != "\n" and not piece.startswith("#") and piece.strip():
            end = position - (len(piece) - len(piece.rstrip()))
    return end
