"""Tar archives, plain or compressed with gzip (by content, not by name): read, and rewritten with one entry replaced.

A tar archive is its members one after the other, each a header and content in blocks, then zeros. A rewrite copies
members byte for byte, extended headers included; a new one takes the place of the old, or comes last.
"""

import gzip
import io
import tarfile
import time
from collections.abc import Iterator
from typing import BinaryIO, cast

from sightline.tools.archives._archive import ArchiveEntry
from sightline.tools.archives._limits import (
    ENTRIES,
    REWRITE_BYTES,
    ArchiveTrouble,
    GuardedFile,
    check_entry_size,
    check_ratio,
    unfaithful,
    unpacked,
)
from sightline.tools.archives._names import safe_name
from sightline.tools.files._paths import shown

GZIP_MAGIC = b"\x1f\x8b"
_MAGIC = slice(257, 265)  # of a header


class TarContainer:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._guarded = guarded(file)
        self._tar = tarfile.TarFile(fileobj=cast(BinaryIO, self._guarded))
        self._members: list[tarfile.TarInfo] = []

    def entries(self) -> Iterator[ArchiveEntry]:
        for place, (member, _) in enumerate(members(self._tar)):
            self._members.append(member)
            yield ArchiveEntry(member.name, member.size, member.isdir(), special(member), place)

    def read(self, entry: ArchiveEntry) -> bytes:
        self._guarded.renew()
        member = self._members[entry.place]
        check_entry_size(member.size, member.name)
        file = self._tar.extractfile(member)
        if file is None:
            raise ArchiveTrouble(f"entry '{member.name}' has no content.")
        return unpacked(file, member.name, member.size)

    def close(self) -> None:
        self._tar.close()
        self._file.close()


def guarded(file: BinaryIO) -> GuardedFile:
    packed = file.read(2) == GZIP_MAGIC
    file.seek(0)
    if not packed:
        return GuardedFile(file)
    return GuardedFile(cast(BinaryIO, gzip.GzipFile(fileobj=file, mode="rb")), packed=file)


def members(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, int]]:
    """Each member and where it ends. A damaged one can say that the next lies before it, without end."""
    ends = 0
    count = 0
    while (member := tar.next()) is not None:
        count += 1
        if tar.offset <= ends or member.size < 0:
            raise ArchiveTrouble("an entry says it has a negative size: it is damaged, or made to do damage.")
        if count > ENTRIES:
            raise ArchiveTrouble(f"it has more than {ENTRIES} entries. List it with a command.")
        ends = tar.offset
        yield member, ends
    _refuse_leftover(tar, ends)


def _refuse_leftover(tar: tarfile.TarFile, ends: int) -> None:
    """The library takes a damaged header for the end and would lose what follows without a word."""
    tar.fileobj.seek(ends)
    if tar.fileobj.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise ArchiveTrouble("the data after its last entry is not an entry: it is damaged.")


def special(member: tarfile.TarInfo) -> str:
    if member.issym():
        return f"a symbolic link to {shown(member.linkname)}"
    if member.islnk():
        return f"a hard link to {shown(member.linkname)}"
    return "" if member.isreg() or member.isdir() else "a device or pipe"


def tar_with(before: bytes, name: str, data: bytes, *, packed: bool) -> bytes:
    """`packed` is for an archive that does not exist yet; one that does stays as it is."""
    if before:
        packed = before[:2] == GZIP_MAGIC
        before = _unpacked(before) if packed else before
    plain = _replaced(before, name, data)
    return gzip.compress(plain, mtime=0) if packed else plain


def _unpacked(before: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(before)) as file:
        plain = file.read(REWRITE_BYTES + 1)
    check_ratio(len(plain), len(before), "it")
    if len(plain) > REWRITE_BYTES:
        raise ArchiveTrouble(f"it unpacks to more than {REWRITE_BYTES // 2**20} MiB: not rewritten. Use a command.")
    return plain


def _replaced(before: bytes, name: str, data: bytes) -> bytes:
    found: list[tuple[tarfile.TarInfo, int]] = []
    end = 0
    if before:
        with tarfile.TarFile(fileobj=cast(BinaryIO, guarded(io.BytesIO(before)))) as tar:
            for known, end in members(tar):
                if safe_name(known.name) == name:
                    found.append((known, end))
                elif known.islnk() and safe_name(known.linkname) == name:
                    raise unfaithful(f"'{known.name}' is a hard link to '{name}'")
    if end > len(before):
        raise ArchiveTrouble("it ends before its last entry does.")
    if len(found) > 1:
        raise unfaithful(f"it has {len(found)} entries named '{name}'")
    old, old_end = found[0] if found else (None, 0)
    if old is not None and (special(old) or not old.isreg()):
        raise ArchiveTrouble(f"entry '{name}' is {special(old) or 'no file'}; it is not replaced.")
    member = _member(old, name, data, before[_MAGIC])
    head, tail = (before[: old.offset], before[old_end:end]) if old is not None else (before[:end], b"")
    return _closed(head + member + tail)


def _member(old: tarfile.TarInfo | None, name: str, data: bytes, magic: bytes) -> bytes:
    info = tarfile.TarInfo(old.name if old else name)
    info.size, info.mtime, info.mode = len(data), int(time.time()), 0o644
    if old is not None:
        info.mode, info.uid, info.gid, info.uname, info.gname = old.mode, old.uid, old.gid, old.uname, old.gname
        derived = {"path", "size", "mtime", "linkpath", "uid", "gid", "uname", "gname"}
        info.pax_headers = {key: value for key, value in old.pax_headers.items() if key not in derived}
    is_gnu = magic.startswith(tarfile.GNU_MAGIC)
    header = info.tobuf(tarfile.GNU_FORMAT if is_gnu else tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    return header + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def _closed(content: bytes) -> bytes:
    """With the zeros that end an archive, filled up to a whole record as every tar program does."""
    content += bytes(2 * tarfile.BLOCKSIZE)
    return content + bytes(-len(content) % tarfile.RECORDSIZE)
