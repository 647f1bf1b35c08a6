"""The agent of a session, taking commands: each is accepted or refused at once, and done after that."""

import asyncio
from collections.abc import Callable
from typing import Any, get_args

from sightline.agent import (
    Agent,
    GivenBack,
    Wanted,
    approval_facts,
    bounded_value,
    forget_answer,
    set_approval,
    take_settings,
)
from sightline.events import State
from sightline.exceptions import SightlineError, UserMistake
from sightline.host._attachments import Attachments
from sightline.host._commands import (
    Abort,
    AgentCommand,
    AnswerRequest,
    Attach,
    CancelCall,
    Cell,
    Compact,
    EditTodo,
    Invoke,
    Label,
    Move,
    Outline,
    Prompt,
    Reload,
    Reply,
    SetApproval,
    SetModel,
    Shell,
    Unqueue,
)
from sightline.host._outlined import outlined
from sightline.host._person_runs import PersonRuns
from sightline.host._session import Session
from sightline.settings import Thinking
from sightline.text import clean_line


class AgentWorker:
    """Commands of views, passed on to an agent. `settings_again` reads the settings once more, where that can be."""

    def __init__(self, session: Session, agent: Agent, environ: dict[str, str]) -> None:
        self.agent = agent
        self.settings_again: Callable[[], Wanted] | None = None
        self._session = session
        self._attachments = Attachments(agent, agent.workplace.artifacts)
        self._person = PersonRuns(
            session,
            cwd=str(agent.workplace.cwd),
            environ=environ,
            secrets=agent.secrets,
            tell_model=agent.let_model_know,
        )

    @property
    def busy(self) -> bool:
        return self.agent.busy

    async def stop(self) -> None:
        await self._person.close()
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
                images, files = self._attachments.sorted(command.attachments)
                await agent.prompt(command.text, how=command.how, images=images, files=files)
            case Attach():
                return Reply(True, await self._attachments.keep(command.name, command.data))
            case Unqueue():
                return Reply(True, data=_given_back(agent.unqueue()))
            case Abort():
                return Reply(True, data=_given_back(agent.stop()))
            case Shell():
                return Reply(True, self._person.shell(_typed(command.text), private=command.private))
            case Cell():
                return Reply(True, self._person.cell(_typed(command.code), private=command.private))
            case CancelCall():
                if not agent.calls.cancel(command.id) and not self._person.cancel(command.id):
                    return Reply(False, command.id, "it has already ended")
            case AnswerRequest():
                if not agent.requests.answer(command.id, command.answer):
                    return Reply(False, command.id, "this question is no longer open")
            case _:
                return await self._about_the_conversation(command)
        return Reply(True)

    async def _about_the_conversation(self, command: AgentCommand) -> Reply:
        agent = self.agent
        match command:
            case Move():
                data = await agent.move(command.to, summarize=command.summarize, instructions=command.instructions)
                agent.todo.tell()
                return Reply(True, data=data)
            case Label():
                self._label(command)
            case Outline():
                self._session.flush()
                folder = self._session.folder
                return Reply(True, data=await asyncio.to_thread(outlined, folder, command.filter, command.search))
            case Compact():
                return Reply(True, data={"compacted": await agent.compact(command.instructions)})
            case EditTodo():
                return Reply(True, data={"markdown": self._todo(command)})
            case Reload():
                return Reply(True, data={"later": await self._reload()})
            case SetModel():
                return self._set_model(command)
            case SetApproval():
                return self._set_approval(command)
            case Invoke():
                return Reply(True, data=bounded_value(await agent.invoke(command.name, command.args)))
        return Reply(True)

    def _label(self, command: Label) -> None:
        memory, label = self.agent.memory, clean_line(command.label)
        memory.tree.node(command.target)
        memory.label(command.target, label)
        self.agent.stage.publish(State("label", {"target": command.target, "label": label}, source="agent"))

    def _todo(self, command: EditTodo) -> str:
        todo = self.agent.todo
        return todo.markdown() if command.markdown is None else todo.edit(command.markdown)

    async def _reload(self) -> list[str]:
        if self.settings_again is None:
            raise UserMistake("the settings of this session were given by the program that started it")
        return take_settings(self.agent, await asyncio.to_thread(self.settings_again))

    def _set_model(self, command: SetModel) -> Reply:
        if command.thinking and command.thinking not in get_args(Thinking):
            return Reply(False, error=f"no thinking level {command.thinking}", hint=", ".join(get_args(Thinking)))
        if command.model:
            self.agent.set_model(command.model)
        if command.thinking:
            self.agent.set_thinking(command.thinking)  # type: ignore[arg-type]
        return Reply(True, data={"model": self.agent.model_name, "thinking": self.agent.thinking})

    def _set_approval(self, command: SetApproval) -> Reply:
        if command.level:
            set_approval(self.agent, command.level)
        if command.forget:
            forget_answer(self.agent, command.forget)
        return Reply(True, data=approval_facts(self.agent))


def _given_back(queued: GivenBack) -> dict[str, Any]:
    return {"queued": queued.texts, "attachments": queued.attachments}


def _typed(text: str) -> str:
    if not text.strip():
        raise UserMistake("there is nothing to run", "type a command after !, or Python after $")
    return text


def _log(error: Exception) -> None:
    from sightline.agent._bugs import log_bug

    log_bug("a command failed", error)
