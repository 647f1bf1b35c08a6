"""The JSON of a call that was written as words: its calls, how far it extends, and whether it can be one."""

import re
from collections.abc import Collection

import msgspec

_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_BESIDE = ("id", "call_id", "tool_call_id", "type", "index")
KEYS = frozenset((*_NAMES, *_ARGUMENTS, *_BESIDE))
_LONGEST_KEY = max(map(len, KEYS))

# Outside a text: what nests, what begins a text, what ends a key, and what no JSON has there.
_outside = re.compile(r"[^\s\w,.+\-]")
_inside = re.compile(r'["\\]')
_first_field = re.compile(r'\s*(?:\[\s*)?(?:\{\s*(?:"([a-z_]{0,16})(?:(")\s*(?::\s*(?:"([^"\\]*)("?))?)?)?)?)?')


class WrittenCall(msgspec.Struct, frozen=True):
    name: str
    arguments: str  # JSON text of an object
    text: str  # as it was written; empty for the second call and on of those written together


class Extent:
    """How far a JSON object or list goes that arrives in pieces. Inside its texts all is allowed, even line ends.

    With `keys` it is invalid as soon as the object, or one of a list of them, has another key.
    """

    def __init__(self, keys: Collection[str] = ()) -> None:
        self.whole = self.invalid = False
        self._keys = keys
        self._open: list[str] = []  # the brackets that are to come
        self._in_text = self._escaped = False
        self._text = ""  # the last text, as much of it as a key can have

    def feed(self, piece: str) -> int:
        """How much of the piece belongs to it."""
        at = 0
        if self._escaped and piece:
            at, self._escaped = 1, False
        while (found := (_inside if self._in_text else _outside).search(piece, at)) is not None:
            before, at = at, found.end()
            mark = found.group()
            if self._in_text:
                self._add(piece[before : found.start()])
            if mark == "\\" and self._in_text:
                self._escaped = at == len(piece)
                at += 1
            elif mark == '"':
                self._in_text = not self._in_text
                self._text = "" if self._in_text else self._text
            elif not self._continues(mark):
                return found.start() if self.invalid else at
        if self._in_text:
            self._add(piece[at:])
        return len(piece)

    def _add(self, text: str) -> None:
        self._text += text[: _LONGEST_KEY + 1 - len(self._text)]

    def _continues(self, mark: str) -> bool:
        """Whether what comes after a mark outside of a text still belongs to it."""
        if mark == ":":
            outermost = self._open in (["}"], ["]", "}"])
            self.invalid = bool(self._keys) and outermost and self._text not in self._keys
        elif mark in "{[":
            self._open.append("}" if mark == "{" else "]")
        elif not self._open or self._open.pop() != mark:
            self.invalid = True
        else:
            self.whole = not self._open
        return not (self.invalid or self.whole)


def could_be_call(head: str, names: Collection[str]) -> bool:
    """Whether JSON that begins like this can be a call: by its first field, as far as it is there."""
    found = _first_field.match(head)
    assert found is not None
    key, key_closed, value, value_closed = found.groups()
    to_the_end = found.end() == len(head)
    if not key_closed:
        return to_the_end and (key is None or any(known.startswith(key) for known in KEYS))
    if key in _NAMES and value is not None:
        return value in names if value_closed else to_the_end and any(name.startswith(value) for name in names)
    return key in KEYS


def calls_of(text: str, names: Collection[str], *, marked: bool) -> list[WrittenCall]:
    """The calls a JSON text is, one or a list of them; none when it is anything else."""
    value = _decoded(text)
    values = value if isinstance(value, list) else [value]
    calls = [_call_of(one, names, marked=marked) for one in values]
    found = [call for call in calls if call is not None]
    return found if len(found) == len(calls) else []


def _call_of(value: object, names: Collection[str], *, marked: bool) -> WrittenCall | None:
    if not isinstance(value, dict) or not (marked or value.keys() <= KEYS):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        return _call_of(inner, names, marked=marked)
    name_keys = [key for key in _NAMES if key in value]
    argument_keys = [key for key in _ARGUMENTS if key in value]
    if len(name_keys) != 1 or len(argument_keys) != 1 - (marked and not argument_keys):
        return None
    name = value[name_keys[0]]
    arguments = _arguments(value[argument_keys[0]]) if argument_keys else "{}"
    return WrittenCall(name, arguments, "") if isinstance(name, str) and name in names and arguments else None


def _arguments(value: object) -> str:
    """Their JSON text; empty when they are none."""
    import json

    if isinstance(value, str):
        value = _decoded(value) if value.strip() else {}
    if value is None:
        return "{}"
    if not isinstance(value, dict) or (value.get("type") == "object" and "properties" in value):  # a schema
        return ""
    return json.dumps(value, ensure_ascii=False)


def _decoded(text: str) -> object:
    """The value of a JSON text, line ends inside its texts allowed; not a value of any call when it is none."""
    import json

    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return ()
