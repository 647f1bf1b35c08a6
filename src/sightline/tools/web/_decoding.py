"""The bytes of a body, unpacked as they come, up to a limit."""

import zlib
from collections.abc import Callable

from sightline.tools._tool import ToolError

ACCEPTED = "gzip, deflate"
_GZIP, _ZLIB, _BARE = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_PIECE = 1024 * 1024


class DecodedBody:
    """Feed it what was received; `data` is what that means. `full`: it has as much as it takes, and the rest is cut."""

    def __init__(self, encoding: str, most: int) -> None:
        self._most = most
        self._unpacker = _unpacker(encoding)
        self.data = bytearray()
        self.full = False

    def feed(self, received: bytes) -> None:
        if self._unpacker is None:
            self._add(received)
            return
        try:
            self._unpacker.feed(received, self._add)
        except zlib.error:
            raise ToolError("The compressed page is damaged, so it cannot be shown.") from None

    def _add(self, piece: bytes) -> bool:
        """False when it was the last that fits."""
        room = self._most - len(self.data)
        self.data += piece[:room]
        self.full = self.full or len(piece) > room
        return not self.full


class _Unpacker:
    """gzip or deflate, in pieces of at most a megabyte, so that a small body cannot become a huge one unseen."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._inner = zlib.decompressobj(_GZIP) if gzip else None
        self._start = b""

    def feed(self, received: bytes, add: Callable[[bytes], bool]) -> None:
        rest = received
        if self._inner is None:
            self._start += received
            if len(self._start) < 2:
                return
            self._inner, rest = zlib.decompressobj(_deflate_bits(self._start)), self._start
        while rest:
            if not add(self._inner.decompress(rest, _PIECE)):
                return
            rest = self._inner.unconsumed_tail
            if self._inner.eof:
                rest = self._next_member(self._inner.unused_data)

    def _next_member(self, rest: bytes) -> bytes:
        """A gzip body may be several in a row; what follows and is none is ignored, as zeros at the end are."""
        if not self._gzip or not rest.startswith(b"\x1f\x8b"):
            return b""
        self._inner = zlib.decompressobj(_GZIP)
        return rest


def _deflate_bits(start: bytes) -> int:
    """Some servers leave out the header that belongs to it."""
    has_header = start[0] & 0x0F == 8 and (start[0] << 8 | start[1]) % 31 == 0
    return _ZLIB if has_header else _BARE


def _unpacker(encoding: str) -> _Unpacker | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return _Unpacker(gzip=True)
        case "deflate":
            return _Unpacker(gzip=False)
    raise ToolError(f"The page is compressed as {encoding[:40]!a}, which is not supported.")
