"""A zip archive with one entry replaced or added.

A zip archive is the entries, each with a header, then a directory that repeats the headers and says where each entry
starts, then an end record that says where the directory starts. Entries and directory records are copied byte for
byte; only the places change. The end record is made new, with the old comment.
"""

import io
import struct
import time
import zipfile

import msgspec

from sightline.tools.archives._limits import ArchiveTrouble
from sightline.tools.archives._names import safe_name
from sightline.tools.archives._write import refuse_unfaithful
from sightline.tools.archives._zip import check_directory, special

_RECORD = struct.Struct("<4s24x3H8xL")  # signature; lengths of name, extra and comment; where the entry starts
_END = struct.Struct("<4s4H2LH")
_ZIP64_PLACE = 0xFFFFFFFF
_MOST = 0xFFFF
_ENCRYPTED = 0x1


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
        raise refuse_unfaithful(f"it has {len(found)} entries named '{name}'")
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
            raise refuse_unfaithful("its directory is damaged")
        if place == _ZIP64_PLACE:
            raise refuse_unfaithful("it is in the Zip64 form")
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
        info.create_system, info.external_attr, info.internal_attr = (
            old.create_system,
            old.external_attr,
            old.internal_attr,
        )
        info.comment = old.comment
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
        raise refuse_unfaithful(f"it would have {_MOST} entries or more")
    parts = [prefix]
    size = len(prefix)
    records: list[tuple[int, bytes]] = []
    for piece in pieces:
        records.append(
            (piece.order, piece.record[: _RECORD.size - 4] + struct.pack("<L", size) + piece.record[_RECORD.size :])
        )
        parts.append(piece.content)
        size += len(piece.content)
    directory = b"".join(record for _, record in sorted(records))
    end = _END.pack(b"PK\x05\x06", 0, 0, len(pieces), len(pieces), len(directory), size, len(comment))
    return b"".join([*parts, directory, end, comment])
