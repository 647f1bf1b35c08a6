"""Writing a session's journal: one writer, a line per event or entry, nothing half written left behind.

Rules, for a disk that is full:

- What is written together is stored together or not at all.
- Events that could not be stored are missing in the journal; a `gap` lists them, once there is room again.
- Entries are the conversation itself, and later ones build on them. They wait, up to a cap, and are written before
  anything else once there is room; only what is beyond the cap is counted in the gap.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from sightline import locks
from sightline.events import Event
from sightline.journal._artifact import Artifact, ArtifactReader, index_path
from sightline.journal._record import JournalHeader, encode_entry, encode_gap, encode_record
from sightline.journal.tree._entry import Entry

_OWED_CAP = 64 * 1024 * 1024
_NEW_SECONDS = 1.0


class EntryPlace(msgspec.Struct, frozen=True, gc=False):
    """Where the line of an entry is in its journal, without its newline."""

    offset: int
    size: int


class Busy(Exception):
    """Another process is writing this journal: its host is running."""


class JournalWriter:
    """The only writer of a session: holds the lock until closed, or until the process ends, however it ends."""

    def __init__(self, folder: Path, header: JournalHeader | None = None) -> None:
        """With a header the session is new; without, its journal is continued."""
        self.folder = folder
        self.problem = ""  # why events are not being stored at the moment
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if header is not None else 0)
        self._fd = os.open(folder / "journal.jsonl", flags, 0o600)
        try:
            # Of a new journal the lock may be held for a moment, by a process that tests whether it is held.
            if not locks.acquire(self._fd, "exclusive", seconds=0.0 if header is None else _NEW_SECONDS):
                raise Busy
        except BaseException:
            os.close(self._fd)
            raise
        self._end = os.fstat(self._fd).st_size
        self._artifacts: dict[str, Artifact] = {}
        self._lost: tuple[int, int] | None = None  # events, the first and the last
        self._owed: list[bytes] = []  # entries that wait for room
        self._forgotten = 0  # entries there was no room for even to wait
        self._places: dict[str, EntryPlace] = {}
        if header is not None:
            try:
                self.write_lines(msgspec.json.encode(header) + b"\n")
            except OSError:
                os.close(self._fd)
                raise

    def append(self, records: Sequence[Event | Entry]) -> bool:
        """Store these; false when that failed, and then none of them is stored. `problem` has the reason."""
        lines = [self._record(record) for record in records]  # raises for an entry that is too long
        overdue = [*self._gap(), *self._owed]
        start = self._end
        try:
            self.write_lines(b"".join([*overdue, *lines]))
        except OSError as error:
            self._undo()
            self.problem = error.strerror or str(error)
            self._owe(records, lines)
            return False
        self._note_places(records, lines, start + sum(map(len, overdue)))
        self.problem, self._lost, self._owed, self._forgotten = "", None, [], 0
        return True

    def place_of(self, entry: str) -> EntryPlace | None:
        """Where an entry of the last `append` is; None when it could not be stored."""
        return self._places.get(entry)

    def artifact(self, call: str, clock: Callable[[], float] = time.time) -> Artifact:
        artifact = Artifact(artifact_path(self.folder, call), clock)
        self._artifacts[call] = artifact
        return artifact

    def read_artifact(self, call: str) -> ArtifactReader:
        return ArtifactReader(artifact_path(self.folder, call))

    def share_artifact(self, call: str, job: str) -> None:
        """What a call wrote and still writes is a job's from now on: the same bytes under both names."""
        path, shared = artifact_path(self.folder, call), artifact_path(self.folder, job)
        for source, target in ((path, shared), (index_path(path), index_path(shared))):
            try:
                os.link(source, target)
            except OSError:  # no links here, or nothing to link: what follows is stored in the journal itself
                return
        if call in self._artifacts:
            self._artifacts[job] = self._artifacts[call]

    def forget_artifact(self, call: str) -> None:
        self._artifacts.pop(call, None)

    def cut_to(self, size: int) -> None:
        """Cut off a torn end, which only a writer that was killed can have left."""
        os.ftruncate(self._fd, size)
        self._end = size

    def sync(self) -> None:
        """Flush it to the disk. Takes as long as the disk takes: not on an event loop."""
        os.fsync(self._fd)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:  # not twice: its number may be another file's by then
            os.close(fd)

    def _record(self, record: Event | Entry) -> bytes:
        if type(record) is Entry:
            return encode_entry(record)
        event: Event = record  # type: ignore[assignment]
        artifact = self._artifacts.get(getattr(event, "id", "")) if self._artifacts else None
        return encode_record(event, in_artifact=artifact is not None and not artifact.problem)

    def _gap(self) -> list[bytes]:
        if self._lost is None and not self._forgotten:
            return []
        return [encode_gap(*(self._lost or (0, 0)), self.problem, self._forgotten)]

    def _owe(self, records: Sequence[Event | Entry], lines: list[bytes]) -> None:
        self._places = {}
        waiting = sum(map(len, self._owed))
        for record, line in zip(records, lines, strict=True):
            if not isinstance(record, Entry):
                self._lost = (record.seq if self._lost is None else self._lost[0], record.seq)
            elif not self._forgotten and (waiting := waiting + len(line)) <= _OWED_CAP:
                self._owed.append(line)
            else:
                self._forgotten += 1

    def _note_places(self, records: Sequence[Event | Entry], lines: list[bytes], offset: int) -> None:
        self._places = {}
        for record, line in zip(records, lines, strict=True):
            if type(record) is Entry:
                self._places[record.id] = EntryPlace(offset, len(line) - 1)
            offset += len(line)

    def write_lines(self, data: bytes) -> None:
        """Write whole lines; of another journal, as they are."""
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
