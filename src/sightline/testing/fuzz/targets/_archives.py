"""Archives made by others: read within bounds or refused in words, and never unpacked onto the disk."""

import gzip
import io
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path
from random import Random

from sightline.testing.fuzz._mutation import mutated
from sightline.testing.fuzz._target import hold
from sightline.tools._tool import ToolError
from sightline.tools.archives import Archive
from sightline.tools.archives._limits import ENTRY_BYTES

_NAMES = [
    "a.txt",
    "b/c.txt",
    "../up.txt",
    "/etc/passwd",
    "C:/x",
    "a\\..\\b",
    "d/",
    "\x1b]0;x\x07",
    "é" * 40,
    "x" * 150,
    ".",
]


class Archives:
    name = "archives"

    def open(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sightline-fuzz-"))

    def close(self) -> None:
        shutil.rmtree(self._folder)

    def make(self, random: Random) -> tuple[str, bytes]:
        suffix, data = random.choice(_made())
        if random.random() < 0.9:
            data = mutated(random, data, [other for _, other in _made()])
        if suffix == ".tar" and random.random() < 0.3:
            suffix, data = ".tar.gz", gzip.compress(data, 1, mtime=0)
        return suffix, data

    def check(self, given: tuple[str, bytes]) -> None:
        suffix, data = given
        path = self._folder / f"archive{suffix}"
        path.write_bytes(data)
        try:
            with Archive.open(path) as archive:
                hold(archive.listing().total >= 0, "no listing")
                for name in archive.files()[:20]:
                    hold(not name.startswith("/") and ".." not in name.split("/"), "an entry that would land outside")
                    try:
                        hold(len(archive.read(name)) <= ENTRY_BYTES, "more of an entry than is allowed")
                    except ToolError:
                        pass
        except ToolError:
            pass
        hold([entry.name for entry in self._folder.iterdir()] == [path.name], "something was written")
        hold(path.read_bytes() == data, "the archive was changed")
        path.unlink()


_cached: list[tuple[str, bytes]] = []


def _made() -> list[tuple[str, bytes]]:
    """Made once: an input must not depend on what was made before it."""
    if not _cached:
        _cached.extend([(".zip", _zip()), (".tar", _tar()), (".tar.gz", gzip.compress(_tar(), mtime=0))])
        _cached.extend([(".zip", _zip(bytes(300_000))), (".tar.gz", gzip.compress(bytes(3_000_000), mtime=0))])
    return _cached


def _zip(content: bytes = b"some text\n" * 20) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _NAMES:
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in _NAMES:
            info = tarfile.TarInfo(name)
            info.size = 10
            archive.addfile(info, io.BytesIO(b"some text\n"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return file.getvalue()
