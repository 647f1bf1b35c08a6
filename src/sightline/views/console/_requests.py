"""What somebody waits for an answer to: shown one after the other, answered here or elsewhere.

Rules:

- The oldest is asked first, and only while nothing else is asked: a list the person opened is not pushed aside.
- One that is answered elsewhere, or is moot, closes here.
- What is closed without an answer is answered by nothing, which whoever asked takes for a no.
"""

from typing import TYPE_CHECKING, Any

from sightline.host import AnswerRequest

if TYPE_CHECKING:
    from sightline.views.console._console import Console
    from sightline.views.console._desk import Ask


class Requests:
    """Looks after those of the session that is shown."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._shown = ""
        self._dialog: Ask | None = None
        self._answered: set[str] = set()
        """The session has yet to say that they are settled."""

    def look(self) -> None:
        """Something changed: ask the next, close what is moot."""
        open_ones = self._console.state.requests
        self._answered &= set(open_ones)
        if self._shown:
            if self._shown not in open_ones and self._dialog is not None:
                self._dialog.done(None)
            return
        waiting = [id for id in open_ones if id not in self._answered]
        if waiting and self._console.screen.asking is None:
            self._shown = waiting[0]
            self._console.spawn(self._ask(waiting[0], open_ones[waiting[0]]))

    async def _ask(self, id: str, request: Any) -> None:
        console = self._console
        dialog, overlay, above = await console.extensions.dialog_for(request)
        self._dialog = dialog
        if console.drawing.linear:
            console.tell("waiting for your answer")
        try:
            answer = await console.ask(dialog, overlay, above=above) if id in console.state.requests else None
        finally:
            self._shown, self._dialog = "", None
            dialog.dispose()
        if id in console.state.requests:
            self._answered.add(id)
            reply = await console.submit(AnswerRequest(id, answer))
            if not reply.ok:
                console.tell(reply.error, "info", reply.hint)
        self.look()
