"""What somebody waits for an answer to: shown one after the other, answered here or elsewhere.

Rules:

- The oldest is asked first, and only while nothing else is asked: a list the person opened is not pushed aside.
- One that is answered elsewhere, or is moot, closes here.
- What is closed without an answer is answered by nothing, which whoever asked takes for a no.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sightline.host import AnswerRequest, all_details

if TYPE_CHECKING:
    from sightline.tty import Overlay
    from sightline.views.console._desk import Answerable, Desk

DialogFor = Callable[[Any], Awaitable["tuple[Answerable, Overlay | None, bool]"]]


class RequestDialogs:
    """Looks after those of the session that is shown."""

    def __init__(self, desk: "Desk", dialog_for: DialogFor, *, is_asking: Callable[[], bool]) -> None:
        """`is_asking`: whether something else is asked."""
        self._desk = desk
        self._dialog_for = dialog_for
        self._is_asking = is_asking
        self._shown = ""
        self._request: Any = None
        self._asking: asyncio.Task[Any] | None = None
        self._dialog: Answerable | None = None
        self._answered: set[str] = set()
        """The session has yet to say that they are settled."""

    @property
    def dialog(self) -> "Answerable | None":
        """What is asked now."""
        return self._dialog

    def look(self) -> None:
        """Something changed: ask the next, close what is moot."""
        open_ones = self._desk.state.requests
        self._answered &= set(open_ones)
        if self._shown and not self._is_open(self._shown, self._request):
            self._withdraw()
        waiting = [id for id in open_ones if id not in self._answered]
        if waiting and not self._shown and not self._is_asking():
            self._shown, self._request = waiting[0], open_ones[waiting[0]]
            self._asking = self._desk.spawn(self._ask(self._shown, self._request))

    def _is_open(self, id: str, request: Any) -> bool:
        """This very one: another session numbers its own alike."""
        return bool(self._desk.state.requests.get(id) == request)

    def _withdraw(self) -> None:
        if self._dialog is not None:
            self._dialog.done(None)
        elif self._asking is not None:  # it is still being made, and may be for ever
            self._asking.cancel()
            self._shown = ""

    async def _whole(self, request: Any) -> Any:
        """With all of its details: of a long command or change, the request itself has only the beginning."""
        details = request.get("details")
        if not isinstance(details, dict) or not details.get("stored"):
            return request
        folder = self._desk.store.folder(self._desk.session)
        return {**request, "details": await asyncio.to_thread(all_details, folder, request)}

    async def _ask(self, id: str, request: Any) -> None:
        desk = self._desk
        dialog, overlay, above = await self._dialog_for(await self._whole(request))
        self._dialog = dialog
        if desk.drawing.linear:
            desk.report("waiting for your answer")
        try:
            answer = await desk.ask(dialog, overlay, above=above) if self._is_open(id, request) else None
        finally:
            self._shown, self._dialog = "", None
            dialog.dispose()
        if self._is_open(id, request):
            self._answered.add(id)
            reply = await desk.submit(AnswerRequest(id, answer))
            if not reply.ok:
                desk.report(reply.error, "info", reply.hint)
        self.look()
