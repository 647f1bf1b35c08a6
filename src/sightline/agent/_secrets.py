"""Secret values this process knows, and text without them.

Rules:

- A value is known by the environment variable it is in. Short ones, and those that are just a word (`postgres`,
  `localhost`), are not looked for: they would be found where nobody meant a secret.
- What a model writes into a file in place of a value it was not shown becomes that value again: it gives back what it
  read.
- A text that comes in pieces is masked as if it came whole: what may be the beginning of a value waits for the next
  piece, or for the end. Where nobody can say when that comes, it need not wait: what was let out is remembered, and
  if it was a value's beginning, the rest of the value is masked.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart
from sightline.exec import filtered_environment

_SHORTEST = 8
_LONG = 20  # so long is no word
_written = re.compile(r"\[secret ([A-Za-z_][A-Za-z0-9_]*)\]")


class Secrets:
    """`masked` replaces every known secret value by the name of its variable."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        kept = filtered_environment(environ)
        values = {value: name for name, value in environ.items() if name not in kept and _is_looked_for(value)}
        self.names = values
        self._values = {name: value for value, name in values.items()}
        longest_first = sorted(values, key=len, reverse=True)
        self.longest = max((len(value.encode("utf-8", "replace")) for value in values), default=0)  # bytes
        self.any = re.compile("|".join(map(re.escape, longest_first))) if values else None

    def masked(self, text: str) -> str:
        if self.any is None or not text:
            return text
        return self.any.sub(lambda match: self.mask(match[0]), text)

    def masked_from(self, text: str, start: int) -> str:
        """A text from there on, masked. A value that began before that place is masked, too."""
        for match in self.any.finditer(text) if self.any is not None else ():
            if match.end() > start:
                return self.masked(text[min(start, match.start()) :])
        return text[start:]

    def mask(self, value: str) -> str:
        return f"[secret {self.names[value]}]"

    def restored(self, value: Any) -> Any:
        """JSON data for a file, with the values that stood where a model was shown their names."""
        if self.any is None:
            return value
        if isinstance(value, str):
            return _written.sub(lambda match: self._values.get(match[1], match[0]), value)
        if isinstance(value, dict):
            return {key: self.restored(item) for key, item in value.items()}
        return value

    def stream(self) -> "MaskedStream":
        """For one text that comes in pieces."""
        return MaskedStream(self)

    def masked_value(self, value: Any) -> Any:
        """JSON data with every text in it masked."""
        if self.any is None:
            return value
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, dict):
            return {self.masked_value(key): self.masked_value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.masked_value(item) for item in value]
        return value

    def masked_message(self, message: AssistantMessage) -> AssistantMessage:
        """As it is kept. Thinking that is signed stays as it is: it goes back to where it came from only."""
        if self.any is None:
            return message
        return msgspec.structs.replace(message, parts=[self._masked_part(part) for part in message.parts])

    def _masked_part(self, part: Any) -> Any:
        if isinstance(part, TextPart):
            return TextPart(self.masked(part.text))
        if isinstance(part, CallPart):
            return msgspec.structs.replace(part, args=self.masked_value(part.args), broken=self.masked(part.broken))
        if isinstance(part, ReasoningPart) and not part.signature and part.opaque is None:
            return msgspec.structs.replace(part, text=self.masked(part.text))
        return part


class MaskedStream:
    """`masked` for a text in pieces: all that was fed, and the end, together are the masked whole."""

    __slots__ = ("_held", "_secrets", "_told")

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = ""  # what may be the beginning of a value
        self._told = 0  # characters of that which were let out already

    @property
    def waiting(self) -> str:
        """What was fed and has not come out."""
        return self._held[self._told :]

    def feed(self, piece: str) -> str:
        known = self._secrets.any
        if known is None:
            return piece
        text, start = self._held + piece, 0
        shown: list[str] = []
        while True:
            open_at = self._open_at(text, start)
            match = known.search(text, start)
            if match is None or match.start() >= open_at:
                break
            shown += (text[max(start, self._told) : match.start()], self._secrets.mask(match[0]))
            start = match.end()
        shown.append(text[max(start, self._told) : open_at])
        self._held, self._told = text[open_at:], max(0, self._told - open_at)
        return "".join(shown)

    def let_out(self, at_most: int | None = None) -> str:
        """What waits, now. With `at_most`, only if no more than so many characters of a value would be seen by it."""
        if at_most is not None and len(self._held) > at_most:
            return ""
        if self._secrets.masked(self._held) != self._held:
            return self.end()  # a whole value, which might have been the beginning of a longer one
        waiting, self._told = self.waiting, len(self._held)
        return waiting

    def end(self) -> str:
        held, told, start = self._held, self._told, 0
        self._held, self._told = "", 0
        shown: list[str] = []
        for match in self._secrets.any.finditer(held) if self._secrets.any is not None else ():
            shown += (held[max(start, told) : match.start()], self._secrets.mask(match[0]))
            start = match.end()
        return "".join([*shown, held[max(start, told) :]])

    def _open_at(self, text: str, start: int) -> int:
        """Where the rest of the text may be the beginning of a value; its end when it cannot."""
        found = len(text)
        for value in self._secrets.names:
            at = text.find(value[0], max(start, len(text) - len(value) + 1), found)
            while at >= 0:
                if value.startswith(text[at:]):
                    found = at
                    break
                at = text.find(value[0], at + 1, found)
        return found


def _is_looked_for(value: str) -> bool:
    """Whether finding it somewhere can only mean the secret."""
    if len(value) < _SHORTEST:
        return False
    return len(value) >= _LONG or not value.isalpha()
