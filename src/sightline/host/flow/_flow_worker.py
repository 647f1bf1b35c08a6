"""A flow as the worker of a session. Its agents, and what comes after it, are up to the worker of our own agent."""

import asyncio

from sightline.flows import FlowRun
from sightline.host.native._worker import AgentWorker
from sightline.host.session import _commands as commands
from sightline.host.session._commands import AgentCommand, CommandReply


class FlowWorker:
    """Forwards the commands of views to a flow and to its agents."""

    def __init__(self, agents: AgentWorker, flow: FlowRun) -> None:
        self._agents = agents
        self._flow = flow
        self._cancelling: asyncio.Task[None] | None = None
        agents.root_takes_mail = lambda: not flow.is_running

    @property
    def busy(self) -> bool:
        return self._flow.is_running or self._agents.busy

    async def stop(self) -> None:
        await self._flow.cancel()
        await self._agents.stop()

    async def submit(self, command: AgentCommand) -> CommandReply:
        if self._flow.is_running:
            match command:
                case (
                    commands.Prompt(agent="")
                    | commands.SendMail(agent="", to_all=False)
                    | commands.AskAside()
                    | commands.MoveTo()
                    | commands.Compact()
                ):
                    hint = "write to one of its steps, or wait for its end"
                    return CommandReply(False, error="a flow runs in this session", hint=hint)
                case commands.Abort(agent=""):
                    self._cancelling = asyncio.get_running_loop().create_task(self._flow.cancel())
                    return CommandReply(True, data={"queued": [], "attachments": []})
                case commands.Abort() if self._flow.stop_step(command.agent):
                    return CommandReply(True)
                case commands.CancelCall() if self._flow.cancel_call(command.id):
                    return CommandReply(True, command.id)
        return await self._agents.submit(command)
