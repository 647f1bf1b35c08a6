"""What a dialog, a selector or a command may use of the console."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sightline.transcript import Snapshot
from sightline.tty import Bindings, Component, Overlay
from sightline.views.console._drawing import DrawingOptions

if TYPE_CHECKING:
    from sightline.host import Command, CommandReply
    from sightline.journal import Store
    from sightline.settings import Settings

HINTED = 2.0
"""Seconds for which a hint is shown."""
Level = Literal["info", "warning", "error"]


class Answerable(Component):
    """Something the person answers. It calls `done` with the answer, once; with None when it was left unanswered."""

    done: Callable[[Any], None]
    """Set by the desk when it is shown."""

    guarded = False
    """A key that was pressed before it was drawn is no answer to it, nor to anything else."""

    yields_to_draft = False
    """Shown above the editor, it waits until nothing is written there."""


class Desk(Protocol):
    """The console, as those who work on it see it."""

    drawing: DrawingOptions
    cwd: str
    store: "Store"
    settings: "Settings"

    @property
    def bindings(self) -> Bindings: ...

    @property
    def session(self) -> str:
        """The id of the session that is shown; empty before there is one."""
        ...

    @property
    def state(self) -> Snapshot:
        """The fold, as of now."""
        ...

    @property
    def height(self) -> int:
        """Rows of the terminal."""
        ...

    def set_theme(self, name: str) -> None:
        """Look like this from now on: `auto`, `dark` or `light`. Nothing is kept."""
        ...

    def set_bindings(self, bindings: Bindings) -> None:
        """These keys mean what from now on. Nothing is kept."""
        ...

    @property
    def draft(self) -> str:
        """What is in the editor."""
        ...

    def set_draft(self, text: str) -> None: ...

    async def submit(self, command: "Command") -> "CommandReply":
        """Ask the host; a refusal, or a host that is gone, is an answer like any other."""
        ...

    async def ask(self, component: Answerable, overlay: Overlay | None = None, *, above: bool = False) -> Any:
        """Show it in place of the editor (`above` it; with `overlay`, over the window) and wait for its answer."""
        ...

    def report(self, text: str, level: Level = "info", hint: str = "") -> None:
        """Say something in the transcript. Only this console shows it, and it is not kept."""
        ...

    def hint(self, text: str, seconds: float = HINTED) -> None:
        """Say something in place of the key hints, for a moment."""
        ...

    def spawn(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        """Do something meanwhile."""
        ...

    def redraw(self, component: Component | None = None) -> None: ...

    def replay(self) -> None:
        """Draw the whole transcript anew: the person changed how it is shown."""
        ...

    async def switch(self, session: str, *, draft: str = "") -> None:
        """Show another session from now on, resumed if need be; empty: a new one."""
        ...

    def copy(self, text: str) -> None:
        """Put text on the person's clipboard."""
        ...

    def run_program(self, argv: list[str]) -> int:
        """Let another program have the terminal until it ends."""
        ...
