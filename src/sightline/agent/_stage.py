"""What the agent needs of whoever hosts it: a place where what it does is numbered, kept and seen."""

from collections.abc import Callable
from typing import Literal, Protocol

from sightline.events import Event, ToolResult
from sightline.exec import CommandSpec
from sightline.journal import Entry
from sightline.tools import RunningCommand


class Stage(Protocol):
    """One running session, as its agent sees it. Used in the session's event loop only."""

    @property
    def session(self) -> str: ...

    @property
    def seq(self) -> int:
        """The number of the last event there is."""

    @property
    def attended(self) -> bool:
        """Whether somebody answers what is asked, now or when they are back."""

    @property
    def has_ui(self) -> bool:
        """Whether somebody is there now who can answer."""

    def publish(self, event: Event) -> None: ...

    def keep(self, entry: Entry) -> None:
        """Write an entry of the tree, after every event published so far."""

    def new_call(self) -> str:
        """A name for a call, unique in the session."""

    def start(self, call: str, spec: CommandSpec) -> RunningCommand:
        """Run a command whose output is that of a call."""

    def output(self, call: str) -> Callable[[str, Literal["stdout", "stderr"]], None]:
        """A way to write a call's output: kept, and shown as it comes."""

    def end_call(self, result: ToolResult) -> None:
        """A call's last event."""
