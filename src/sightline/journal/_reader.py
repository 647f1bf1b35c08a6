"""Reading a session's journal back, while it is written or long after."""

from collections.abc import Iterator
from pathlib import Path

from sightline.events import Event
from sightline.journal._artifact import ArtifactReader
from sightline.journal._record import RECORD_CAP, Header, decode_header, decode_record
from sightline.journal._writer import artifact_path

_OPEN_AT_ONCE = 100


class KeptSession:
    """What is kept of one session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "journal.jsonl"
        self.torn_at: int | None = None  # where an unfinished last line begins, once `events` came to it

    @property
    def header(self) -> Header:
        with self._path.open("rb") as file:
            return decode_header(file.readline(RECORD_CAP)) or Header(self._folder.name)

    def events(self) -> Iterator[Event]:
        """All of them, in order. A torn last line is left out; `torn_at` says where it was."""
        artifacts: dict[str, ArtifactReader] = {}

        def output(call: str, offset: int, size: int) -> bytes:
            if call not in artifacts:
                if len(artifacts) >= _OPEN_AT_ONCE:
                    artifacts.popitem()[1].close()
                artifacts[call] = ArtifactReader(artifact_path(self._folder, call))
            return artifacts[call].read(offset, size)

        position = 0
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(file):
                    if not line.endswith(b"\n"):
                        self.torn_at = position
                        return
                    position += len(line)
                    if number or decode_header(line) is None:
                        yield decode_record(line, output)
        finally:
            for reader in artifacts.values():
                reader.close()
