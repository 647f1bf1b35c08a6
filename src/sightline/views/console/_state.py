"""The state of the console: the fold of the session, and what only this console knows.

What draws reads it and changes nothing. What acts (`session/`, `extensions/`) changes what this console knows; the fold
changes by the host's events alone.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.transcript import Snapshot
from sightline.views.console.paint._console_paint import STARTING

if TYPE_CHECKING:
    from sightline.views.console.input import Submission


class ConsoleState:
    """One for a console; its parts hold it for their whole life."""

    def __init__(self, fold: Callable[[], Snapshot], provider: str = "") -> None:
        self._fold = fold
        self.note = STARTING
        """What the status line shows first: `starting…`, `the session has stopped`."""
        self.provider = provider
        """The one that was requested, until the session reports its own."""
        self.branch = ""
        self.extension_texts: list[str] = []
        """What extensions show in the status line."""
        self.extension_title = ""
        """The title of the window, where an extension has set one."""
        self.running: list[str] = []
        """Ids of shell lines and cells that were entered here and have not ended, the last one last."""
        self.unsent: list[Submission] = []
        """What was entered here and the host has not accepted yet."""
        self.stopping = ""
        """What is being stopped: `AGENT`, or the id of a shell line or cell."""

    @property
    def fold(self) -> Snapshot:
        return self._fold()
