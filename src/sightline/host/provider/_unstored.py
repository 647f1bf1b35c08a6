"""A run without a session: the folder for it cannot be written. Its reader is the only one there is."""

import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from sightline.actors import Actor, RunningCommand
from sightline.events import Event
from sightline.exceptions import OutsideFailure
from sightline.exec import CommandSpec
from sightline.host.provider._reader_queue import ReaderQueue
from sightline.journal import Artifact, ArtifactReader, Entry, EntryPlace

_NOWHERE = Path(os.devnull, "unstored")  # nothing can be made there


class UnstoredLog:
    """What actors publish, for the one reader. Nothing is stored, and no command is run."""

    id = ""
    folder = _NOWHERE
    is_attended = has_answers = False

    def __init__(self) -> None:
        self.seq = 0
        self.agents: dict[str, int] = {}
        self.on_published: Callable[[Event], object] | None = None
        self._events: list[Event] = []
        self._queue: ReaderQueue[list[Event]] = ReaderQueue()
        self._ids = 0

    def batches(self) -> AsyncGenerator[list[Event], None]:
        return self._queue.read()

    async def send(self) -> None:
        """Have the reader get what was published. It is waited for: there is no place to read it from later."""
        events, self._events = self._events, []
        if events:
            await self._queue.put(events)

    def end(self) -> None:
        """Nothing more is published."""
        self._queue.end()

    def append(self, event: Event) -> None:
        self.seq += 1
        self._events.append(event)
        if self.on_published is not None:
            self.on_published(event)

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        return None

    def new_call(self) -> str:
        return f"c{self._next()}"

    def new_block(self) -> int:
        return self._next()

    def new_request(self) -> str:
        return f"request-{self._next()}"

    def new_agent(self, path: str) -> str:
        self.agents[path] = self.agents.get(path, 0) + 1
        return f"{path}-{self.agents[path]}"

    def start_command(self, actor: Actor, call: str, spec: CommandSpec) -> RunningCommand:
        raise OutsideFailure("no command can be run without a session")

    def call_ended(self, call: str) -> None: ...

    def artifact_for(self, call: str) -> Artifact:
        return Artifact(_NOWHERE / call)

    def read_artifact(self, call: str) -> ArtifactReader:
        return ArtifactReader(_NOWHERE / call)

    def forget_artifact(self, call: str) -> None: ...

    def flush(self) -> None: ...

    def _next(self) -> int:
        self._ids += 1
        return self._ids
