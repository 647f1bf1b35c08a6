"""What an archive may cost. Each limit is far above what people have beside their code, and hitting one is an error.

Sizes an archive declares are checked before anything is unpacked; what really comes out is counted as well, because
what an archive declares may be a lie.
"""

import io
import time
from typing import IO, BinaryIO

from sightline.tools._tool import ToolError

ENTRY_BYTES = 64 * 1024 * 1024  # of one entry, unpacked
TOTAL_BYTES = 512 * 1024 * 1024  # unpacked to find the entries of a compressed tar archive
REWRITE_BYTES = 256 * 1024 * 1024  # of an archive that is rewritten, packed and unpacked
ENTRIES = 100_000
RATIO = 200  # unpacked to packed
RATIO_FROM_BYTES = 1024 * 1024  # small things may be packed as tightly as they like
SECONDS = 10.0
# One read of a tar file's headers. A header that claims to be longer would be read into memory whole.
READ_BYTES = 32 * 1024


class ArchiveTrouble(ToolError):
    """An archive that is damaged, or made to do damage."""


def unfaithful(why: str) -> ArchiveTrouble:
    return ArchiveTrouble(f"it cannot be rewritten without changing more than this entry: {why}. Use a command.")


def check_ratio(unpacked: int, packed: int, what: str) -> None:
    if unpacked > RATIO_FROM_BYTES and unpacked > RATIO * max(packed, 1):
        raise ArchiveTrouble(f"{what} unpacks to more than {RATIO} times its size: refused as a zip bomb.")


def check_entry_size(size: int, name: str) -> None:
    if size < 0:
        raise ArchiveTrouble(f"Archive entry '{name}' says it has a negative size: the archive is damaged.")
    if size > ENTRY_BYTES:
        raise ArchiveTrouble(
            f"Archive entry '{name}' is {size} bytes unpacked; at most {ENTRY_BYTES // 2**20} MiB are read. "
            "Unpack it with a command."
        )


def unpacked(file: IO[bytes], name: str, declared: int) -> bytes:
    """What an entry really holds, which must be as much as the archive declares."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(READ_BYTES):
        parts.append(part)
        size += len(part)
        check_entry_size(size, name)
    if size != declared:
        raise ArchiveTrouble(f"entry '{name}' is {size} bytes, not {declared} as the archive says.")
    return b"".join(parts)


class GuardedFile(io.RawIOBase):
    """A file a tar reader may move about in: every step is counted, timed and bounded."""

    def __init__(self, stream: BinaryIO, *, packed: BinaryIO | None = None) -> None:
        self._stream = stream
        self._packed = packed  # the compressed file below, when there is one
        self._deadline = time.monotonic() + SECONDS

    def renew(self) -> None:
        """Start the clock again: the work so far was another call's."""
        self._deadline = time.monotonic() + SECONDS

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._stream.tell()

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= READ_BYTES:
            raise ArchiveTrouble(
                "The archive has a header of an impossible length: it is damaged, or made to do damage."
            )
        data = self._stream.read(size)
        self._check()
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset < 0:
            raise ArchiveTrouble("The archive leads to a place before its start: it is damaged, or made to do damage.")
        if self._packed is None:
            return self._stream.seek(offset)
        if offset < self._stream.tell():
            self._stream.seek(0)
        # A compressed stream would read on to any place in one go.
        while (left := offset - self._stream.tell()) > 0 and self.read(min(left, READ_BYTES)):
            pass
        return self._stream.tell()

    def _check(self) -> None:
        if time.monotonic() > self._deadline:
            raise ArchiveTrouble(f"The archive takes more than {SECONDS:.0f} seconds to read: given up.")
        if self._packed is not None:
            unpacked = self._stream.tell()
            if unpacked > TOTAL_BYTES:
                raise ArchiveTrouble(f"The archive unpacks to more than {TOTAL_BYTES // 2**20} MiB: given up.")
            check_ratio(unpacked, self._packed.tell(), "The archive")
