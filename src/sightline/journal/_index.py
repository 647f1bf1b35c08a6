"""The list of jobs: a line each time one begins or ends; a job's last line wins.

Rules:

- A cache. All of it can be made again from the journals; a line that cannot be read is skipped.
- Many hosts write, each line with one append, under a shared lock, which only a rewrite delays. A rewrite takes it
  exclusively; where it is not available, a later rewrite does the work. An appender whose file was replaced meanwhile
  opens the new one.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from sightline import locks
from sightline.paths import private_folder

_APPEND_SECONDS = 0.5  # of a host's event loop: no rewrite takes as long
_REWRITE_SECONDS = 3.0

JobState = Literal["running", "ok", "failed", "cancelled", "timed_out", "lost"]


class JobRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job, as lists show it."""

    id: str
    session: str
    command: str = ""
    cwd: str = ""
    state: JobState = "running"
    exit_code: int | None = None
    started: float = 0.0
    duration: float | None = None  # None while it runs
    bytes: int = 0
    pty: bool = False


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(JobRecord)


class JobIndex:
    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def add(self, *records: JobRecord) -> None:
        """Append these jobs as they are now. Where that fails nothing is lost that could not be found again."""
        data = b"".join([_encoder.encode(record) + b"\n" for record in records])
        try:
            fd = self._locked("shared", _APPEND_SECONDS)
        except OSError:
            return
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":  # the disk was full in the middle of a line
                data = b"\n" + data
            os.write(fd, data)
        except OSError:
            pass
        finally:
            os.close(fd)

    def jobs(self) -> dict[str, JobRecord]:
        """Every job there is a line of, in the order they began."""
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return {}
        found: dict[str, JobRecord] = {}
        for line in lines:
            try:
                record = _decoder.decode(line)
            except msgspec.MsgspecError:
                continue
            found[record.id] = record
        return found

    def rewrite(self, change: Callable[[dict[str, JobRecord]], Iterable[JobRecord]]) -> None:
        """Replace what it has by what `change` makes of it; no line can be added meanwhile. Blocking, some seconds at
        most: an index that is in use by then stays as it is."""
        try:
            fd = self._locked("exclusive", _REWRITE_SECONDS)
        except locks.InUse:
            return
        try:
            records = change(self.jobs())
            new = self._path.with_suffix(".new")
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.writelines(_encoder.encode(record) + b"\n" for record in records)
            new.replace(self._path)
        finally:
            os.close(fd)

    def _locked(self, kind: locks.Kind, seconds: float) -> int:
        private_folder(self._path.parent)
        while True:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                if not locks.acquire(fd, kind, seconds=seconds):
                    raise locks.InUse(self._path)
                if os.path.samestat(os.fstat(fd), os.stat(self._path)):
                    return fd
            except FileNotFoundError:
                pass
            except OSError:
                os.close(fd)
                raise
            os.close(fd)
