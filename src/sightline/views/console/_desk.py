"""The interface of the console for dialogs, selectors and commands."""

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
_LOOKS_AT_MOST, _LOOKS_APART = 600, 0.05  # seconds apart
Level = Literal["info", "warning", "error"]


class Answerable(Component):
    """A component the user answers. It calls `done` with the answer, once; with None when it was closed unanswered."""

    done: Callable[[Any], None]
    """Set by the desk when it is shown."""

    finished = False
    """It was answered or closed, though it may still be on the screen."""

    guarded = False
    """Keys that were pressed before it was drawn are dropped."""

    yields_to_draft = False
    """Shown above the editor, it waits until the draft is empty."""

    is_postponed = False
    """Shown above the editor, it waits until a command is entered: a `/` was typed that it had no use for."""

    def finish(self, answer: object) -> None:
        """Answer, the first time; later answers are ignored."""
        if not self.finished:
            self.finished = True
            self.done(answer)


class Desk(Protocol):
    """The console, as dialogs, selectors and commands see it."""

    drawing: DrawingOptions
    cwd: str
    store: "Store"
    settings: "Settings"

    @property
    def bindings(self) -> Bindings: ...

    @property
    def session(self) -> str:
        """The id of the session that is shown; empty before there is one."""

    @property
    def state(self) -> Snapshot:
        """The fold, as of now."""

    @property
    def height(self) -> int:
        """Rows of the terminal."""

    def set_theme(self, name: str) -> None:
        """Switch the look: `auto`, `dark` or `light`. The setting is not changed."""

    def set_bindings(self, bindings: Bindings) -> None:
        """Use these keys from now on. The setting is not changed."""

    @property
    def draft(self) -> str:
        """The text in the editor."""

    def set_draft(self, text: str) -> None: ...

    async def submit(self, command: "Command") -> "CommandReply":
        """Send a command to the host. A refusal, or a host that is gone, is a reply too."""

    async def ask(self, component: Answerable, overlay: Overlay | None = None, *, above: bool = False) -> Any:
        """Show it in place of the editor (`above` it; with `overlay`, over the window) and wait for its answer."""

    def report(self, text: str, level: Level = "info", hint: str = "") -> None:
        """Show a message in the transcript. Only this console shows it, and it is not stored."""

    def hint(self, text: str, seconds: float = HINTED) -> None:
        """Show a message in place of the key hints, for a moment; an empty one removes the last."""

    def spawn(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        """Run a task in the background."""

    def redraw(self, component: Component | None = None) -> None: ...

    def replay(self) -> None:
        """Draw the whole transcript again: the user changed how it is shown."""

    async def switch(self, session: str, *, draft: str = "") -> None:
        """Show another session, resumed if need be; empty: a new one."""

    def copy(self, text: str) -> None:
        """Put text on the clipboard."""

    def run_program(self, argv: list[str]) -> int:
        """Give the terminal to another program until it ends."""


async def session_begun(desk: Desk) -> None:
    """Wait for the session of a console that was just opened."""
    for _ in range(_LOOKS_AT_MOST):
        if desk.state.seq:
            return
        await asyncio.sleep(_LOOKS_APART)


async def accepted(desk: Desk, command: "Command") -> "CommandReply | None":
    """Send a command to the host. A refusal is reported, and None."""
    reply = await desk.submit(command)
    if reply.ok:
        return reply
    report_refusal(desk, reply)
    return None


def report_refusal(desk: Desk, reply: "CommandReply") -> None:
    desk.report(reply.error, "error", reply.hint)


def report_error(desk: Desk, error: Exception) -> None:
    desk.report(getattr(error, "message", "") or str(error), "error", getattr(error, "hint", ""))


def reply_data(reply: "CommandReply") -> dict[str, Any]:
    """The data of a reply, by name."""
    return reply.data if isinstance(reply.data, dict) else {}
