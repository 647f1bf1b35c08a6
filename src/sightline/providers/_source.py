"""What a provider's source is, and what all sources share.

A source turns one line of a provider's own stream into events. It is fed lines in order and may keep what it needs to
tell a repetition from news, but only a bounded amount of it. It never raises on what a line holds: a line it cannot
read becomes `unknown`, a line it can read but that has nothing to show becomes nothing.
"""

import re
from typing import Any, Protocol

import msgspec

from sightline.events import UNKNOWN_CAP, Event, Unknown
from sightline.text import escape_controls

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

    def unreadable(self, line: bytes, reason: str) -> list[Event]:
        return [unknown(line, len(line), reason)]


def unknown(head: bytes, length: int, reason: str) -> Unknown:
    """The event for a line nobody could read: its beginning, made printable."""
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


def text_at(value: Any, *path: str) -> str:
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


def reread(line: bytes, kind: Any) -> Any:
    """A line the strict decoder refused, as a value of this type: it may have half a character, or another type where
    ours is expected. None when it is not ours."""
    try:
        return msgspec.convert(decode_leniently(line), kind)
    except (ValueError, RecursionError):
        return None


def decode_leniently(line: bytes) -> Any:
    """The JSON value of a line that the strict decoder refused, or ValueError.

    The strict decoder rejects what real streams contain: half of a surrogate pair as an escape, bytes that are not
    UTF-8, bare NaN. The filter takes care of what comes out.
    """
    import json

    return json.loads(line.decode("utf-8", "replace"))
