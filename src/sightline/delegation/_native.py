"""Our own loop as the driver of an agent: a conversation in a journal of its own, permissions of its parent's."""

from collections.abc import Callable

from sightline.agent import Agent
from sightline.delegation._driver import DriverOutcome, How
from sightline.journal import JournalWriter


class NativeReader:
    """Gives words to an agent of ours."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @property
    def busy(self) -> bool:
        return self.agent.busy

    async def prompt(self, text: str, *, how: How, mail: str, on_dropped: Callable[[], object]) -> None:
        await self.agent.prompt(text, how=how, mail=mail, on_dropped=on_dropped)

    def inform(
        self,
        text: str,
        *,
        mail: str,
        unless: Callable[[], bool],
        on_read: Callable[[], object],
        on_answer: Callable[[str], object],
    ) -> None:
        self.agent.inform(text, "irc", mail=mail, unless=unless, on_read=on_read)


class NativeDriver(NativeReader):
    def __init__(self, agent: Agent, writer: JournalWriter) -> None:
        super().__init__(agent)
        self._writer = writer

    @property
    def model(self) -> str:
        return self.agent.model.name

    async def run(
        self,
        text: str,
        *,
        origin: str,
        force_tool: str = "",
        mail: str = "",
        on_dropped: Callable[[], object] | None = None,
    ) -> DriverOutcome:
        self.agent.model_requests.force_tool = force_tool
        await self.agent.prompt(text, origin=origin, mail=mail, on_dropped=on_dropped)
        return await self._end()

    def stop(self, reason: str) -> None:
        self.agent.stop(reason)

    def answer(self, request: str, answer: object) -> bool:
        return self.agent.requests.answer(request, answer)

    def cancel_call(self, id: str) -> bool:
        return self.agent.calls.cancel(id)

    def level_changed(self) -> None:
        pass  # its permissions look up those above with each call

    def give_up(self) -> bool:
        return self.agent.requests.give_up()

    async def close(self) -> None:
        await self.agent.close()
        self._writer.close()

    async def _end(self) -> DriverOutcome:
        """Of its last run: a message may have begun another one meanwhile."""
        ended = await self.agent.wait()
        while self.agent.busy:
            ended = await self.agent.wait()
        if ended is None:
            return DriverOutcome(error="it did not run")
        stopped = ended.stop_reason if ended.stop_reason in ("cancelled", "timeout") else ""
        return DriverOutcome(
            text=ended.text,
            words=ended.text,
            error=ended.error,
            stopped=stopped,
            is_refused=ended.exit_code == 3,
        )
