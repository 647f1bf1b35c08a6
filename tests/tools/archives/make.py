"""Archives for tests, kind ones and others."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

KINDS = ("a.zip", "a.tar", "a.tar.gz", "a.tgz")


def make_archive(path: Path, files: Mapping[str, bytes]) -> Path:
    """Of the kind the name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return path
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as tar:
        for name, data in files.items():
            tar.addfile(member(name, data), io.BytesIO(data))
    return path


def member(name: str, data: bytes = b"", **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def make_tar(path: Path, members: list[tarfile.TarInfo]) -> Path:
    """Members without content, whatever they are."""
    with tarfile.open(path, "w") as tar:
        for info in members:
            tar.addfile(info)
    return path


def bomb_zip(path: Path, size: int = 50 * 2**20) -> Path:
    """One entry of zeros: a thousand times larger than the archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(size))
    return path


def lying_zip(path: Path) -> Path:
    """Says its entry has ten bytes, and unpacks to many more."""
    bomb_zip(path, 2**20)
    data = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<L", data, data.index(signature) + at, 10)
    path.write_bytes(data)
    return path


def overlapping_zip(path: Path) -> Path:
    """A hundred entries that are all the same bytes of the file."""
    make_archive(path, {f"{number:03}": b"x" * 1000 for number in range(100)})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<L", data, at + 42, 0)
        at = data.find(b"PK\x01\x02", at + 4)
    path.write_bytes(data)
    return path


def encrypted_zip(path: Path) -> Path:
    make_archive(path, {"secret.txt": b"hidden", "plain.txt": b"seen"})
    data = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(signature) + at
        data[place] |= 1
    path.write_bytes(data)
    return path


def bomb_tgz(path: Path, size: int = 300 * 2**20) -> Path:
    """An archive whose one entry is zeros."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        info = tarfile.TarInfo("bomb")
        info.size = size
        file.write(info.tobuf())
        for _ in range(size // 2**20):
            file.write(bytes(2**20))
        file.write(bytes(1024))
    return path


def patched_tar(path: Path, field: slice, value: bytes, *, name: str = "a.txt") -> Path:
    """A header with other bytes in one field, and a checksum that fits."""
    header = bytearray(member(name, b"").tobuf(tarfile.GNU_FORMAT))
    header[field] = value.ljust(field.stop - field.start, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path.write_bytes(bytes(header) + bytes(1024))
    return path
