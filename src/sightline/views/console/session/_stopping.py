"""Stopping what goes on: the shell line or cell entered last, else the agent. Queued messages return to the editor."""

from typing import Any

from sightline.host import Abort, CancelCall, Unqueue
from sightline.views.console._desk import Desk
from sightline.views.console.input import PromptEditor
from sightline.views.console.session._input import Entered
from sightline.views.console.status import AGENT, Facts, WorkingRow


class Stopping:
    """`working` says that it is being done, until it is."""

    def __init__(self, desk: Desk, entered: Entered, working: WorkingRow, prompt: PromptEditor) -> None:
        self._desk = desk
        self._entered = entered
        self._working = working
        self._prompt = prompt
        self._stopping_agent = False

    @property
    def can_stop(self) -> bool:
        """Whether there is something Escape would stop."""
        return bool(self._entered.running or Facts(self._desk.state).going_on)

    async def stop(self) -> bool:
        """Stop what was begun last, and only that. False when nothing is going on."""
        if self._entered.running:
            call = self._working.stopping = self._entered.running[-1]
            self._desk.redraw()
            if not (await self._desk.submit(CancelCall(call))).ok:
                self._working.stopping = ""
            return True
        if not self.can_stop:
            return False
        await self.stop_agent()
        return True

    async def stop_agent(self) -> None:
        if self._stopping_agent:
            return
        self._stopping_agent, self._working.stopping = True, AGENT
        self._desk.redraw()
        try:
            reply = await self._desk.submit(Abort())
            if reply.ok:
                self.take_back(reply.data)
            else:
                self._working.stopping = ""
                self._desk.report(reply.error, "error", reply.hint)
        finally:
            self._stopping_agent = False

    async def unqueue(self) -> bool:
        """Edit what was queued. False when nothing was."""
        reply = await self._desk.submit(Unqueue())
        if not reply.ok:
            self._desk.report(reply.error, "error", reply.hint)
            return True
        return self.take_back(reply.data)

    def take_back(self, data: Any) -> bool:
        """What waited to be sent is in the editor again, before what is written there."""
        queued = data.get("queued") if isinstance(data, dict) else None
        texts = [str(text) for text in queued] if isinstance(queued, list) else []
        if texts:
            self._prompt.give_back(*texts)
        return bool(texts)
