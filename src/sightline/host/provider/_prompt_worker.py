"""One prompt (`-p`) for another provider's agent as the worker of a session: it is watched and stopped, and takes no
other prompt. What is written to its output is the answer to its own."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from sightline.exceptions import SightlineError
from sightline.host.session import _commands as commands
from sightline.host.session._commands import AgentCommand, CommandReply
from sightline.host.session._session import HostSession
from sightline.providers import Approval, Provider
from sightline.secrets import Secrets

if TYPE_CHECKING:
    from sightline.host.native._user_runs import UserRuns


class PromptWorker:
    """`cancel` ends the run and everything it started."""

    def __init__(
        self,
        session: HostSession,
        provider: Provider,
        level: Approval,
        secrets: Secrets,
        cancel: Callable[[], Coroutine[object, object, None]],
    ) -> None:
        self.work: asyncio.Task[None] | None = None  # None: it is about to begin
        self._session = session
        self._provider = provider
        self._level = level
        self._secrets = secrets
        self._cancel = cancel
        self._user_runs: UserRuns | None = None

    @property
    def busy(self) -> bool:
        return self.work is None or not self.work.done()

    async def stop(self) -> None:
        if self._user_runs is not None:
            await self._user_runs.close()
        await self._cancel()
        if self.work is not None:
            await asyncio.wait([self.work])

    async def submit(self, command: AgentCommand) -> CommandReply:
        try:
            return await self._taken(command)
        except SightlineError as error:
            return CommandReply(False, error=error.message, hint=error.hint)

    async def _taken(self, command: AgentCommand) -> CommandReply:
        match command:
            case commands.Prompt() | commands.Attach() | commands.AskAside():
                return self._refusal("prompt")
            case commands.SetModel(model="", thinking=""):
                return CommandReply(True, data={"model": "", "thinking": ""})
            case commands.SetModel():
                return self._refusal("model")
            case commands.SetApproval(level="", forget=""):
                data = {"level": self._level, "levels": [self._level], "rules": [], "next": False}
                return CommandReply(True, data=data)
            case commands.SetApproval():
                return self._refusal("approval level")
            case commands.Abort() if command.agent:
                error = f"{self._provider.title} has subagents of its own"
                return CommandReply(False, error=error, hint="escape in the prompt stops all of its work")
            case commands.Abort():
                self._session.track(self._cancel())
                return CommandReply(True, data=_NOTHING_QUEUED)
            case commands.Unqueue():
                return CommandReply(True, data=_NOTHING_QUEUED)
            case commands.Shell(text=text) | commands.Cell(code=text) if not text.strip():
                return CommandReply(False, error="there is nothing to run", hint="type it after the ! or the $")
            case commands.Shell():
                return CommandReply(True, self._runs().shell(command.text, private=command.private))
            case commands.Cell():
                return CommandReply(True, self._runs().cell(command.code, private=command.private))
            case commands.CancelCall():
                if self._user_runs is not None and self._user_runs.cancel(command.id):
                    return CommandReply(True, command.id)
                error = f"{self._provider.title} cannot stop one call alone"
                return CommandReply(False, command.id, error, "escape in the prompt stops all of its work")
            case commands.Outline():
                from sightline.host.recovery._outline import outlined

                self._session.flush()
                folder = self._session.folder
                return CommandReply(
                    True, data=await asyncio.to_thread(outlined, folder, command.filter, command.search)
                )
            case commands.AnswerRequest():
                return CommandReply(False, command.id, "this question is no longer open")
            case _:
                what = type(command).__name__.lower()
                hint = "this works only in sessions of Sightline's own agent"
                return CommandReply(False, error=f"{self._provider.title} has no {what}", hint=hint)

    def _refusal(self, what: str) -> CommandReply:
        hint = f"stop it, or wait for its end, then resume it: sightline --resume {self._session.id}"
        return CommandReply(False, error=f"this run was started with -p and takes no other {what}", hint=hint)

    def _runs(self) -> "UserRuns":
        """What the user runs beside it. No prompt follows here that could have it."""
        if self._user_runs is None:
            from sightline.host.native._user_runs import UserRuns

            self._user_runs = UserRuns(
                self._session,
                cwd=os.getcwd(),
                environ=dict(os.environ),
                secrets=self._secrets,
                send_to_model=lambda text, kind: None,
            )
        return self._user_runs


_NOTHING_QUEUED: dict[str, object] = {"queued": [], "attachments": []}
