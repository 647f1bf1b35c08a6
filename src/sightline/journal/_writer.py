"""Writing a session's journal: one writer, a line per event, nothing half written left behind."""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.events import Event
from sightline.journal._artifact import Artifact
from sightline.journal._record import Header, encode_gap, encode_record


class Busy(Exception):
    """Somebody else is writing this journal: its host is running."""


class JournalWriter:
    """The only writer of a session: holds the lock until closed, or until the process ends, however it ends."""

    def __init__(self, folder: Path, header: Header | None = None) -> None:
        """With a header the session is new; without, its journal is gone on with."""
        self.folder = folder
        self.problem = ""  # why events are not being kept at the moment
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if header is not None else 0)
        self._fd = os.open(folder / "journal.jsonl", flags, 0o600)
        try:
            # Nobody keeps the lock of a new one; somebody may just be asking whether it is held.
            fcntl.flock(self._fd, fcntl.LOCK_EX | (fcntl.LOCK_NB if header is None else 0))
        except OSError as error:
            os.close(self._fd)
            raise Busy from error
        self._end = os.fstat(self._fd).st_size
        self._artifacts: dict[str, Artifact] = {}
        self._lost: tuple[int, int] | None = None
        if header is not None:
            try:
                self._write(msgspec.json.encode(header) + b"\n")
            except OSError:
                os.close(self._fd)
                raise

    def append(self, events: list[Event]) -> bool:
        """Keep these events; false when they could not be, and then none of them is. `problem` says why."""
        data = b"".join([self._record(event) for event in events])
        if self._lost is not None:
            data = encode_gap(*self._lost, self.problem) + data
        try:
            self._write(data)
        except OSError as error:
            self._undo()
            self.problem = error.strerror or str(error)
            first = events[0].seq if self._lost is None else self._lost[0]
            self._lost = (first, events[-1].seq)
            return False
        self.problem, self._lost = "", None
        return True

    def artifact(self, call: str, clock: Callable[[], float] = time.time) -> Artifact:
        """A place for the output of a call."""
        artifact = Artifact(artifact_path(self.folder, call), clock)
        self._artifacts[call] = artifact
        return artifact

    def forget_artifact(self, call: str) -> None:
        """The call ended: nothing of it follows."""
        self._artifacts.pop(call, None)

    def cut_to(self, size: int) -> None:
        """Leave out a torn end, which only a writer that was killed can have left."""
        os.ftruncate(self._fd, size)
        self._end = size

    def sync(self) -> None:
        """Have it on the disk. Takes as long as the disk takes: not on an event loop."""
        os.fsync(self._fd)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)

    def _record(self, event: Event) -> bytes:
        artifact = self._artifacts.get(getattr(event, "id", "")) if self._artifacts else None
        return encode_record(event, in_artifact=artifact is not None and not artifact.problem)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]
        self._end += len(data)

    def _undo(self) -> None:
        """Half a line must not be left in the middle of a journal."""
        try:
            os.ftruncate(self._fd, self._end)
        except OSError:  # then a reader skips it as unreadable
            pass


def artifact_path(folder: Path, call: str) -> Path:
    return folder / "artifacts" / f"{call}.out"
