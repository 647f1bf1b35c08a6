"""Dialogs for the open requests of the session: shown one after the other, answered here or in another view.

Rules:

- The oldest comes first, and only while no other dialog is open: a list the user opened is not pushed aside.
- One that is answered elsewhere, or is moot, closes here.
- One that is closed without an answer is answered with None, which counts as a no.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sightline.host import AnswerRequest, all_details
from sightline.views.console._agent_names import waits

if TYPE_CHECKING:
    from sightline.tty import Overlay
    from sightline.views.console._desk import Answerable, Desk

DialogFor = Callable[[Any], Awaitable["tuple[Answerable, Overlay | None, bool]"]]


class RequestDialogs:
    def __init__(self, desk: "Desk", dialog_for: DialogFor, *, is_asking: Callable[[], bool]) -> None:
        """`is_asking`: whether another dialog is open."""
        self._desk = desk
        self._dialog_for = dialog_for
        self._is_asking = is_asking
        self._shown = ""
        self._request: Any = None
        self._asking: asyncio.Task[Any] | None = None
        self._dialog: Answerable | None = None
        self._answered: set[str] = set()
        """Requests answered here that the session has not resolved yet."""

    @property
    def dialog(self) -> "Answerable | None":
        """The one that is shown."""
        return self._dialog

    def look(self) -> None:
        """The session has changed: show the next request, close one that is moot."""
        open_ones = self._desk.state.requests
        self._answered &= set(open_ones)
        if self._shown and not self._is_open(self._shown, self._request):
            self._withdraw()
        waiting = [id for id in open_ones if id not in self._answered]
        if waiting and not self._shown and not self._is_asking():
            self._shown, self._request = waiting[0], open_ones[waiting[0]]
            self._asking = self._desk.spawn(self._ask(self._shown, self._request))

    def _is_open(self, id: str, request: Any) -> bool:
        """This very one: ids of another session may be the same."""
        return bool(self._desk.state.requests.get(id) == request)

    def _withdraw(self) -> None:
        if self._dialog is not None:
            self._dialog.done(None)
        elif self._asking is not None:  # it is still being made, which may never end
            self._asking.cancel()
            self._shown = ""

    async def _whole(self, request: Any) -> Any:
        """With all of its details: of a long command or change the request has only the beginning."""
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
            desk.report(waits(request))
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
