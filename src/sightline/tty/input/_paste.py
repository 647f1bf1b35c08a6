"""Pasted text between its two marks, however it is cut and whether or not its end ever comes.

- Line ends become newlines; no control but tab and newline is left, so a paste cannot carry a sequence to a terminal.
- What has come is handed over in parts when it is larger than `PASTE_LIMIT`, and after a second of silence.
- After a silence, a control or a sequence that is not the end mark is a key: the end mark was lost, and the paste has
  ended. A letter or a line end then still counts as pasted: taking a pasted line end for Enter would do harm.
"""

import codecs

from sightline.text import clean_text
from sightline.tty.input._keys import Paste
from sightline.tty.input._sequences import Event

PASTE_MS = 1000
MARK_MS = 50
PASTE_LIMIT = 4 * 1024 * 1024  # bytes after which a paste that has not ended is delivered in parts

_END = b"\x1b[201~"


class PasteReader:
    """One paste. `feed` and `flush` return None until it ends, and then the bytes that follow it."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._parts = 0
        self._silent = False

    @property
    def waiting_ms(self) -> int | None:
        """How long after the last byte `flush` is due."""
        if not self._silent:
            return PASTE_MS
        return MARK_MS if self._data.startswith(b"\x1b") else None

    def feed(self, data: bytes, events: list[Event]) -> bytes | None:
        if self._silent:
            came = bytes(self._data) + data
            if came != _END and _END.startswith(came):
                self._data += data
                return None
            if came[0] < 0x20 and came[0] not in b"\t\r\n" and not came.startswith(_END):
                return came
            self._silent = False
        return self._add(data, events)

    def flush(self, events: list[Event]) -> bytes | None:
        if self._silent and self._data.startswith(b"\x1b"):
            return bytes(self._data)
        mark = next(size for size in range(len(_END), -1, -1) if self._data.endswith(_END[:size]))
        _, complete = codecs.utf_8_decode(self._data[: len(self._data) - mark], "replace", False)
        if complete:
            events.append(self._part(complete))
        self._silent = True
        return None

    def _add(self, data: bytes, events: list[Event]) -> bytes | None:
        searched = max(0, len(self._data) - len(_END))
        self._data += data
        end = self._data.find(_END, searched)
        while not 0 <= end <= PASTE_LIMIT and len(self._data) >= PASTE_LIMIT + len(_END):
            cut = _boundary(self._data, PASTE_LIMIT)
            events.append(self._part(cut))
            end -= cut if end >= 0 else 0
        if end < 0:
            return None
        if end or not self._parts:
            events.append(self._part(end))
        return bytes(self._data[len(_END) :])

    def _part(self, size: int) -> Paste:
        text = self._data[:size].decode("utf-8", "replace")
        del self._data[:size]
        self._parts += 1
        return Paste(clean_text(text.replace("\r\n", "\n").replace("\r", "\n")))


def _boundary(data: bytearray, cut: int) -> int:
    """At most `cut`, not inside a character, nor between CR and LF."""
    for back in range(4):
        if data[cut - back] & 0xC0 != 0x80:
            cut -= back
            break
    return cut - (data[cut - 1] == 0x0D)
