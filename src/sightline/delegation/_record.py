"""What is stored of an agent beside its conversation: enough to list it, to read what it returned, and to revive it.

Each has a folder of its own in that of the session: `record.json`, `journal.jsonl` (its conversation), `output.md`.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from sightline.delegation.definitions._definition import AgentDefinition

FOLDER = "agents"
_RECORD, _OUTPUT = "record.json", "output.md"
_RECORD_AT_MOST = 4 * 1024 * 1024

Lifecycle = Literal["pending", "running", "idle", "parked", "aborted"]


class AgentRecord(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    definition: AgentDefinition
    parent: str = ""  # the id of the agent that started it; empty: the agent of the session
    depth: int = 1
    description: str = ""  # one line for people
    assignment: str = ""
    context: str = ""  # what all agents of one call were given
    model: str = ""
    created: float = 0.0
    aborted: bool = False  # it was stopped for good
    isolated: bool = False  # it works in a working copy, which is gone when its task is done
    is_review: bool = False  # the user requested it: it reports findings, also where its definition names no such tool
    is_step: bool = False  # of a flow: its prompt is all it reads, and its words are its result
    cwd: str = ""  # empty: the folder of the session
    timeout: float = 0.0  # seconds for its task; 0: as in the settings
    provider_session: str = ""  # the id of its conversation in another program
    script: str = ""  # where its recording is named: it plays that, and its program is never started

    @property
    def path(self) -> str:
        return self.id.replace(".", "/")


class AgentShelf:
    """The folders of the agents of one session."""

    def __init__(self, session: Path) -> None:
        self._folder = session / FOLDER

    def folder(self, id: str) -> Path:
        return self._folder / id

    def create(self, id: str) -> Path:
        folder = self.folder(id)
        folder.mkdir(mode=0o700, parents=True)
        return folder

    def save(self, record: AgentRecord) -> None:
        """Blocking, and whole or not at all."""
        self._write(self.folder(record.id) / _RECORD, msgspec.json.encode(record))

    def save_output(self, id: str, text: str) -> Path:
        file = self.folder(id) / _OUTPUT
        self._write(file, text.encode("utf-8", "replace"))
        return file

    def output(self, id: str) -> Path | None:
        file = self.folder(id) / _OUTPUT
        return file if file.is_file() else None

    def names(self) -> list[str]:
        """Of every folder there is, also of one that was never written."""
        try:
            return os.listdir(self._folder)
        except OSError:
            return []

    def records(self) -> list[AgentRecord]:
        """Those that can be read, in the order they were started."""
        found = [record for name in self.names() if (record := self._record(name)) is not None]
        return sorted(found, key=lambda record: (record.created, record.id))

    def _record(self, name: str) -> AgentRecord | None:
        file = self._folder / name / _RECORD
        try:
            if file.stat().st_size > _RECORD_AT_MOST:
                return None
            record = msgspec.json.decode(file.read_bytes(), type=AgentRecord)
        except (OSError, msgspec.MsgspecError):
            return None
        # What an agent may do follows from those above it, so that its name must not differ from its parent.
        return record if record.id == name and record.parent == name.rpartition(".")[0] else None

    def _write(self, file: Path, data: bytes) -> None:
        new = file.with_name(f".{file.name}.new")
        new.write_bytes(data)
        new.chmod(0o600)
        new.replace(file)
