"""Zip archives. Only what is stored or deflated is unpacked: the other methods can make gigabytes of one read."""

import os
import stat
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

from sightline.tools.archives._archive import ArchiveEntry
from sightline.tools.archives._limits import ENTRIES, ArchiveTrouble, check_entry_size, check_ratio, unpacked

_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_UNIX = 3


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
