"""The whole output of a call, byte for byte in the order it arrived, with an index beside it.

Rules:

- The bytes are in `NAME.out`. `NAME.idx` has one record for each stretch of one stream: where it begins, when, and
  which stream; a stretch of the same stream gets a new record every tenth of a second, so that times are known.
- Only the owner may read them (0600): a command may print secrets.
- Once a byte could not be stored, none after it is: what is there is always the beginning of the output, so an offset
  in the output is an offset in the file. That goes for a full disk and for the cap alike.
"""

import os
import struct
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from sightline.paths import private_folder

_RECORD = struct.Struct("<QdB7x")  # offset, seconds since the epoch, stream
_STREAMS = ("stdout", "stderr")
_NUMBERS = {name: number for number, name in enumerate(_STREAMS)}
_SECONDS_APART = 0.1

ARTIFACT_CAP = 8 * 1024**3  # of one call: a command that prints for ever must not fill the disk


class ArtifactRun(msgspec.Struct, frozen=True):
    """A stretch of output that came from one stream."""

    offset: int
    size: int
    stream: str
    time: float


class Artifact:
    """An artifact being written. `write` never fails: what cannot be stored is counted, `problem` is the reason."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.size = self.stored = 0
        self.problem = ""
        self._clock = clock
        self._stream = -1
        self._noted = 0.0
        self._fds: list[int] = []
        try:
            private_folder(path.parent)
            for name in (path, index_path(path)):
                self._fds.append(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        except OSError as error:
            self._give_up(error)

    def write(self, stream: str, data: bytes) -> None:
        if not self.problem:
            try:
                self._note(_NUMBERS[stream])
                self._write(data)
            except OSError as error:
                self._give_up(error)
        self.size += len(data)

    def close(self) -> None:
        for fd in self._fds:
            os.close(fd)
        self._fds = []

    def _note(self, stream: int) -> None:
        now = self._clock()
        if stream != self._stream or not 0 <= now - self._noted < _SECONDS_APART:
            os.write(self._fds[1], _RECORD.pack(self.size, now, stream))
            self._stream, self._noted = stream, now

    def _write(self, data: bytes) -> None:
        if self.stored + len(data) > ARTIFACT_CAP:
            data = data[: ARTIFACT_CAP - self.stored]
            os.write(self._fds[0], data)
            self.stored += len(data)
            raise OSError(0, f"it is longer than {ARTIFACT_CAP // 1024**2} MB")
        written = os.write(self._fds[0], data)
        self.stored += written
        while written < len(data):  # the disk is nearly full, or a limit is near: the next try finds out which
            more = os.write(self._fds[0], data[written:])
            self.stored += more
            written += more

    def _give_up(self, error: OSError) -> None:
        self.problem = error.strerror or str(error)
        self.close()


class ArtifactReader:
    """An artifact, finished or growing. One that was deleted is empty, and `missing`."""

    def __init__(self, path: Path) -> None:
        self._fd = self._index = -1
        self._path = path
        self._open()

    @property
    def missing(self) -> bool:
        return self._fd < 0

    @property
    def size(self) -> int:
        return 0 if not self._open() else os.fstat(self._fd).st_size

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from there; fewer at the end."""
        return self.read_raw(offset, size)

    def read_raw(self, offset: int, size: int) -> bytes:
        """The same, as it was written: for callers that need every byte and show none."""
        return os.pread(self._fd, size, offset) if self._open() else b""

    def runs(self, start: int, end: int) -> list[ArtifactRun]:
        """Which stream the bytes from `start` to `end` came from, in order; the first and the last are cut to fit."""
        end = min(end, self.size)
        if start >= end:
            return []
        found: list[ArtifactRun] = []
        for offset, noted, stream in self._records(start, end):
            if found:
                last = found[-1]
                found[-1] = ArtifactRun(last.offset, offset - last.offset, last.stream, last.time)
            found.append(ArtifactRun(max(start, offset), end - max(start, offset), _STREAMS[min(stream, 1)], noted))
        return found or [ArtifactRun(start, end - start, "stdout", 0.0)]  # the index is gone

    def streams(self, start: int, end: int) -> list[ArtifactRun]:
        """Like `runs`, with neighbours of one stream joined."""
        joined: list[ArtifactRun] = []
        for run in self.runs(start, end):
            if joined and joined[-1].stream == run.stream:
                last = joined[-1]
                joined[-1] = ArtifactRun(last.offset, last.size + run.size, last.stream, last.time)
            else:
                joined.append(run)
        return joined

    def close(self) -> None:
        for fd in (self._fd, self._index):
            if fd >= 0:
                os.close(fd)
        self._fd = self._index = -1

    def __del__(self) -> None:
        self.close()  # most are used for one read and dropped

    def _open(self) -> bool:
        """Whether it is there; a command that has just begun may not have written yet."""
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            if self._index < 0:  # made after the other
                self._index = os.open(index_path(self._path), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return self._fd >= 0
        return True

    def _records(self, start: int, end: int) -> Iterator[tuple[int, float, int]]:
        """Those of the stretches between, the one `start` is in first. Looked up in the file: it may be long."""
        if self._index < 0:
            return
        count = os.fstat(self._index).st_size // _RECORD.size
        first = bisect_right(range(count), start, key=lambda number: self._record(number)[0])
        for number in range(max(0, first - 1), count):
            record = self._record(number)
            if record[0] >= end:
                return
            yield record

    def _record(self, number: int) -> tuple[int, float, int]:
        offset, noted, stream = _RECORD.unpack(os.pread(self._index, _RECORD.size, number * _RECORD.size))
        return offset, noted, stream


def index_path(path: Path) -> Path:
    return path.with_suffix(".idx")
