"""Tar archives, plain or compressed with gzip (told by content, not by name)."""

import gzip
import tarfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from sightline.tools.archives._archive import ArchiveEntry
from sightline.tools.archives._limits import ENTRIES, ArchiveTrouble, GuardedFile, check_entry_size, unpacked
from sightline.tools.files._paths import shown

GZIP_MAGIC = b"\x1f\x8b"


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
