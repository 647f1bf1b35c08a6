"""Our own agent as the worker of a session: each command is accepted or refused at once, and done after that."""

import asyncio
from collections.abc import Callable
from typing import get_args

from msgspec import to_builtins

from sightline.actors import bounded_value
from sightline.agent import Agent, AgentSpec, ReturnedPrompts, publish_skills, take_settings
from sightline.agent._bugs import log_bug
from sightline.delegation import Member, Team
from sightline.events import LabelState
from sightline.exceptions import SightlineError, UserMistake
from sightline.host.native._reviews import Reviews
from sightline.host.native._side_questions import SideQuestions
from sightline.host.native._user_runs import UserRuns
from sightline.host.recovery._outline import outlined
from sightline.host.session import _commands as commands
from sightline.host.session._attachments import Attachments
from sightline.host.session._commands import AgentCommand, CommandReply
from sightline.host.session._session import HostSession
from sightline.settings import Thinking
from sightline.text import clean_line


class AgentWorker:
    """Forwards the commands of views to an agent. `reload_settings` reads the settings again, if possible."""

    def __init__(self, session: HostSession, agent: Agent, team: Team, environ: dict[str, str]) -> None:
        self.agent = agent
        self.team = team
        self.reload_settings: Callable[[], AgentSpec] | None = None
        self.root_takes_mail: Callable[[], bool] = lambda: True
        self._session = session
        self._attachments = Attachments(agent, agent.workplace.artifacts)
        self._side_questions = SideQuestions(session, agent)
        self.reviews = Reviews(session, agent, team)
        self._user_runs = UserRuns(
            session,
            cwd=str(agent.workplace.cwd),
            environ=environ,
            secrets=agent.secrets,
            send_to_model=agent.add_unshown_message,
        )

    @property
    def busy(self) -> bool:
        return self.agent.busy or self.team.directory.busy

    async def stop(self) -> None:
        await self._user_runs.close()
        await self._side_questions.close()
        await self.reviews.close()
        self.agent.stop()  # what it waits for ends with it
        await self.team.close()
        await self.agent.close()
        await self.agent.hooks.notify("session_end")

    async def submit(self, command: AgentCommand) -> CommandReply:
        try:
            return await self._taken(command)
        except SightlineError as error:
            return CommandReply(False, error=error.message, hint=error.hint)
        except Exception as error:  # of an extension: the caller receives it, and the session continues
            log_bug("a command failed", error)
            return CommandReply(False, error=clean_line(f"it failed: {type(error).__name__}: {error}"))

    async def _taken(self, command: AgentCommand) -> CommandReply:
        agent, directory = self.agent, self.team.directory
        match command:
            case commands.AskAside():
                return CommandReply(True, await self._side_questions.ask(command.text))
            case commands.Review():
                begun = await self.reviews.begin(command.text)
                return CommandReply(True, begun.call, data={"agent": begun.member.path})
            case commands.ReviewChoices():
                return CommandReply(True, data=await self.reviews.choices())
            case commands.DismissFinding():
                await self.reviews.dismiss(command.review, command.finding, dismissed=command.dismissed)
            case commands.Prompt() if command.agent:
                await self._prompt_subagent(command)
            case commands.SendMail():
                return await self._send_mail(command)
            case commands.Abort() if self._side_questions.knows(command.agent):
                if not self._side_questions.stop(command.agent):
                    return CommandReply(False, error=f"{command.agent} has answered")
            case commands.Abort() if command.agent:
                if not directory.stop(self._member(command.agent)):
                    return CommandReply(False, error=f"{command.agent} is not working")
            case commands.Prompt():
                images, files = self._attachments.sorted(command.attachments)
                await agent.prompt(command.text, how=command.how, images=images, files=files)
            case commands.Attach():
                return CommandReply(True, await self._attachments.store(command.name, command.data))
            case commands.Unqueue():
                return CommandReply(True, data=_returned(agent.unqueue()))
            case commands.Abort():
                directory.stop_all()  # one that was left to work would wake it again
                self._side_questions.stop_all()
                return CommandReply(True, data=_returned(agent.stop()))
            case commands.Shell():
                return CommandReply(True, self._user_runs.shell(_typed(command.text), private=command.private))
            case commands.Cell():
                return CommandReply(True, self._user_runs.cell(_typed(command.code), private=command.private))
            case commands.CancelCall():
                cancels = (agent.cancel_call, self._user_runs.cancel, self.reviews.stop, directory.cancel_call)
                if not any(cancel(command.id) for cancel in cancels):
                    return CommandReply(False, command.id, "it has already ended")
            case commands.AnswerRequest():
                answers = (agent.requests.answer, directory.answer)
                if not any(answer(command.id, command.answer) for answer in answers):
                    return CommandReply(False, command.id, "this question is no longer open")
            case _:
                return await self._about_the_conversation(command)
        return CommandReply(True)

    async def _prompt_subagent(self, command: commands.Prompt) -> None:
        if command.attachments:
            raise UserMistake("a subagent takes no attachments", "name the file in the text")
        await self.team.directory.write([self._member(command.agent)], command.text, command.how)

    async def _send_mail(self, command: commands.SendMail) -> CommandReply:
        directory = self.team.directory
        readers: list[Member | None] = [None]
        if command.to_all:
            readers = [*directory.peers(None, live=True), *([None] if self.root_takes_mail() else [])]
        elif command.agent:
            readers = [self._member(command.agent)]
        sent = await directory.write(readers, command.text, reply_to=command.reply_to, to_all=command.to_all)
        return CommandReply(True, sent.id, data={"receipts": to_builtins(sent.receipts)})

    def _member(self, path: str) -> Member:
        if self._side_questions.knows(path):
            raise UserMistake(f"{path} answers one question", "ask the next one with /btw")
        member = self.team.directory.at(path)
        if member is None:
            raise UserMistake(f"there is no agent {clean_line(path)} to talk to")
        if member.path != path:
            raise UserMistake(f"{clean_line(path)} belongs to {member.id}", "address that one")
        return member

    async def _about_the_conversation(self, command: AgentCommand) -> CommandReply:
        agent = self.agent
        match command:
            case commands.MoveTo():
                data = await agent.move(command.to, summarize=command.summarize, instructions=command.instructions)
                agent.todo.publish()
                return CommandReply(True, data=data)
            case commands.Label():
                self._label(command)
            case commands.Outline():
                self._session.flush()
                folder = self._session.folder
                return CommandReply(
                    True, data=await asyncio.to_thread(outlined, folder, command.filter, command.search)
                )
            case commands.Compact():
                return CommandReply(True, data={"compacted": await agent.compact(command.instructions)})
            case commands.EditTodo():
                return CommandReply(True, data={"markdown": self._todo(command)})
            case commands.Reload():
                return CommandReply(True, data={"later": await self._reload()})
            case commands.SetModel():
                return self._set_model(command)
            case commands.SetApproval():
                return self._set_approval(command)
            case commands.Invoke():
                return CommandReply(True, data=bounded_value(await agent.invoke(command.name, command.args)))
        return CommandReply(True)

    def _label(self, command: commands.Label) -> None:
        memory, label = self.agent.memory, clean_line(command.label)
        memory.tree.node(command.target)
        memory.label(command.target, label)
        self.agent.actor.publish(LabelState(command.target, label).as_state())

    def _todo(self, command: commands.EditTodo) -> str:
        todo = self.agent.todo
        return todo.markdown() if command.markdown is None else todo.edit(command.markdown)

    async def _reload(self) -> list[str]:
        if self.reload_settings is None:
            raise UserMistake("the settings of this session were given by the program that started it")
        later = take_settings(self.agent, await asyncio.to_thread(self.reload_settings))
        self.team.directory.level_changed()
        self.team.settings_changed()
        if self.agent.file_commands is not None:
            self.agent.file_commands.find()
            self.agent.actor.publish(self.agent.file_commands.offered().as_state())
        publish_skills(self.agent)
        return later

    def _set_model(self, command: commands.SetModel) -> CommandReply:
        if command.thinking and command.thinking not in get_args(Thinking):
            return CommandReply(
                False, error=f"no thinking level {command.thinking}", hint=", ".join(get_args(Thinking))
            )
        if command.model:
            self.agent.model.choose(command.model)
        if command.thinking:
            self.agent.model.think(command.thinking)  # type: ignore[arg-type]
        return CommandReply(True, data={"model": self.agent.model.name, "thinking": self.agent.model.thinking})

    def _set_approval(self, command: commands.SetApproval) -> CommandReply:
        permissions = self.agent.permissions
        if command.level:
            permissions.set_level(command.level)
            self.team.directory.level_changed()
        if command.forget:
            permissions.approvals.forget(command.forget)
        return CommandReply(True, data=permissions.facts())


def _returned(queued: ReturnedPrompts) -> dict[str, object]:
    return {"queued": queued.texts, "attachments": queued.attachments}


def _typed(text: str) -> str:
    if not text.strip():
        raise UserMistake("there is nothing to run", "type a command after !, or Python after $")
    return text
