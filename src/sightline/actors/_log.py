"""What an actor needs of its session."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sightline.events import Event, ToolResult
from sightline.exec import CommandSpec
from sightline.journal import Artifact, ArtifactReader, Entry, EntryPlace

if TYPE_CHECKING:
    from sightline.actors._actor import Actor


class RunningCommand(Protocol):
    """A command a tool started. Its output is that of the call that started it, until it becomes a job."""

    @property
    def artifact(self) -> str:
        """The URL of its whole output."""

    async def wait(self) -> ToolResult:
        """Its end. Giving up waiting does not end it."""

    def cancel(self) -> None:
        """End it and everything it started."""

    def tail(self, most: int) -> tuple[str, int]:
        """The last `most` bytes of what it wrote so far as text, and how many bytes there are in all."""

    def become_job(self) -> str:
        """Continue without the call: what it writes from now on is that of a job, whose id is returned."""


class Log(Protocol):
    """A running session, as its actors see it. Used in the session's event loop only."""

    @property
    def id(self) -> str: ...

    @property
    def folder(self) -> Path: ...

    @property
    def seq(self) -> int:
        """The number of the last event."""

    @property
    def is_attended(self) -> bool:
        """Whether a user is there now who can answer."""

    @property
    def has_answers(self) -> bool:
        """Whether a user answers requests, now or later."""

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        """Store an entry of the tree, after every event so far. None: the disk is full."""

    def append(self, event: Event) -> None:
        """Number, store and send it."""

    def new_call(self) -> str:
        """An id for a call, unique in the session."""

    def new_block(self) -> int:
        """A number for a text block, unique in the session."""

    def new_request(self) -> str:
        """An id for a request, unique in the session."""

    def new_agent(self, path: str) -> str:
        """The path of a new subagent: `path` with a number, unique in the session."""

    def start_command(self, actor: "Actor", call: str, spec: CommandSpec) -> RunningCommand:
        """Run a command whose output is that of a call."""

    def call_ended(self, call: str) -> None:
        """End a command that the call left running, unless it is a job."""

    def artifact_for(self, call: str) -> Artifact: ...

    def read_artifact(self, call: str) -> ArtifactReader: ...

    def forget_artifact(self, call: str) -> None: ...

    def flush(self) -> None:
        """Store and send what was appended, now."""
