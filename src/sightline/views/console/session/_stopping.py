"""Stopping what runs: the shell line or cell entered last, else the agent. Queued messages return to the editor."""

from sightline.host import Abort, CancelCall, CommandReply, Unqueue
from sightline.views.console._desk import Desk, reply_data, report_refusal
from sightline.views.console._state import ConsoleState
from sightline.views.console.input import PromptEditor
from sightline.views.console.status import AGENT, Facts


class Stopping:
    """`ConsoleState.stopping` has what is being stopped, until it has ended."""

    def __init__(self, desk: Desk, current: ConsoleState, prompt: PromptEditor) -> None:
        self._desk = desk
        self._current = current
        self._prompt = prompt
        self._stopping_agent = False
        self._run: object = None
        """When the run that is being stopped began."""

    @property
    def can_stop(self) -> bool:
        """Whether escape would stop something."""
        facts = Facts(self._desk.state)
        return bool(self._current.running or facts.activity or facts.aside or facts.review)

    async def stop(self) -> bool:
        """Stop what was begun last, and only that. False when nothing is running."""
        if self._current.running:
            call = self._current.stopping = self._current.running[-1]
            self._desk.redraw()
            if not (await self._desk.submit(CancelCall(call))).ok:
                self._current.stopping = ""
            return True
        if not self.can_stop:
            return False
        facts = Facts(self._desk.state)
        beside = facts.aside or facts.review
        if beside is not None and not facts.activity:
            await self._desk.submit(Abort(agent=beside.path))
        else:
            await self.stop_agent()
        return True

    async def stop_agent(self) -> None:
        if self._stopping_agent:
            return
        self._stopping_agent, self._current.stopping, self._run = True, AGENT, self._current_run()
        self._desk.redraw()
        try:
            reply = await self._desk.submit(Abort())
            if reply.ok:
                self.take_back(reply)
            else:
                self._current.stopping = ""
                report_refusal(self._desk, reply)
        finally:
            self._stopping_agent = False

    def look(self) -> None:
        """The session has changed: what has ended is not being stopped any more."""
        facts = Facts(self._desk.state)
        is_agent = self._current.stopping == AGENT and bool(facts.activity) and self._run == self._current_run()
        if not is_agent and self._current.stopping != (facts.typed and facts.typed.id):
            self._current.stopping = ""

    def _current_run(self) -> object:
        return self._desk.state.running and self._desk.state.began

    async def unqueue(self) -> bool:
        """Return the queued messages to the editor. False when there are none."""
        reply = await self._desk.submit(Unqueue())
        if not reply.ok:
            report_refusal(self._desk, reply)
            return True
        return self.take_back(reply)

    def take_back(self, reply: CommandReply) -> bool:
        """Put the queued messages of a reply into the editor, before the draft. False when there are none."""
        queued = reply_data(reply).get("queued")
        texts = [str(text) for text in queued] if isinstance(queued, list) else []
        if texts:
            self._prompt.restore(*texts)
        return bool(texts)
