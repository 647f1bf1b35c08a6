"""What a provider's source is, and what all sources share.

A source turns one line of a provider's own stream into events. It is fed lines in order and may store what it needs to
tell a repetition from new text, but only a bounded amount of it. It never raises on what a line holds: a line it cannot
read becomes `unknown`, a line it can read but that has nothing to show becomes nothing.
"""

import re
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from sightline.events import UNKNOWN_CAP, Event, Reasoning, Text, Unknown, Usage
from sightline.providers._resend import Resend, may_repeat
from sightline.text import escape_controls

K = TypeVar("K")
N = TypeVar("N", int, float)
S = TypeVar("S")
T = TypeVar("T")
V = TypeVar("V")
# Reads one kind of line. A table has handlers by the type of line they take, which no type checker can follow.
Handler = Callable[[S, Any, bytes], list[Event]]

# Longer lines are not parsed, only announced. The longest ever captured was 0.3 MB.
LINE_CAP = 16 * 1024 * 1024

# Calls whose result never came (a killed command, a broken stream) must not pile up.
_OPEN_CALLS_AT_MOST = 1024


class DisplayEventSource(Protocol):
    """All a provider must implement to be shown."""

    def parse_events(self, line: bytes) -> list[Event]: ...


class ProviderSource:
    """Bookkeeping shared by our own sources: ids of ours for the provider's calls, and numbers for text blocks."""

    provider = ""

    _calls_seen = 0
    _blocks_seen = 0

    def __init__(self) -> None:
        self._open_calls: dict[str, str] = {}

    def parse_events(self, line: bytes) -> list[Event]:
        raise NotImplementedError

    def end_events(self) -> list[Event]:
        """The stream is over; what was held back, if anything, goes out now."""
        return []

    def new_block(self) -> int:
        self._blocks_seen += 1
        return self._blocks_seen

    def open_call(self, native_id: str) -> str:
        """Our id for a call that begins now."""
        self._calls_seen = seen = self._calls_seen + 1
        ident = f"call-{seen}"
        if native_id:
            open_calls = self._open_calls
            open_calls[native_id] = ident
            if len(open_calls) > _OPEN_CALLS_AT_MOST:
                del open_calls[next(iter(open_calls))]
        return ident

    def call_id(self, native_id: str) -> str:
        """Our id for a call that is still open; a new one for a call never announced, so that no result is lost."""
        return self._open_calls.get(native_id) or self.open_call(native_id)

    def close_call(self, native_id: str) -> str:
        """Our id for a call that ends now."""
        ident = self._open_calls.pop(native_id, "")
        return ident or self.open_call("")

    def show_rest(
        self,
        texts: Resend,
        text: str,
        rest: str,
        block: int,
        *,
        repeats: bool,
        kind: type[Text] | type[Reasoning] = Text,
    ) -> list[Event]:
        """The events of a text that was sent again: the `rest` that is new continues a `block`, or begins one."""
        if rest and (not block or block != self._blocks_seen):
            block = self.new_block()
        texts.show(text, block)
        if not rest:
            return []
        return [may_repeat(), kind(rest, block)] if repeats and kind is Text else [kind(rest, block)]

    def unreadable(self, line: bytes, reason: str) -> list[Event]:
        return [unknown(line, len(line), reason)]


def unknown(head: bytes, length: int, reason: str) -> Unknown:
    """The event for a line that could not be read: its beginning, made printable."""
    import logging  # only ever needed here; not worth its import time on a healthy stream

    raw = escape_controls(head[:UNKNOWN_CAP].decode("utf-8", "backslashreplace"))[:UNKNOWN_CAP]
    logging.getLogger("sightline.providers").debug("unreadable line of %d bytes: %s", length, reason)
    # A decoder quotes what it did not expect, however long.
    return Unknown(raw, length, escape_controls(reason[:400]))


_LONG = 32 * 1024

# Searches that begin with one literal byte run at the speed of memchr; `b"\\\\u" in line` takes three times as long.
_odd_escape = re.compile(rb'\\[^n"\\/t]').search
# That search takes the second half of an escaped backslash for a beginning; this one looks again, from the start.
_even_escapes = re.compile(rb'[^\\]*+(?>(?:\\[n"\\/t][^\\]*+)*)').fullmatch
_c1 = re.compile(rb"\xc2[\x80-\x9f]").search
_bidi = re.compile(rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])").search


def text_at(value: object, *path: str) -> str:
    """The text at the end of a path through nested objects; empty where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def is_suspect(line: bytes) -> bool:
    """Whether strings decoded from this JSON line could hold anything the filter removes.

    In JSON a control character can only arrive as an escape (DEL excepted), anything above ASCII also as itself. So
    most lines are proved clean by a few searches over the bytes, and their strings need no filter.
    """
    if len(line) > _LONG and line.isascii():
        return True  # here the filter itself is faster than the search below, which stops at every escaped newline
    # A byte given as a number is looked for ten times as fast as one given as bytes.
    if 0x7F in line:
        return True
    if 0x5C in line and _odd_escape(line) is not None and not _even_escapes(line):
        return True
    return not line.isascii() and (_c1(line) is not None or _bidi(line) is not None)


def reread(line: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    """A line that this decoder refused, read leniently: it may have half a character. None when it is not ours."""
    try:
        return msgspec.convert(decode_leniently(line), decoder.type)
    except (ValueError, RecursionError):
        return None


def read_line(line: bytes, decoder: msgspec.json.Decoder[T], start: int = 0) -> T | Unknown:
    """A line of a channel, from `start` on, as a struct; the event of an unreadable line when it is none."""
    try:
        return decoder.decode(line[start:])
    except (ValueError, RecursionError) as error:
        value = reread(line[start:], decoder)
        return unknown(line, len(line), str(error)) if value is None else value


def converted(value: object, kind: type[T]) -> T | None:
    """A decoded value as a struct; None when it does not fit."""
    try:
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError):
        return None


def remember(known: dict[K, V], key: K, value: V, at_most: int) -> None:
    """Store a value; the oldest is dropped beyond the bound."""
    known[key] = value
    if len(known) > at_most:
        del known[next(iter(known))]


def add(one: N | None, other: N | None) -> N | None:
    """The sum of what is known."""
    return one + other if one is not None and other is not None else one if other is None else other


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    return Usage(*[add(getattr(one, name), getattr(other, name)) for name in Usage.__struct_fields__])


def decode_leniently(line: bytes) -> object:
    """The JSON value of a line that the strict decoder refused, or ValueError.

    The strict decoder rejects what real streams contain: half of a surrogate pair as an escape, bytes that are not
    UTF-8, bare NaN. The filter takes care of what comes out.
    """
    import json

    return json.loads(line.decode("utf-8", "replace"))


def first_object(head: bytes) -> dict[str, object]:
    """The JSON object on the first line; empty when there is none."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    try:
        value = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
