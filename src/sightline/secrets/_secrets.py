"""Secret values this process knows, and text without them.

Rules:

- A value is known by the environment variable it is in, or by the setting it was read from. Short ones, and those that
  are just a word (`postgres`, `localhost`), are not looked for: they would be found where no secret is meant. Of a
  value with a secret in it (an address with a password, a key of several lines) that part is known as well.
- It is found as it is and in the encodings of `_spellings`. What stands in its place names it, and the encoding.
- What a model writes in place of a value it was not shown becomes that value again in one case: in a file that held it,
  where it takes the place of what held it, and no more often than it stood there.
- A text that comes in pieces is masked as if it came whole: what may be the beginning of a value waits for the next
  piece, or for the end. Where it is not known when that comes, it need not wait: what was released is remembered, and
  if it was a value's beginning, the rest of the value is masked.
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart
from sightline.exec import secret_variables
from sightline.secrets._restored import PLACEHOLDER, RestoredText
from sightline.secrets._spellings import Match, Spellings
from sightline.settings import Settings, stored_keys
from sightline.text import clean_text, credentials_in

HARMLESS = 3  # characters of a value that may be seen
HARMLESS_CODED = 6  # likewise, in another encoding: four bytes at most
_SHORTEST = 8
_LONG = 20  # so long is no word
_MOST_PARTS = 400  # of one value
_mask = re.compile(r"\[secret ([^\[\]\n]{1,200})\]")
_basic = re.compile(r"(?i)\bbasic\s{1,4}([a-z0-9+/]{8,}={0,2})")
# A line of YAML, of JSON or of an .env file.
_setting = re.compile(r"(?:export\s{1,8})?[\"']?([\w.-]{1,100})[\"']?(?:\s{0,8}=\s{0,8}|:\s{1,8})(.+)")
_has_digit = re.compile("[0-9]")


class Secrets:
    """`masked` replaces every known secret value by the name of its variable."""

    def __init__(self, environ: Mapping[str, str], others: Mapping[str, str] | None = None) -> None:
        """`others`: secrets from elsewhere, by what they are called."""
        self._known = {**secret_variables(environ), **(others or {})}
        self._prepare()

    def learn(self, others: Mapping[str, str]) -> None:
        """Secrets that came up since: a key that was pasted. Streams that are open do not look for them."""
        if any(self._known.get(name) != value for name, value in others.items()):
            self._known |= others
            self._prepare()

    def _prepare(self) -> None:
        values: dict[str, str] = {}
        for name, value in self._known.items():
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
        stream.flush(HARMLESS)
        return stream.waiting

    def without_beginning(self, text: str) -> str:
        """A text that was cut, without what may be the beginning of a value at its end; a few characters stay."""
        start = max(0, len(text) - self.longest)
        if self.is_empty or not text:
            return text
        stream = self.stream(at_once=HARMLESS_CODED)
        masked = stream.feed(text[start:])
        return text[:start] + masked + stream.flush(HARMLESS)

    def restored(self, written: str, replaced: str) -> RestoredText:
        """A text for a file with the values of what it replaces there, each no more often than it stood in that."""
        if self.is_empty or PLACEHOLDER not in written:
            return RestoredText(written)
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

        return RestoredText(_mask.sub(value, written), tuple(restored), tuple(left))

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
        """As it is stored. Thinking that is signed stays as it is: it is sent only to the server it came from."""
        if self.is_empty:
            return message
        return msgspec.structs.replace(message, parts=[self._masked_part(part) for part in message.parts])

    def _masked_part(self, part: Any) -> Any:
        if isinstance(part, TextPart):
            return TextPart(self.masked(part.text))
        if isinstance(part, CallPart):
            return msgspec.structs.replace(
                part,
                name=self.masked(part.name),
                args=self.masked_value(part.args),
                native_id=self.masked(part.native_id),
                broken=self.masked(part.broken),
            )
        if isinstance(part, ReasoningPart) and not part.signature and part.opaque is None:
            return msgspec.structs.replace(part, text=self.masked(part.text))
        return part


class MaskedStream:
    """`masked` for a text in pieces: all that was fed, and the end, together are the masked whole."""

    __slots__ = ("_at_once", "_begin", "_held", "_masked", "_released", "_spellings")

    def __init__(self, spellings: Spellings, at_once: int = 0) -> None:
        self._spellings = spellings
        self._at_once = at_once
        self._held = ""  # what may be the beginning of a value, and before it the escape it is within
        self._begin = 0  # where in that a value may begin
        self._released = 0  # characters of that which came out already
        self._masked = False

    def take_masked(self) -> bool:
        """Whether anything was masked in what came out since the last call."""
        masked, self._masked = self._masked, False
        return masked

    @property
    def waiting(self) -> str:
        """What was fed and has not come out."""
        return self._held[self._released :]

    def feed(self, piece: str) -> str:
        text, start = self._held + piece, self._begin
        shown: list[str] = []
        plain, coded = self._spellings.open_at(text, start)
        for match in self._spellings.matches(text, start):
            if match.start >= min(plain, coded):
                break
            shown += (text[max(start, self._released) : match.start], match.shown)
            start, self._masked = match.end, True
            plain, coded = self._spellings.open_at(text, start)
        open_at = min(plain, coded)
        waits = plain < len(text) or self._spellings.count_seen(text, coded) > self._at_once
        released = max(self._released, open_at if waits else len(text))
        shown.append(text[max(start, self._released) : released])
        first = self._spellings.token_at(text, open_at)
        self._held, self._begin, self._released = text[first:], open_at - first, released - first
        return "".join(shown)

    def flush(self, at_most: int | None = None) -> str:
        """What waits, now. With `at_most`, only if no more than so many characters of a value would be seen by it."""
        if at_most is not None and self._spellings.count_seen(self._held, self._begin) > at_most:
            return ""
        if next(self._spellings.matches(self._held, self._begin), None) is not None:
            return self.end()  # a whole value, which might have been the beginning of a longer one
        waiting, self._released = self.waiting, len(self._held)
        return waiting

    def end(self) -> str:
        held, released, start = self._held, self._released, self._begin
        self._held, self._begin, self._released = "", 0, 0
        shown: list[str] = []
        for match in self._spellings.matches(held, start):
            shown += (held[max(start, released) : match.start], match.shown)
            start, self._masked = match.end, True
        return "".join([*shown, held[max(start, released) :]])


def secrets_in(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Secrets in the settings, or named there, whatever they are called: keys of model servers, headers for them; and
    stored keys."""
    found = stored_keys()
    for name, server in settings.models.servers.items():
        if environ.get(server.api_key_env):
            found[server.api_key_env] = environ[server.api_key_env]
        place = f"models.servers.{name}"
        spoken = {f"{place}.headers.{header}": value for header, value in server.headers.items()}
        found |= secret_variables({**spoken, f"{place}.base_url": server.base_url})
    return found


def _parts(name: str, value: str) -> list[tuple[str, str]]:
    """A value, and what in it is a secret by itself: each with its label."""
    whole = value.strip()
    parts = [(name, whole)] if whole else []
    for place, text in (*_secrets_in_json(name, whole), (name, whole)):
        parts += [(place, text), *_lines(place, text), *_credentials(place, text)] if text else []
    labels: dict[str, str] = {}
    for label, part in parts[:_MOST_PARTS]:
        labels.setdefault(part, label)
    return [(label, part) for part, label in labels.items()]


def _lines(name: str, value: str) -> list[tuple[str, str]]:
    """Each line may be shown with a number before it. A key in one line has its line ends escaped."""
    text = value.replace("\\n", "\n") if "-----BEGIN" in value else value
    parts: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines() if "\n" in text else (), 1):
        bare = line.strip()
        setting = _setting.fullmatch(bare)
        if setting is not None and setting[2].strip("="):
            set_to = setting[2].strip("\"',")
            parts += [(f"{name} {setting[1]}", set_to)] if secret_variables({setting[1]: set_to}) else []
        elif len(bare) >= _LONG and "-----" not in bare:
            parts.append((f"{name} line {number}", bare))
    return parts


def _secrets_in_json(name: str, value: str) -> list[tuple[str, str]]:
    """The texts in JSON that are secret by their keys or by themselves."""
    if not value.startswith(("{", "[")):
        return []
    try:
        data = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []
    found: list[tuple[str, str]] = []
    waiting: list[tuple[str, str, Any]] = [("", "", data)]
    while waiting:
        above, key, item = waiting.pop()
        if isinstance(item, dict):
            waiting += [(key, str(inner), each) for inner, each in item.items()]
        elif isinstance(item, list):
            waiting += [(above, key, each) for each in item]
        elif isinstance(item, str):
            # {"gitlab-token": {"gitlab.com": "…"}}: what is below a host is named above it
            named = {key: item, **({above: item} if "." in key else {})}
            found += [(f"{name} {each}", item) for each in list(secret_variables(named))[:1]]
    return found


def _credentials(name: str, value: str) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    for kind, found in credentials_in(value):
        if kind == "user" and not (name.upper().rstrip("_0123456789").endswith("DSN") and _has_digit.search(found)):
            continue
        spoken = [found, unquote(found)]
        if kind == "password" and "&" in found:
            spoken.append(found.partition("&")[0])
        if kind == "hook":
            spoken.append(found.rstrip("/").rpartition("/")[2])
        parts += [(f"{name} {kind}", each) for each in dict.fromkeys(spoken) if each != value]
    for encoded in _basic.findall(value) or ([value] if name.endswith(" auth") else []):
        parts += [(f"{name} password", password) for password in _decoded_password(encoded)]
    return parts


def _decoded_password(encoded: str) -> list[str]:
    """Of `user:password` in base64, as HTTP and registries of images have it."""
    try:
        user, colon, password = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        return []
    return [password] if user and colon else []


def _is_looked_for(value: str) -> bool:
    """Whether finding it somewhere can only mean the secret."""
    if len(value) < _SHORTEST:
        return False
    return len(value) >= _LONG or not value.isalpha()
