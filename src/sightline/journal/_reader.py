"""Reading a session's journal back, while it is written or long after."""

from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path

from sightline.events import Event
from sightline.journal._artifact import ArtifactReader
from sightline.journal._record import RECORD_CAP, JournalHeader, decode_entry, decode_header, decode_record, is_entry
from sightline.journal._writer import artifact_path
from sightline.journal.tree._entry import Entry

_OPEN_AT_ONCE = 100
_END = 64 * 1024  # bytes


class SessionReader:
    """The journal of one session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "journal.jsonl"
        self.torn_at: int | None = None  # where an unfinished last line begins, once a reader came to it

    @property
    def header(self) -> JournalHeader:
        with self._path.open("rb") as file:
            return decode_header(file.readline(RECORD_CAP)) or JournalHeader(self._folder.name)

    def events(self, start: int = 0) -> Iterator[Event]:
        """All of them, in order, or those from a place between two lines on. A torn last line is left out; `torn_at` is
        its place."""
        artifacts: dict[str, ArtifactReader] = {}

        def output(call: str, offset: int, size: int) -> bytes:
            if call not in artifacts:
                if len(artifacts) >= _OPEN_AT_ONCE:
                    artifacts.popitem()[1].close()
                artifacts[call] = ArtifactReader(artifact_path(self._folder, call))
            return artifacts[call].read(offset, size)

        try:
            for line in self._lines(start):
                if not is_entry(line):
                    yield decode_record(line, output)
        finally:
            for reader in artifacts.values():
                reader.close()

    def last(self, *kinds: str) -> list[Event]:
        """Events of these kinds near the end of the journal, in order; none that has output."""
        marks = tuple(b'{"kind":"%s"' % kind.encode() for kind in kinds)
        with self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, SEEK_END) - _END))
            lines = file.read().split(b"\n")[:-1]  # a torn last line is left out; the first may be half a line
        return [decode_record(line, lambda *_: b"") for line in lines if line.startswith(marks)]

    def entries(self) -> Iterator[Entry]:
        """The steps of its conversation, in order. What cannot be read is left out, as a torn last line is."""
        for line in self._lines():
            if is_entry(line) and (entry := decode_entry(line)) is not None:
                yield entry

    def _lines(self, start: int = 0) -> Iterator[bytes]:
        """Every whole line but the header."""
        position = start
        with self._path.open("rb") as file:
            file.seek(start)
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    self.torn_at = position
                    return
                position += len(line)
                if number or start or decode_header(line) is None:
                    yield line
