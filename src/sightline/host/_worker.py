"""The agent of a session, taking commands: each is accepted or refused at once, and done after that."""

from typing import get_args

from sightline.agent import Agent, bounded_value
from sightline.exceptions import SightlineError
from sightline.host._commands import (
    Abort,
    AgentCommand,
    AnswerRequest,
    CancelCall,
    Compact,
    Invoke,
    Label,
    Move,
    Prompt,
    Reply,
    SetModel,
)
from sightline.settings import Thinking
from sightline.text import clean_line


class AgentWorker:
    """Commands of views, passed on to an agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @property
    def busy(self) -> bool:
        return self.agent.busy

    async def stop(self) -> None:
        await self.agent.close()

    async def submit(self, command: AgentCommand) -> Reply:
        try:
            return await self._taken(command)
        except SightlineError as error:
            return Reply(False, error=error.message, hint=error.hint)
        except Exception as error:  # of an extension: whoever asked hears of it, and the session goes on
            _log(error)
            return Reply(False, error=clean_line(f"it failed: {type(error).__name__}: {error}"))

    async def _taken(self, command: AgentCommand) -> Reply:
        agent = self.agent
        match command:
            case Prompt():
                await agent.prompt(command.text, how=command.how)
            case Abort():
                return Reply(True, data={"queued": agent.stop()})
            case CancelCall():
                if not agent.calls.cancel(command.id):
                    return Reply(False, command.id, "it has already ended")
            case AnswerRequest():
                if not agent.requests.answer(command.id, command.answer):
                    return Reply(False, command.id, "nobody waits for that answer any more")
            case Move():
                data = await agent.move(command.to, summarize=command.summarize, instructions=command.instructions)
                return Reply(True, data=data)
            case Label():
                agent.memory.tree.node(command.target)
                agent.memory.label(command.target, clean_line(command.label))
            case Compact():
                return Reply(True, data={"compacted": await agent.compact(command.instructions)})
            case SetModel():
                return self._set_model(command)
            case Invoke():
                return Reply(True, data=bounded_value(await agent.invoke(command.name, command.args)))
        return Reply(True)

    def _set_model(self, command: SetModel) -> Reply:
        if command.thinking and command.thinking not in get_args(Thinking):
            return Reply(False, error=f"no thinking level {command.thinking}", hint=", ".join(get_args(Thinking)))
        if command.model:
            self.agent.set_model(command.model)
        if command.thinking:
            self.agent.set_thinking(command.thinking)  # type: ignore[arg-type]
        return Reply(True, data={"model": self.agent.model_name, "thinking": self.agent.thinking})


def _log(error: Exception) -> None:
    from sightline.agent._bugs import log_bug

    log_bug("a command failed", error)
