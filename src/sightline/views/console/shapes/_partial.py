"""A reader of a JSON object that is still being written: the fields so far, the last perhaps only begun.

- Each call of `read` costs what is new. What was read is not read again.
- Only fields of the object itself that are texts are collected.
- Text that is not JSON ends the reading; the fields found until then stay.
"""

import json
import re

import msgspec

_space = re.compile(r"[\s,]*").match
_colon = re.compile(r"\s*:\s*").match
_characters = re.compile(r'(?:[^"\\]+|\\u[0-9a-fA-F]{4}|\\[^u])*', re.DOTALL).match
_half_a_pair = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_other = re.compile(r'[^"\[\]{},]+').match


class Growing(msgspec.Struct):
    """A text as far as it was written."""

    parts: list[str] = []
    complete: bool = False

    @property
    def text(self) -> str:
        if len(self.parts) > 1:
            self.parts = ["".join(self.parts)]
        return self.parts[0] if self.parts else ""


class Partial:
    """The reader. `fields` holds the texts by their names, in order."""

    def __init__(self) -> None:
        self.fields: dict[str, Growing] = {}
        self.broken = False
        self._at = 0
        self._step = self._opening
        self._key = Growing()
        self._depth = 0
        self._quoted = False  # inside a text within a skipped value

    def read(self, written: str) -> None:
        """Read on; `written` is the whole text so far."""
        try:
            while not self.broken and self._step(written):
                pass
        except ValueError:
            self.broken = True

    def _opening(self, written: str) -> bool:
        self._skip(written)
        if self._at >= len(written):
            return False
        self.broken = written[self._at] != "{"
        self._at += 1
        self._step = self._name
        return True

    def _name(self, written: str) -> bool:
        self._skip(written)
        if self._at >= len(written):
            return False
        if written[self._at] != '"':  # the object is closed, or it never was one
            self.broken = True
            return False
        self._at += 1
        self._key, self._step = Growing(), self._name_text
        return True

    def _name_text(self, written: str) -> bool:
        if not self._take(written, self._key):
            return False
        self._step = self._value
        return True

    def _value(self, written: str) -> bool:
        found = _colon(written, self._at)
        if found is None or found.end() >= len(written):
            return False
        self._at = found.end()
        if written[self._at] == '"':
            self._at += 1
            self.fields[self._key.text] = Growing()
            self._step = self._text
        else:
            self._depth, self._quoted, self._step = 0, False, self._skipped
        return True

    def _text(self, written: str) -> bool:
        if not self._take(written, self.fields[self._key.text]):
            return False
        self._step = self._name
        return True

    def _skipped(self, written: str) -> bool:
        """Skip a value that is not a text."""
        if self._at >= len(written):
            return False
        if self._quoted:
            found = _characters(written, self._at)
            self._at = found.end() if found else self._at
            if self._at >= len(written) or written[self._at] != '"':
                return False
            self._at, self._quoted = self._at + 1, False
            return True
        found = _other(written, self._at)
        if found is not None:
            self._at = found.end()
            return True
        mark = written[self._at]
        if not self._depth and mark in ",}]":
            self._step = self._name
            return True
        self._at += 1
        self._quoted = mark == '"'
        self._depth += (mark in "[{") - (mark in "]}")
        return True

    def _take(self, written: str, into: Growing) -> bool:
        """Read more of a text. True at its end."""
        found = _characters(written, self._at)
        raw = found[0] if found else ""
        ended = written[self._at + len(raw) :][:1] == '"'
        if not ended:
            raw = _half_a_pair.sub("", raw)
        if raw:
            into.parts.append(json.loads(f'"{raw}"', strict=False))
            self._at += len(raw)
        if ended:
            self._at += 1
            into.complete = True
        return ended

    def _skip(self, written: str) -> None:
        found = _space(written, self._at)
        self._at = found.end() if found else self._at
