"""What may be a call written as words, from its opening on: a mark, a fence, or a line that begins JSON."""

import re
from collections.abc import Collection

import msgspec

from sightline.models._textual._json import KEYS, Extent, WrittenCall, calls_of, could_be_call

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
