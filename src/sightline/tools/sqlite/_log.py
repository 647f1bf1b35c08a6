"""The write-ahead log beside a database: the pages that were committed and are not in the file yet.

Its format: a head of 32 bytes, then frames, each a head of 24 bytes and a page. A frame counts when it has the salts of
the log's head and the checksum over all before it is right; its page is committed with the next frame that has the
size of the database in its head.
"""

import struct
from collections.abc import Iterator

HEADER = 32
_FRAME = 24
_LITTLE, _BIG = 0x377F0682, 0x377F0683
_VERSION = 3007000


def bring_in(image: bytearray, log: bytes, most: int) -> None:
    """Put the log's pages into the database. OverflowError when it would become larger than that."""
    if len(log) < HEADER:
        return
    magic, version, page, _, *salts = struct.unpack(">6I", log[:24])
    if magic not in (_LITTLE, _BIG) or version != _VERSION or not _is_page_size(page):
        return
    pending: dict[int, int] = {}
    for number, size, at in _frames(log, page, magic == _BIG, (salts[0], salts[1])):
        if max(number, size) * page > most:
            raise OverflowError
        pending[number] = at
        if size:
            _put(image, log, page, pending)
            _resize(image, size * page)
            pending = {}


def _put(image: bytearray, log: bytes, page: int, frames: dict[int, int]) -> None:
    for number, at in frames.items():
        start = (number - 1) * page
        if start > len(image):
            _resize(image, start)
        image[start : start + page] = log[at : at + page]


def _resize(image: bytearray, size: int) -> None:
    if size < len(image):
        del image[size:]
    else:
        image.extend(bytes(size - len(image)))


def _frames(log: bytes, page: int, big: bool, salts: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """The number of a page, the size of the database in pages or 0, and where the page is."""
    sums = _summed(log[:24], big, (0, 0))
    if sums != struct.unpack(">2I", log[24:HEADER]):
        return
    for at in range(HEADER, len(log) - _FRAME - page + 1, _FRAME + page):
        number, size, *rest = struct.unpack(">6I", log[at : at + _FRAME])
        sums = _summed(log[at : at + 8], big, sums)
        sums = _summed(log[at + _FRAME : at + _FRAME + page], big, sums)
        if number == 0 or (rest[0], rest[1]) != salts or (rest[2], rest[3]) != sums:
            return
        yield number, size, at + _FRAME


def _summed(data: bytes, big: bool, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    for first, second in struct.iter_unpack(">2I" if big else "<2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65536 and size & (size - 1) == 0
