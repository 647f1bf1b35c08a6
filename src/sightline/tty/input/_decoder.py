"""Bytes from the terminal into keys, pasted text and replies.

- Anything may be cut anywhere, a character or a sequence: for every way of cutting the input, the events are the same.
- No clock in here. While `waiting_ms` is a number, the caller calls `flush` when nothing came for so long. Then a lone
  ESC is the Escape key and `ESC [` is alt+[; a longer half of a sequence stays, because replies do come in two halves.
- A half sequence is dropped when a new ESC or another control comes (which is a key and reaches input), when it is
  longer than 256 bytes, and after a flush also by the first byte that cannot belong to it. It is never read as text.
  While replies are awaited (`expecting`), even a lone ESC may be the beginning of one and stays.
- Pasted text is one event (`_paste`).
- Mouse reports and focus changes are dropped; so are bytes that are no UTF-8.
"""

import codecs
import re
from functools import lru_cache
from typing import Literal

from sightline.tty.input._keys import Key, character_key
from sightline.tty.input._paste import PasteReader
from sightline.tty.input._sequences import Event, TerminalReply, control_key, csi_event, is_typed, ss3_event

ESCAPE_MS = 50
SEQUENCE_LIMIT = 256

_ESC = 0x1B
_STRINGS: dict[int, Literal["osc", "dcs", "apc", ""]] = {0x5D: "osc", 0x50: "dcs", 0x5F: "apc", 0x5E: "", 0x58: ""}
_INTRODUCERS = {0x5B, 0x4F, *_STRINGS}
_REPLY_INTRODUCERS = b"[]P_"

_text = re.compile(rb"[ -~\x80-\xff]+").match
_csi = re.compile(rb"\x1b\[[ -?]*").match
_rxvt_shift = re.compile(rb"\x1b\[\d{1,2}\$").match
_ss3 = re.compile(rb"\x1bO[0-9;]{0,8}").match
_string = re.compile(rb"\x1b[]P_^X][^\x00-\x1f\x7f]*").match
_skipped_string = re.compile(rb"[^\x00-\x1f\x7f]*").match
_skipped_csi = re.compile(rb"[ -?]*").match
_HELD_FINALS = {True: b"cuyn", False: b"ABCDEFGHPQRSZ~u^@cyntMmIO"}
_BACKGROUND_REPLY = b"\x1b]11;"
_BACKGROUND = b"11;rgba:0123456789abcdefABCDEF/#"


class Decoder:
    """`feed` what was read, handle the events; `flush` when nothing came for `waiting_ms`."""

    def __init__(self) -> None:
        self.expecting = False
        self._held = b""
        self._stale = False
        self._skipping = ""
        self._paste: PasteReader | None = None

    @property
    def waiting_ms(self) -> int | None:
        """How long after the last byte `flush` is due; None when there is nothing to decide."""
        if self._paste is not None:
            return self._paste.waiting_ms
        return ESCAPE_MS if (self._held or self._skipping) and not self._stale else None

    def feed(self, data: bytes) -> list[Event]:
        events: list[Event] = []
        position = 0
        while self._stale and position < len(data):
            self._feed_stale(data[position : position + 1], events)
            position += 1
        if position < len(data):
            self._decode(self._held + data[position:], events)
        return events

    def flush(self) -> list[Event]:
        """Nothing came for a while: decide what can be decided."""
        events: list[Event] = []
        if self._paste is not None:
            self._flush_paste(self._paste, events)
        elif self._skipping:
            self._skipping = ""
        elif self._held:
            self._flush_held(events)
        return events

    def _decode(self, data: bytes, events: list[Event]) -> None:
        self._held = b""
        position = 0
        while position < len(data):
            if self._paste is not None:
                rest = self._paste.feed(data[position:], events)
                if rest is None:
                    return
                self._paste, data, position = None, rest, 0
                continue
            following = self._step(data, position, events)
            if following is None:
                self._held = data[position:]
                return
            position = following

    def _step(self, data: bytes, position: int, events: list[Event]) -> int | None:
        """Take one thing from `position`. Where the next begins; None when its end has not come yet."""
        if self._skipping:
            return self._skip(data, position)
        byte = data[position]
        if byte == _ESC:
            return self._escape(data, position, events)
        if byte < 0x20 or byte == 0x7F:
            events.append(control_key(byte))
            return position + 1
        return _take_text(data, position, events)

    def _escape(self, data: bytes, position: int, events: list[Event]) -> int | None:
        if position + 1 == len(data):
            return None
        kind = data[position + 1]
        if kind == 0x5B:
            return self._control_sequence(data, position, events)
        if kind == 0x4F:
            return _take_ss3(data, position, events)
        if kind in _STRINGS:
            return self._control_string(data, position, events)
        if kind == _ESC:
            return self._second_escape(data, position, events)
        return _take_alt(data, position, events)

    def _second_escape(self, data: bytes, position: int, events: list[Event]) -> int | None:
        """Escape typed before something else; but before the sequence of a key, ESC means alt in rxvt and others."""
        if position + 2 == len(data):
            return None
        inner: list[Event] = []
        following: int | None = position + 1
        if data[position + 2] in b"[O":
            following = self._escape(data, position + 1, inner)
        if following is None and not self._skipping:
            return None
        if len(inner) == 1 and isinstance(inner[0], Key) and not inner[0].alt and not inner[0].text:
            held = inner[0]
            events.append(Key(held.name, held.ctrl, True, held.shift, held.meta, "", held.kind))
        else:
            events += [Key("escape"), *inner]
        return following

    def _control_sequence(self, data: bytes, position: int, events: list[Event]) -> int | None:
        if data.startswith(b"\x1b[M", position):
            return _after_mouse(data, position + 3)
        shifted = _rxvt_shift(data, position)
        if shifted is not None:
            return self._finish_csi(data, position, shifted.end(), events)
        match = _csi(data, position)
        end = match.end() if match is not None else position
        if data.startswith(b"\x1b[[", position):
            end = position + 3
        if end - position > SEQUENCE_LIMIT:
            self._skipping = "csi"
            return end
        if end >= len(data):
            return None
        if not 0x40 <= data[end] <= 0x7E:
            return end
        return self._finish_csi(data, position, end + 1, events)

    def _finish_csi(self, data: bytes, position: int, end: int, events: list[Event]) -> int:
        body = data[position + 2 : end].decode("ascii")
        if body == "200~":
            self._paste = PasteReader()
            return end
        event = csi_event(body)
        if event is not None:
            events.append(event)
        return end

    def _control_string(self, data: bytes, position: int, events: list[Event]) -> int | None:
        match = _string(data, position)
        end = match.end() if match is not None else position
        if end - position > SEQUENCE_LIMIT:
            self._skipping = "string"
            return end
        following = _after_string(data, end)
        if following is None or following == end:
            return following
        kind = _STRINGS[data[position + 1]]
        if kind:
            events.append(TerminalReply(kind, data[position + 2 : end].decode("utf-8", "replace")))
        return following

    def _skip(self, data: bytes, position: int) -> int | None:
        """Go past the rest of a sequence that is too long to be of use."""
        match = (_skipped_csi if self._skipping == "csi" else _skipped_string)(data, position)
        end = match.end() if match is not None else position
        if end == len(data):
            return end
        if self._skipping == "csi":
            self._skipping = ""
            return end + (0x40 <= data[end] <= 0x7E)
        following = _after_string(data, end)
        if following is not None:
            self._skipping = ""
        return following

    def _feed_stale(self, byte: bytes, events: list[Event]) -> None:
        """More for what a flush has left: only what can belong to it, one byte at a time."""
        held, self._stale = self._held, False
        if not _may_continue(held, byte[0]):
            self._held = b""
            events += _given_up(held)
            self._decode(byte, events)
            return
        self._decode(held + byte, events)
        self._stale = len(self._held) > len(held)

    def _flush_paste(self, paste: PasteReader, events: list[Event]) -> None:
        rest = paste.flush(events)
        if rest is not None:
            self._paste, self._held = None, rest
            self._flush_held(events)

    def _flush_held(self, events: list[Event]) -> None:
        held = self._held
        while held.startswith(b"\x1b\x1b"):
            events.append(Key("escape"))
            held = held[1:]
        stays = len(held) > 2 and held[1:2] in b"[]P_^X" and not held.startswith((b"\x1b[M", b"\x1b[["))
        if self.expecting:
            stays = stays or held == b"\x1b" or (len(held) == 2 and held[1:] in _REPLY_INTRODUCERS)
        elif stays and held.endswith(b"\x1b"):
            stays, held = False, b"\x1b"  # Escape was typed, and that gives up the half before it
        self._held, self._stale = (held, True) if stays else (b"", False)
        if not stays:
            events += _given_up(held)


def _take_text(data: bytes, position: int, events: list[Event]) -> int | None:
    match = _text(data, position)
    end = match.end() if match is not None else position + 1
    text, used = codecs.utf_8_decode(data[position:end], "ignore", end < len(data))
    events += [key for key in map(_typed, text) if key is not None]
    return position + used if used else None


@lru_cache(maxsize=1024)
def _typed(character: str) -> Key | None:
    return character_key(character) if is_typed(character) else None


def _take_alt(data: bytes, position: int, events: list[Event]) -> int | None:
    byte = data[position + 1]
    if byte < 0x20 or byte == 0x7F:
        events.append(control_key(byte, alt=True))
        return position + 2
    length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
    encoded = data[position + 1 : position + 1 + length]
    try:
        character = encoded.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(encoded) < length and error.reason == "unexpected end of data":
            return None
        events.append(Key("escape"))
        return position + 1
    events.append(character_key(character, alt=True) if is_typed(character) else Key("escape"))
    return position + 1 + length


def _take_ss3(data: bytes, position: int, events: list[Event]) -> int | None:
    match = _ss3(data, position)
    end = match.end() if match is not None else position + 2
    if end == len(data):
        return None
    if not 0x20 <= data[end] <= 0x7E:
        return end
    event = ss3_event(data[position + 2 : end + 1].decode("ascii"))
    if event is not None:
        events.append(event)
    return end + 1


def _after_string(data: bytes, end: int) -> int | None:
    """Where what follows the string begins: after its terminator, or at the control that broke it off."""
    if end == len(data):
        return None
    if data[end] == 0x07:
        return end + 1
    if data[end] != _ESC:
        return end
    if end + 1 == len(data):
        return None
    return end + 2 if data[end + 1] == 0x5C else end


def _after_mouse(data: bytes, position: int) -> int | None:
    """The old mouse report is three bytes, any but controls; a control is a key and ends it."""
    for index in range(position, position + 3):
        if index == len(data):
            return None
        if data[index] < 0x20:
            return index
    return position + 3


def _may_continue(held: bytes, byte: int) -> bool:
    """Whether a byte can belong to the half sequence that a flush has left."""
    if held == b"\x1b":
        return byte in _REPLY_INTRODUCERS
    if held.endswith(b"\x1b"):
        return byte in b"\\[]P_O"
    if len(held) >= SEQUENCE_LIMIT:
        return False
    if held[1:2] == b"[":
        private = held[2:3] == b"?"
        return 0x20 <= byte <= 0x3F or byte in _HELD_FINALS[private]
    if _BACKGROUND_REPLY.startswith(held[: len(_BACKGROUND_REPLY)]):
        return byte in _BACKGROUND or byte in b"\x07\x1b"
    return byte >= 0x20 or byte in b"\x07\x1b"


def _given_up(held: bytes) -> list[Event]:
    """What a half sequence that nothing follows was: a key if it can have been one, else nothing."""
    if held.endswith(b"\x1b"):
        return [Key("escape")]
    if len(held) == 2 and held[0] == _ESC and held[1] in _INTRODUCERS:
        return [character_key(chr(held[1]), alt=True)]
    return []
