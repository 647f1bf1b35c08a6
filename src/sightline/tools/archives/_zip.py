"""Zip archives: read, and rewritten with one entry replaced or added.

Only what is stored or deflated is unpacked: the other methods can make gigabytes of one read. A zip archive is the
entries, each with a header, then a directory that repeats the headers and has where each entry starts, then an end
record. A rewrite copies entries and directory records byte for byte; only the places change. The end record is made
new, with the old comment.
"""

import io
import os
import stat
import struct
import time
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from sightline.tools.archives._archive import ArchiveEntry
from sightline.tools.archives._limits import (
    ENTRIES,
    ArchiveTrouble,
    check_entry_size,
    check_ratio,
    unfaithful,
    unpacked,
)
from sightline.tools.archives._names import safe_name

_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_UNIX = 3
_RECORD = struct.Struct("<4s24x3H8xL")  # signature; lengths of name, extra and comment; where the entry starts
_END = struct.Struct("<4s4H2LH")
_ZIP64_PLACE = 0xFFFFFFFF
_MOST = 0xFFFF


class ZipContainer:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file)
        check_directory(self._zip, file.seek(0, os.SEEK_END))

    def entries(self) -> Iterator[ArchiveEntry]:
        for place, info in enumerate(self._zip.infolist()):
            yield ArchiveEntry(info.filename, info.file_size, info.is_dir(), special(info), place)

    def read(self, entry: ArchiveEntry) -> bytes:
        info = self._zip.infolist()[entry.place]
        if info.flag_bits & _ENCRYPTED:
            raise ArchiveTrouble(f"entry '{info.filename}' is encrypted. Unpack it with a command and its password.")
        if info.compress_type not in _METHODS:
            raise ArchiveTrouble(
                f"entry '{info.filename}' is packed with method {info.compress_type}, which is not read. "
                "Unpack it with a command."
            )
        check_entry_size(info.file_size, info.filename)
        check_ratio(info.file_size, info.compress_size, f"entry '{info.filename}'")
        with self._zip.open(info) as file:
            return unpacked(file, info.filename, info.file_size)

    def close(self) -> None:
        self._zip.close()
        self._file.close()


def special(info: zipfile.ZipInfo) -> str:
    """Why an entry is not a file, when its mode says so."""
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    kind = stat.S_IFMT(mode)
    if info.is_dir() or kind in (0, stat.S_IFREG, stat.S_IFDIR):
        return ""
    return "a symbolic link" if kind == stat.S_IFLNK else "a device or pipe"


def check_directory(archive: zipfile.ZipFile, size: int) -> None:
    """No entry may lie on another: that is how a small archive declares petabytes."""
    infos = archive.infolist()
    if len(infos) > ENTRIES:
        raise ArchiveTrouble(f"it has more than {ENTRIES} entries. List it with a command.")
    ends = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < ends:
            raise ArchiveTrouble("its entries overlap: refused as a zip bomb.")
        ends = info.header_offset + info.compress_size
    if ends > min(size, archive.start_dir):
        raise ArchiveTrouble("its entries are longer than the file: it is damaged.")


class _Piece(msgspec.Struct):
    """An entry's bytes and its record in the directory."""

    content: bytes
    record: bytes
    order: int  # in the directory, which need not be that in the file


def zip_with(before: bytes, name: str, data: bytes) -> bytes:
    if not before:
        piece = _new_piece(name, data, None, 0)
        return _joined(b"", [piece], b"")
    with zipfile.ZipFile(io.BytesIO(before)) as archive:
        check_directory(archive, len(before))
        infos = archive.infolist()
        old = _place_of(name, infos)
        records = _records(before, archive.start_dir, len(infos))
        starts = sorted(info.header_offset for info in infos)
        prefix = before[: starts[0]] if starts else before[: archive.start_dir]
        ends = dict(zip(starts, [*starts[1:], archive.start_dir], strict=True))
        pieces = [
            _Piece(before[info.header_offset : ends[info.header_offset]], records[order], order)
            for order, info in sorted(enumerate(infos), key=lambda pair: pair[1].header_offset)
        ]
        if old is None:
            pieces.append(_new_piece(name, data, None, len(infos)))
        else:
            at = next(at for at, piece in enumerate(pieces) if piece.order == old)
            pieces[at] = _new_piece(infos[old].filename, data, infos[old], old)
        return _joined(prefix, pieces, archive.comment)


def _place_of(name: str, infos: list[zipfile.ZipInfo]) -> int | None:
    found = [place for place, info in enumerate(infos) if safe_name(info.filename) == name]
    if len(found) > 1:
        raise unfaithful(f"it has {len(found)} entries named '{name}'")
    if not found:
        return None
    info = infos[found[0]]
    if special(info) or info.flag_bits & _ENCRYPTED:
        raise ArchiveTrouble(f"entry '{name}' is {special(info) or 'encrypted'}; it is not replaced.")
    return found[0]


def _records(before: bytes, start: int, count: int) -> list[bytes]:
    records = []
    for _ in range(count):
        signature, *lengths, place = _RECORD.unpack_from(before, start)
        if signature != b"PK\x01\x02":
            raise unfaithful("its directory is damaged")
        if place == _ZIP64_PLACE:
            raise unfaithful("it is in the Zip64 form")
        end = start + _RECORD.size + sum(lengths)
        records.append(before[start:end])
        start = end
    return records


def _new_piece(name: str, data: bytes, old: zipfile.ZipInfo | None, order: int) -> _Piece:
    """An entry as the standard library writes it, with what was recorded of the one it replaces."""
    now = time.localtime()[:6]
    info = zipfile.ZipInfo(name, max(now, (1980, 1, 1, 0, 0, 0)))
    info.compress_type = old.compress_type if old and old.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
    if old is not None:
        info.create_system, info.comment = old.create_system, old.comment
        info.external_attr, info.internal_attr = old.external_attr, old.internal_attr
    else:
        info.external_attr = 0o100644 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as single:
        single.writestr(info, data)
        start = single.start_dir
    made = out.getvalue()
    return _Piece(made[:start], _records(made, start, 1)[0], order)


def _joined(prefix: bytes, pieces: list[_Piece], comment: bytes) -> bytes:
    if len(pieces) >= _MOST:
        raise unfaithful(f"it would have {_MOST} entries or more")
    parts = [prefix]
    size = len(prefix)
    records: list[tuple[int, bytes]] = []
    for piece in pieces:
        moved = piece.record[: _RECORD.size - 4] + struct.pack("<L", size) + piece.record[_RECORD.size :]
        records.append((piece.order, moved))
        parts.append(piece.content)
        size += len(piece.content)
    directory = b"".join(record for _, record in sorted(records))
    end = _END.pack(b"PK\x05\x06", 0, 0, len(pieces), len(pieces), len(directory), size, len(comment))
    return b"".join([*parts, directory, end, comment])
