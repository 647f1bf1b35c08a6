"""Front matter: the YAML between two lines `---` at the top of a Markdown file, read as plain values.

Rules:

- Values are text, numbers, true, false, null, lists and mappings with text as keys. Anchors, aliases and tags are
  refused, and so are names given twice, deep nesting and large documents: nothing in it costs more than its size.
- Lines `key: words`, as most files have them, are read without the YAML library, which takes 12 ms to import.
- Words with a colon in them are text, and so is a star alone. Other agents write descriptions like that, and YAML alone
  would refuse them.
- Whatever is wrong is one NotFrontMatter with one line.
"""

import math
import re
from collections.abc import Callable, Collection

import msgspec

TYPE_CHECKING = False
if TYPE_CHECKING:
    import yaml

Value = object  # str, int, float, bool, None, list[Value] or dict[str, Value]

LARGEST_PAGE = 256 * 1024  # bytes of a whole file
_LARGEST = 64 * 1024  # characters
_MOST_VALUES = 5000
_DEEPEST = 16
_LARGEST_NUMBER = 2**53
_MOST_BRACKETS = 64
_WORDS = {"true": True, "false": False, "null": None}

_line = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]+(.*))?").fullmatch
_in_quotes = re.compile(r"""\"([^"\\]*)\"|'([^']*)'""").fullmatch
_has_colon = re.compile(r":(?:\s|$)").search
_looks_typed = re.compile(r"[-+.]?\d|\.(?:inf|nan)|(?:yes|no|on|off|true|false|null)$", re.IGNORECASE).match
_INDICATORS = "[]{}\"'|>&*!%@`#-?:,"


class NotFrontMatter(Exception):
    """What is wrong, in one line."""


class Page(msgspec.Struct, frozen=True):
    """A file taken apart."""

    fields: dict[str, Value]
    body: str


def page_in(data: bytes, most: int = LARGEST_PAGE, *, words: Collection[str] = (), optional: bool = False) -> Page:
    """Of a file's content. `optional`: one without front matter is all body. `words`: see `read_page`."""
    if len(data) > most:
        raise NotFrontMatter(f"it is larger than {most // 1024} KB")
    if b"\0" in data:
        raise NotFrontMatter("it has a NUL byte")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotFrontMatter("it is not UTF-8 text") from None
    if optional and text.partition("\n")[0].rstrip() != "---":
        return Page({}, text.replace("\r\n", "\n"))
    return read_page(text, words)


def read_page(text: str, words: Collection[str] = ()) -> Page:
    """NotFrontMatter when it has none, or one that cannot be read. `words`: fields that are text, whatever they look
    like: `[issue] [priority]` is no YAML."""
    head, body = _split(text.replace("\r\n", "\n"))
    if len(head) > _LARGEST:
        raise NotFrontMatter(f"its front matter is longer than {_LARGEST // 1024} KB")
    if words:
        head = _quoted(head, lambda name, text: name in words and not _is_yaml_text(text))
    fields = _simple(head)
    return Page(_read_yaml(head) if fields is None else fields, body)


def _split(text: str) -> tuple[str, str]:
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        raise NotFrontMatter("it does not begin with front matter: a line ---, then name: value lines, then ---")
    end = re.search(r"^---[ \t]*$", rest, re.MULTILINE)
    if end is None:
        raise NotFrontMatter("its front matter has no end: a line --- is missing")
    return rest[: end.start()], rest[end.end() :].lstrip("\n")


def _simple(head: str) -> dict[str, Value] | None:
    """None when one of the lines needs YAML."""
    fields: dict[str, Value] = {}
    for line in head.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        parts = _line(line)
        if parts is None or not line.isprintable():
            return None
        key, words = parts[1], (parts[2] or "").rstrip()
        if key in fields:
            raise NotFrontMatter(f"{key} is there twice")
        if words in _WORDS:
            fields[key] = _WORDS[words]
        elif quoted := _in_quotes(words):
            fields[key] = quoted[1] or quoted[2] or ""
        elif words == "*":
            fields[key] = words
        elif not words or words[0] in _INDICATORS or " #" in words or _looks_typed(words):
            value = _json(words)
            if value is None:
                return None
            fields[key] = value
        else:
            fields[key] = words
    return fields


def _json(words: str) -> list[Value] | dict[str, Value] | None:
    """A list or an object on one line, in the part of YAML that is JSON too."""
    if not words.startswith(("[", "{")) or words.count("[") + words.count("{") > _MOST_BRACKETS:
        return None
    try:
        value = msgspec.json.decode(words)
    except msgspec.MsgspecError:
        return None
    return value if isinstance(value, list | dict) else None


def _read_yaml(head: str) -> dict[str, Value]:
    import yaml

    for attempt in (head, _quoted(head, _is_text)):
        try:
            problem = _too_much(attempt)
            root = None if problem else yaml.compose(attempt, Loader=_loader())
        except yaml.YAMLError as error:
            problem = _syntax(error)
            continue
        if problem:
            break
        if not isinstance(root, yaml.MappingNode):
            raise NotFrontMatter("its front matter is not a list of name: value lines")
        return _mapping(root)
    raise NotFrontMatter(problem)


def _loader() -> "type[yaml.SafeLoader]":
    import yaml

    found: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return found


def _is_yaml_text(words: str) -> bool:
    """In quotes, or the beginning of a block."""
    return words[0] in "|>" or (words[0] in "\"'" and words[-1] == words[0] and len(words) > 1)


def _is_text(name: str, words: str) -> bool:
    """Words with a colon in them, and a star."""
    return words == "*" or (words[0] not in _INDICATORS and bool(_has_colon(words)))


def _quoted(head: str, is_text: Callable[[str, str], bool]) -> str:
    """With quotes around the words that are text."""

    def quoted(line: str) -> str:
        parts = _line(line)
        words = (parts[2] or "").rstrip() if parts else ""
        if parts and words and is_text(parts[1], words):
            return f"{parts[1]}: {msgspec.json.encode(words).decode()}"
        return line

    return "\n".join(map(quoted, head.split("\n")))


def _too_much(head: str) -> str:
    """What nothing in it may have, found without building anything; empty where all is well."""
    import yaml

    depth = values = 0
    for event in yaml.parse(head, Loader=_loader()):
        line = event.start_mark.line + 2
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            return f"line {line}: anchors and aliases are not allowed"
        if isinstance(event, yaml.NodeEvent):
            values += 1
            if getattr(event, "tag", None) not in (None, "!"):
                return f"line {line}: tags are not allowed"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return f"line {line}: nested deeper than {_DEEPEST} levels"
        if values > _MOST_VALUES:
            return f"line {line}: more than {_MOST_VALUES} values"
    return ""


def _syntax(error: "yaml.YAMLError") -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 2}: " if mark is not None else ""
    return f"{place}not valid YAML: {getattr(error, 'problem', None) or 'a character that is not allowed'}"


def _mapping(node: "yaml.MappingNode") -> dict[str, Value]:
    import yaml

    found: dict[str, Value] = {}
    for key, value in node.value:
        line = key.start_mark.line + 2
        if not isinstance(key, yaml.ScalarNode):
            raise NotFrontMatter(f"line {line}: a name must be text")
        if key.value in found:
            raise NotFrontMatter(f"line {line}: {key.value[:60]} is there twice")
        found[str(key.value)] = _value(value)
    return found


def _value(node: "yaml.Node") -> Value:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return _scalar(str(node.value), node.tag.rpartition(":")[2])


def _scalar(text: str, kind: str) -> Value:
    """What YAML takes it for; a date and the like is the text it was written as."""
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if kind == "null":
        return None
    try:
        number = int(text) if kind == "int" else float(text) if kind == "float" else None
    except ValueError:
        return text
    return text if number is None or not math.isfinite(number) or abs(number) > _LARGEST_NUMBER else number
