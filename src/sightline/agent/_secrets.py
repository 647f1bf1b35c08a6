"""Secret values this process knows, and text without them.

Rules:

- A value is known by the environment variable it is in, or by the setting it was read from. Short ones, and those that
  are just a word (`postgres`, `localhost`), are not looked for: they would be found where nobody meant a secret. Of a
  value with a secret in it (an address with a password, a key of several lines) that part is known as well.
- It is found as it is and in the encodings of `_spellings`. What stands in its place names it, and the encoding.
- What a model writes in place of a value it was not shown becomes that value again in one case: in a file that held it,
  where it takes the place of what held it, and no more often than it stood there.
- A text that comes in pieces is masked as if it came whole: what may be the beginning of a value waits for the next
  piece, or for the end. Where nobody can say when that comes, it need not wait: what was let out is remembered, and
  if it was a value's beginning, the rest of the value is masked.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.agent._spellings import Match, Spellings
from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart
from sightline.exec import secret_variables
from sightline.settings import Settings
from sightline.text import clean_text

if TYPE_CHECKING:
    from sightline.tools import Restored

HARMLESS = 3  # characters of a value that may be seen
HARMLESS_CODED = 6  # likewise, in another encoding: four bytes at most
_SHORTEST = 8
_LONG = 20  # so long is no word
_mask = re.compile(r"\[secret ([^\[\]\n]{1,200})\]")
_password = re.compile(r"://[^\s/:@?#]*:([^\s/@?#]+)@")
_credential = re.compile(r"(?i)(?:\bauthorization:\s*)?\b(?:bearer|basic|token)\s+(\S+)")


class Secrets:
    """`masked` replaces every known secret value by the name of its variable."""

    def __init__(self, environ: Mapping[str, str], others: Mapping[str, str] | None = None) -> None:
        """`others`: secrets from elsewhere, by what they are called."""
        values: dict[str, str] = {}
        for name, value in {**secret_variables(environ), **(others or {})}.items():
            for label, part in _parts(name, value):
                # Without what is removed from every text that is shown, such as the carriage returns in a key.
                values |= {form: label for form in (part, clean_text(part)) if _is_looked_for(form)}
        self._spellings = Spellings(values)
        self._labels = frozenset(values.values())
        self.is_empty = not values
        self.longest = self._spellings.longest  # bytes that one may take up in a text

    def masked(self, text: str) -> str:
        if self.is_empty or not text:
            return text
        shown: list[str] = []
        start = 0
        for match in self._spellings.matches(text):
            shown += (text[start : match.start], match.shown)
            start = match.end
        return "".join([*shown, text[start:]]) if shown else text

    def masked_from(self, text: str, start: int) -> str:
        """A text from there on, masked. A value that began before that place is masked, too."""
        for match in self._spellings.matches(text):
            if match.end > start:
                return self.masked(text[min(start, match.start) :])
        return text[start:]

    def places(self, text: str) -> Iterator[Match]:
        """Where values stand in a text, and what is shown instead."""
        return iter(()) if self.is_empty else self._spellings.matches(text)

    def open_end(self, text: str) -> str:
        """What may be the beginning of a value at the end of a text, if it is more than a few characters."""
        stream = self.stream(at_once=HARMLESS_CODED)
        stream.feed(text)
        stream.let_out(HARMLESS)
        return stream.waiting

    def without_beginning(self, text: str) -> str:
        """A text that was cut, without what may be the beginning of a value at its end; a few characters stay."""
        start = max(0, len(text) - self.longest)
        if self.is_empty or not text:
            return text
        stream = self.stream(at_once=HARMLESS_CODED)
        masked = stream.feed(text[start:])
        return text[:start] + masked + stream.let_out(HARMLESS)

    def restored(self, written: str, replaced: str) -> "Restored":
        """A text for a file with the values of what it replaces there, each no more often than it stood in that."""
        from sightline.tools import Restored

        if self.is_empty or "[secret " not in written:
            return Restored(written)
        held: dict[str, list[str]] = {}
        for match in self._spellings.matches(replaced):
            held.setdefault(match.mask, []).append(replaced[match.start : match.end])
        restored: list[str] = []
        left: list[str] = []

        def value(match: re.Match[str]) -> str:
            if held.get(match[0]):
                restored.append(match[1])
                return held[match[0]].pop(0)
            if match[1] in self._labels:
                left.append(match[1])
            return match[0]

        return Restored(_mask.sub(value, written), tuple(restored), tuple(left))

    def stream(self, *, at_once: int = 0) -> "MaskedStream":
        """For one text that comes in pieces. `at_once`: so many characters do not wait that may be the beginning of a
        value in another encoding; nearly every character may."""
        return MaskedStream(self._spellings, at_once)

    def masked_value(self, value: Any) -> Any:
        """JSON data with every text in it masked."""
        if self.is_empty:
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
        if self.is_empty:
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

    __slots__ = ("_at_once", "_begin", "_held", "_spellings", "_told")

    def __init__(self, spellings: Spellings, at_once: int = 0) -> None:
        self._spellings = spellings
        self._at_once = at_once
        self._held = ""  # what may be the beginning of a value, and before it the escape it is within
        self._begin = 0  # where in that a value may begin
        self._told = 0  # characters of that which were let out already

    @property
    def waiting(self) -> str:
        """What was fed and has not come out."""
        return self._held[self._told :]

    def feed(self, piece: str) -> str:
        text, start = self._held + piece, self._begin
        shown: list[str] = []
        plain, coded = self._spellings.open_at(text, start)
        for match in self._spellings.matches(text, start):
            if match.start >= min(plain, coded):
                break
            shown += (text[max(start, self._told) : match.start], match.shown)
            start = match.end
            plain, coded = self._spellings.open_at(text, start)
        open_at = min(plain, coded)
        waits = plain < len(text) or self._spellings.count_seen(text, coded) > self._at_once
        told = max(self._told, open_at if waits else len(text))
        shown.append(text[max(start, self._told) : told])
        first = self._spellings.token_at(text, open_at)
        self._held, self._begin, self._told = text[first:], open_at - first, told - first
        return "".join(shown)

    def let_out(self, at_most: int | None = None) -> str:
        """What waits, now. With `at_most`, only if no more than so many characters of a value would be seen by it."""
        if at_most is not None and self._spellings.count_seen(self._held, self._begin) > at_most:
            return ""
        if next(self._spellings.matches(self._held, self._begin), None) is not None:
            return self.end()  # a whole value, which might have been the beginning of a longer one
        waiting, self._told = self.waiting, len(self._held)
        return waiting

    def end(self) -> str:
        held, told, start = self._held, self._told, self._begin
        self._held, self._begin, self._told = "", 0, 0
        shown: list[str] = []
        for match in self._spellings.matches(held, start):
            shown += (held[max(start, told) : match.start], match.shown)
            start = match.end
        return "".join([*shown, held[max(start, told) :]])


def secrets_in(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """What the settings say or name that is secret, whatever it is called: keys of model servers, headers for them."""
    found: dict[str, str] = {}
    for name, server in settings.models.servers.items():
        if environ.get(server.api_key_env):
            found[server.api_key_env] = environ[server.api_key_env]
        place = f"models.servers.{name}"
        spoken = {f"{place}.headers.{header}": value for header, value in server.headers.items()}
        found |= secret_variables({**spoken, f"{place}.base_url": server.base_url})
    return found


def _parts(name: str, value: str) -> list[tuple[str, str]]:
    """A value, and what in it is a secret by itself: each with its label."""
    parts = [(name, value.strip())] if value.strip() else []
    if "\n" in value.strip():  # each line may be shown with a number before it
        lines = enumerate(value.strip().splitlines(), 1)
        parts += [
            (f"{name} line {number}", line) for number, line in lines if len(line) >= _LONG and "-----" not in line
        ]
    for pattern, label in ((_password, "password"), (_credential, "token")):
        parts += [(f"{name} {label}", match[1]) for match in pattern.finditer(value) if match[1] != value]
    return parts


def _is_looked_for(value: str) -> bool:
    """Whether finding it somewhere can only mean the secret."""
    if len(value) < _SHORTEST:
        return False
    return len(value) >= _LONG or not value.isalpha()
