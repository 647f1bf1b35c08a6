"""Tool calls that a model wrote as words, as small models on local servers do.

What is understood, when it names a tool that was offered and holds nothing but calls:

    ```json                        <tool_call>{"name": …, "arguments": {…}}</tool_call>
    {"name": …, "arguments": {…}}  <function_call>…</function_call>   <tools>…</tools>   <|python_tag|>…
    ```                            [TOOL_CALLS][{…}, {…}]   functools[{…}]
    {"function": …, "parameters": {…}}      as a line or lines of its own

The name stands under `name`, `function`, `tool` or `tool_name` (or inside an object under `function`), the arguments
under `arguments`, `parameters`, `args` or `input`, as an object or as its JSON text. Where nothing but the JSON shows
that it is a call, it needs arguments and no other fields: a model may also show a tool's description. Inside a fence
that is no call, only what is marked counts.

Rules of `WrittenCalls`:

- Words are passed on as they come. From where a call could begin they are held back until it is one, which takes its
  text away for good, or cannot be one any more, which is mostly known after a few characters.
- However a text is cut into pieces, the words and calls are the same. With no call in it the words are the text.
- At most `HELD_AT_MOST` characters are held; a longer call is passed on as words.
"""

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


HELD_AT_MOST = 256 * 1024

_FENCES = ("", "json", "tool_call", "tool_calls", "tool", "function_call")
_TAGS = ("tool_call", "function_call", "tools")
MARKS = (*(f"<{tag}>" for tag in _TAGS), "[TOOL_CALLS]", "functools[", "<|python_tag|>")
_HEAD = 256  # characters after which no more is learnt from how the JSON begins
_GAP = 256  # blanks between the parts of a call
_READ_AGAIN = 1024  # characters; a longer text that turned out to be no call is not searched for another one

_fence_line = re.compile("([a-z_]{0,16})[ \t\r]{0,8}(\n?)")
_line_end = re.compile("[ \t\r]*(\n?)")


class CallCandidate:
    """What may be a call, from its opening on. Once it is decided, `calls` has the result."""

    def __init__(self, opening: str, names: Collection[str]) -> None:
        self.decided = False
        self.calls: list[WrittenCall] = []
        self._opening = opening
        self._names = names
        self._marked = opening in MARKS
        self._closing = "```" if opening.endswith("```") else f"</{opening[1:]}" if opening[1:-1] in _TAGS else ""
        self._pieces = [opening]
        self._size = len(opening)
        self._pending = ""  # read, not yet enough to decide
        self._texts: list[str] = []  # JSON texts that are whole
        self._begin_value()
        self._step = self._fence_line if opening.endswith("```") else self._value
        if opening[-1] in "{[":  # belongs to the JSON
            self._json.append(opening[-1])
            self._extent.feed(opening[-1])

    def feed(self, text: str) -> str:
        """Read on; what stands behind it once it is decided."""
        text = self._pending + text
        self._pending = ""
        while text and not self.decided:
            text = self._step(text)
            self.decided = self.decided or self._size > HELD_AT_MOST
        return text

    def end(self) -> list[WrittenCall]:
        """No more comes: where the JSON is whole, nothing is missing."""
        if self._texts and not self._json:
            self._conclude()
        return self.calls

    def text(self) -> str:
        return "".join(self._pieces) + self._pending

    def released(self) -> tuple[str, str]:
        """It is no call: what of it is words, and what is to be looked at again."""
        text = self.text()
        size = len(self._opening) if len(text) <= _READ_AGAIN else min(len(text), HELD_AT_MOST)
        return text[:size], text[size:]

    def _begin_value(self) -> None:
        self._extent = Extent(() if self._marked else KEYS)
        self._json: list[str] = []
        self._head = ""
        self._step = self._value

    def _take(self, text: str, size: int) -> str:
        self._pieces.append(text[:size])
        self._size += size
        return text[size:]

    def _wait(self, text: str) -> str:
        self._pending = text
        return ""

    def _refuse(self, text: str) -> str:
        self.decided = True
        return text

    def _fence_line(self, text: str) -> str:
        found = _fence_line.match(text)
        assert found is not None
        end, info = found.end(), found[1]
        if found[2] or text[end : end + 1] in ("{", "["):
            self._step = self._value
            return self._take(text, end) if info in _FENCES else self._refuse(text)
        could_be = end == len(text) and any(fence.startswith(info) for fence in _FENCES)
        return self._wait(text) if could_be else self._refuse(text)

    def _value(self, text: str) -> str:
        if not self._json:
            blanks = len(text) - len(text.lstrip())
            if blanks > _GAP or text[blanks : blanks + 1] not in ("", "{", "["):
                return self._refuse(text)
            if blanks == len(text):
                return self._wait(text)
            text = self._take(text, blanks)
        if len(self._head) < _HEAD:
            self._head = ("".join(self._json) + text)[:_HEAD]
            if not could_be_call(self._head, self._names):
                return self._refuse(text)
        end = self._extent.feed(text)
        self._json.append(text[:end])
        rest = self._take(text, end)
        if self._extent.invalid:
            return self._refuse(rest)
        if self._extent.whole:
            self._texts.append("".join(self._json))
            self._json = []
            self._step = self._close
            return self._close(rest)
        return rest

    def _close(self, text: str) -> str:
        if self._marked and not self._closing:
            return self._conclude(text)
        return self._close_line(text) if not self._closing else self._close_with(self._closing, text)

    def _close_line(self, text: str) -> str:
        """Nothing else stands on the last line of a call that only its JSON makes one."""
        found = _line_end.match(text)
        assert found is not None
        if found[1]:
            return self._conclude(self._take(text, found.end()))
        return self._wait(text) if found.end() == len(text) <= _GAP else self._refuse(text)

    def _close_with(self, closing: str, text: str) -> str:
        inner = text.lstrip()
        if inner.startswith(closing):
            return self._conclude(self._take(text, len(text) - len(inner) + len(closing)))
        if closing.startswith(inner) and len(text) <= _GAP:
            return self._wait(text)
        if inner[:1] in ("{", "["):
            rest = self._take(text, len(text) - len(inner))
            self._begin_value()
            return rest
        return self._conclude(text) if self._marked else self._refuse(text)

    def _conclude(self, text: str = "") -> str:
        self.decided = True
        found = [calls_of(value, self._names, marked=self._marked) for value in self._texts]
        if self._size <= HELD_AT_MOST and all(found):
            first, *others = [call for calls in found for call in calls]
            self.calls = [msgspec.structs.replace(first, text=self.text()), *others]
        return text


_HALF_MARKS = tuple(sorted({mark[:size] for mark in MARKS for size in range(1, len(mark))}, key=len, reverse=True))
_ANY_MARK = "|".join(map(re.escape, MARKS))

_opening = re.compile(_ANY_MARK + r"|(?<=\n)[ \t]{0,8}(?:```|\{|\[(?=\s{0,32}\{))")
_opening_in_fence = re.compile(_ANY_MARK + "|(?<=\n)[ \t]{0,8}```")
_line_opening = re.compile(r"(?<=\n)[ \t]{0,8}(?:`{0,2}|\[\s{0,32})\Z")
_special = re.compile(r"[\n<\[]").search


class WrittenCalls:
    """One answer that arrives in pieces. `names` are those of the tools that were offered."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._held = ""  # may be the beginning of an opening
        self._before = "\n"  # the last character passed on
        self._candidate: CallCandidate | None = None
        self._calls: list[WrittenCall] = []
        self._after_call = False
        self._in_fence = False  # of something else, where a line of JSON is an example
        self._given_up = not names

    def feed(self, text: str) -> str:
        """What is certain to be words."""
        if self._given_up:
            return text
        words: list[str] = []
        while text:
            text = self._words(text, words) if self._candidate is None else self._in_candidate(text, words)
        return "".join(words)

    def end(self) -> tuple[str, list[WrittenCall]]:
        """The answer is over: the last words, and the calls."""
        words: list[str] = []
        candidate, self._candidate = self._candidate, None
        if candidate is not None:
            calls = candidate.end()
            self._calls += calls
            words += [] if calls else [candidate.text()]
        words.append(self._held)
        self._held, self._given_up = "", True
        calls, self._calls = self._calls, []
        return "".join(words), calls

    def give_up(self) -> str:
        """The answer has calls of its own, so there are none among its words: what was held back is words too."""
        words, calls = self.end()
        return "".join([call.text for call in calls]) + words

    def _words(self, text: str, words: list[str]) -> str:
        """Pass words on up to where a call could begin; the text after that is returned."""
        if self._after_call:
            text = text.lstrip()
            if not text:
                return ""
            self._after_call, self._before = False, "\n"
        if self._before != "\n" and not self._held and _is_plain(text):
            words.append(text)
            self._before = text[-1]
            return ""
        text = self._before + self._held + text
        self._held = ""
        found = (_opening_in_fence if self._in_fence else _opening).search(text, 1)
        end = _undecided_from(text) if found is None else found.start()
        if end > 1:
            words.append(text[1:end])
            self._before = text[end - 1]
        if found is None:
            self._held = text[end:]
            return ""
        if self._in_fence and found.group().endswith("```"):
            words.append(found.group())
            self._in_fence, self._before = False, "`"
        else:
            self._candidate = CallCandidate(found.group(), self._names)
        return text[found.end() :]

    def _in_candidate(self, text: str, words: list[str]) -> str:
        candidate = self._candidate
        assert candidate is not None
        rest = candidate.feed(text)
        if not candidate.decided:
            return ""
        self._candidate = None
        if candidate.calls:
            self._calls += candidate.calls
            self._after_call = True
            return rest
        released, again = candidate.released()
        words.append(released)
        self._before = released[-1]
        self._in_fence = self._in_fence or released.endswith("```")
        return again + rest


def _is_plain(text: str) -> bool:
    """Whether no call begins in it, for sure: most words are quickly passed on by this."""
    return _special(text) is None and "functools[" not in text and not text.endswith(_HALF_MARKS)


def _undecided_from(text: str) -> int:
    """Where the end of a text begins that could be the beginning of an opening; its length when nothing could."""
    line = _line_opening.search(text, 1)
    if line is not None:
        return line.start()
    if text.endswith(_HALF_MARKS, 1):
        return len(text) - next(len(half) for half in _HALF_MARKS if text.endswith(half, 1))
    return len(text)
