"""Our own agent: one conversation, worked on prompt by prompt.

It wires the parts, each with its own state: the conversation (memory, compaction, moves), the permissions (the policy
and what follows from it), the model, and the loop (what waits, runs, calls). Rules:

- It is a producer: what happens becomes events on its actor, and it takes orders through its methods only.
- One run at a time. A prompt that comes during a run joins it, now (`steer`) or after (`follow_up`).
- What is queued is published (`state` queue), and returned when the run is stopped.
- A run, a compaction and a move exclude each other: a second request is refused, and a prompt waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sightline.actors import Actor
from sightline.agent._current_model import CurrentModel
from sightline.agent.conversation._conversation import AgentConversation
from sightline.agent.conversation._todo_reminders import TodoReminders
from sightline.agent.extensions._hooks import Hooks
from sightline.agent.loop._calls import CallRunner
from sightline.agent.loop._command_run import CommandRun, named
from sightline.agent.loop._model_request import ModelRequests
from sightline.agent.loop._queue import How, Inbox, PromptQueue, QueuedPrompt, ReturnedPrompts
from sightline.agent.loop._requests import UserRequests
from sightline.agent.loop._run import AgentRun, RunOpening, RunOutcome
from sightline.agent.loop._side_question import SideQuestion
from sightline.agent.permissions._permissions import SessionPermissions
from sightline.conversation import SKILL, ImagePart, ToolMessage
from sightline.events import StateFact
from sightline.exceptions import UserMistake
from sightline.exec import JobSnapshot
from sightline.tools import ToolRegistry, Workplace
from sightline.tools.skills import SkillUse

if TYPE_CHECKING:
    from sightline._extension_files import ExtensionFile
    from sightline.agent.commands._file_commands import FileCommands

PROMPT_AT_MOST = 4_000_000  # characters
T = TypeVar("T")


class Agent:
    """One agent of one session. Used in the session's event loop only."""

    def __init__(
        self,
        actor: Actor,
        model: CurrentModel,
        conversation: AgentConversation,
        permissions: SessionPermissions,
        requests: UserRequests,
        model_requests: ModelRequests,
        tools: ToolRegistry,
        workplace: Workplace,
        hooks: Hooks,
    ) -> None:
        self.actor = actor
        self.secrets = actor.secrets
        self.model = model
        self.conversation = conversation
        self.memory = conversation.memory
        self.permissions = permissions
        self.requests = requests
        self.model_requests = model_requests
        self.tools = tools
        self.workplace = workplace
        self.hooks = hooks
        self.calls = CallRunner(
            actor, tools, workplace, permissions.approvals, hooks, self._add_result, self.store_value
        )
        self.todo = TodoReminders(actor, workplace, self.store_value, self.add_unshown_message)
        self._queue = PromptQueue(actor)
        self._inbox = Inbox(self._queue, conversation.add_prompt, tools, workplace, took_prompt=model.note_chosen)
        self._run: AgentRun | CommandRun | None = None
        self._task: asyncio.Task[RunOutcome] | None = None
        self._rearranging: asyncio.Task[object] | None = None  # a compaction or a move the user requested
        self._closed = False
        self._when_idle: list[Callable[[], None]] = []
        self._when_begun: list[Callable[[], None]] = []
        self.commands: dict[str, Callable[[str], Awaitable[object]]] = {}  # of extensions
        self.file_commands: FileCommands | None = None  # of the agent of a session
        self.defines_agents: list[tuple[ExtensionFile, object]] = []  # functions of extensions
        self.uses_skills = False  # a prompt is the user's, who may have it use one: `/skill NAME`
        self.notices: list[str] = []  # about what was read for its start, to be published with it

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def delivers(self) -> bool:
        """Whether the end of a job is on its way to it."""
        return self.workplace.jobs is not None and self.workplace.jobs.delivers

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Call this each time the agent has nothing more to do."""
        self._when_idle.append(callback)

    def when_begun(self, callback: Callable[[], None]) -> None:
        """Call this each time a run has begun, before it does anything: what is added then joins it."""
        self._when_begun.append(callback)

    async def prompt(
        self,
        text: str,
        *,
        how: How = "prompt",
        images: tuple[ImagePart, ...] = (),
        files: tuple[str, ...] = (),
        origin: str = "",
        mail: str = "",
        on_dropped: Callable[[], object] | None = None,
    ) -> None:
        """Start a run with this, or add it to the current one. `files`: artifact URLs of what is no image. `mail`: the
        id of the message that it is, which is no command. `on_dropped`: called when it will not be read."""
        self._refuse_when_closed()
        if not text.strip() and not images and not files:
            raise UserMistake("the prompt is empty", "write what the agent should do")
        _refuse_long(text)
        is_theirs = not origin and not mail
        if self.commands and is_theirs and not (self.uses_skills and skill_named(text)[0]) and self._is_command(text):
            self._begin(CommandRun(self.actor, self.workplace.cwd, text, self.invoke))
            return
        if self.file_commands is not None and not origin and not mail and (command := self.file_commands.named(text)):
            if self.busy or self._rearranging is not None:
                raise UserMistake("the agent is working", "run the command when the agent is done")
            typed = QueuedPrompt(text=text, images=images, files=files)
            self._begin(self._new_run(self.file_commands.prompt(command, typed, self._inbox)))
            return
        if self.hooks and not origin:
            text = await self.hooks.prompt(text)
        skill = await self._skill_in(text) if self.uses_skills and is_theirs else None
        if self.busy and how == "prompt":
            how = "steer"
        self._accept(
            QueuedPrompt(
                text=text,
                how=how,
                images=images,
                files=files,
                origin=origin,
                mail=mail,
                skill=skill,
                on_dropped=on_dropped,
            )
        )

    async def _skill_in(self, text: str) -> SkillUse | None:
        """The skill a prompt names with `/skill NAME`. UserMistake where there is none of that name."""
        skills = self.workplace.skills
        if skills is None or named(text)[0] != SKILL:
            return None
        name, words = skill_named(text)
        if not name:
            raise UserMistake("which skill?", "/skill NAME, and what it is for; `sightline skills` lists them")
        return await asyncio.to_thread(skills.use, name, words)

    def side_question(self, text: str, actor: Actor) -> SideQuestion:
        """A question beside the conversation, at any time; it changes nothing of the agent. `actor`: of the answer."""
        self._refuse_when_closed()
        if not text.strip():
            raise UserMistake("there is no question", "write it after the command: /btw QUESTION")
        _refuse_long(text)
        if (why := self.model.why_missing) is not None:
            raise why
        return SideQuestion(
            text,
            actor,
            self.memory.messages,
            model=self.model,
            model_requests=self.model_requests,
            settings=self.workplace.settings,
        )

    async def wait(self) -> RunOutcome | None:
        """The outcome of the current run, or of the last one."""
        return None if self._task is None else await asyncio.shield(self._task)

    def stop(self, reason: str = "cancelled") -> ReturnedPrompts:
        """End the run soon; what the user had queued is returned."""
        returned = self._queue.take_back()
        self._queue.clear()
        if self._run is not None:
            self._run.stop(reason)
        if self._rearranging is not None:
            self._rearranging.cancel()
        return returned

    def unqueue(self) -> ReturnedPrompts:
        """Return what the user had queued; the run continues."""
        return self._queue.take_back()

    async def deliver(self, job: JobSnapshot) -> None:
        """A job has ended: the model reads of it after what it is doing, or now. One that the user cancelled (a job the
        model cancels is not delivered) starts no run: the model reads of it with the next request."""
        result = job.result_text if job.status == "completed" else job.error_text
        text = f"Background job {job.id} ({job.label}) has ended: {job.status}.\n\n{result or ''}".rstrip()
        if job.status == "cancelled":
            self.add_unshown_message(text, "job", job.id)
        else:
            jobs = self.workplace.jobs
            known = None if jobs is None else partial(jobs.acknowledged, job.id)
            self._accept(QueuedPrompt(text=text, how="follow_up", origin="job", job=job.id, unless=known))

    def inform(
        self, text: str, origin: str, *, mail: str, unless: Callable[[], bool], on_read: Callable[[], object]
    ) -> None:
        """A message of another agent, and its id: added at the next step of the run, or a run of its own."""
        queued = QueuedPrompt(text=text, how="steer", origin=origin, mail=mail, unless=unless, on_read=on_read)
        self._accept(queued)

    async def compact(self, instructions: str = "") -> bool:
        """Compact the conversation; false when there is nothing to gain."""
        return await self._alone(lambda: self.conversation.compact(instructions, why="asked"))

    async def move(self, target: str, *, summarize: bool = False, instructions: str = "") -> dict[str, object]:
        """Continue from another entry of the tree."""
        return await self._alone(lambda: self.conversation.move(target, summarize=summarize, instructions=instructions))

    async def _alone(self, work: Callable[[], Coroutine[object, object, T]]) -> T:
        """Do something to the conversation while nothing else does."""
        self._refuse_when_closed()
        if self.busy or self._rearranging is not None:
            raise UserMistake("the agent is working", "stop it first")
        task: asyncio.Task[T] = asyncio.get_running_loop().create_task(work())
        self._rearranging = task
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            raise UserMistake("it was stopped", "the conversation is unchanged") from None
        finally:
            self._rearranging = None
            self._take_unshown()
            if self._queue and not self.busy and not self._closed:
                self._begin()

    def cancel_call(self, id: str) -> bool:
        """False when it is none of its own, or has ended."""
        pieces = self.file_commands
        return self.calls.cancel(id) or (pieces is not None and pieces.cancel(id))

    async def invoke(self, name: str, args: str) -> object:
        """Run a command an extension brought."""
        command = self.commands.get(name)
        if command is None:
            known = ", ".join(self.commands) or "none"
            raise UserMistake(f"no command {name}", f"extension commands here: {known}")
        return await command(args)

    def add_shown_message(self, text: str, origin: str) -> None:
        """Add an extension's text to the next request: no message may stand between a call and its result."""
        if isinstance(self._run, AgentRun):
            self._queue.add(QueuedPrompt(text=text, how="steer", origin=origin))
        else:
            self.conversation.add_extension_message(origin, text)

    def add_unshown_message(self, text: str, origin: str, job: str = "") -> None:
        """Add a text for the next request that no view shows: views saw it happen, or it is a reminder."""
        self._queue.add(QueuedPrompt(text=text, origin=origin, job=job, shown=False))
        self._take_unshown()

    async def close(self) -> None:
        """Stop, wait for that, and release what is open."""
        self._closed = True
        self.todo.close()
        self.stop()
        going = [task for task in (self._task, self._rearranging) if task is not None]
        if going:
            await asyncio.wait(going)
        if self.workplace.jobs is not None:
            await self.workplace.jobs.shutdown()
        await self.permissions.close()
        await self.requests.close()
        await self.model.close()

    def store_value(self, name: str, value: object, shown: StateFact | None = None) -> None:
        """Store a value with the conversation, for a tool or an extension."""
        self.conversation.store_value(name, value, shown)
        self.todo.on_stored(name)

    def _accept(self, queued: QueuedPrompt) -> None:
        self._queue.add(queued)
        if not self.busy and self._rearranging is None and not self._closed:
            self._begin()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise UserMistake("the session is ending", "resume it when it has ended")

    def _take_unshown(self) -> None:
        """Not between a call and its result, nor during a compaction or a move."""
        if not isinstance(self._run, AgentRun) and self._rearranging is None:
            self._inbox.take_unshown()

    def _add_result(self, message: ToolMessage) -> None:
        self.memory.add(message)
        self.todo.answered(message)

    def _is_command(self, text: str) -> bool:
        if named(text)[0] not in self.commands:
            return False
        if self.busy:
            raise UserMistake("the agent is working", "run the command when the agent is done")
        return True

    def _new_run(self, opening: RunOpening | None = None) -> AgentRun:
        return AgentRun(
            self.actor,
            model=self.model,
            conversation=self.conversation,
            inbox=self._inbox,
            model_requests=self.model_requests,
            calls=self.calls,
            approvals=self.permissions.approvals,
            workplace=self.workplace,
            opening=opening,
        )

    def _begin(self, run: "AgentRun | CommandRun | None" = None) -> None:
        self._run = run or self._new_run()
        self._inbox.begin_run()
        self._task = asyncio.get_running_loop().create_task(self._run.run())
        self._task.add_done_callback(self._ended)
        for callback in self._when_begun if isinstance(self._run, AgentRun) else ():
            callback()

    def _ended(self, task: "asyncio.Task[RunOutcome]") -> None:
        if self._task is not task:
            return  # a prompt came before this was called, and has begun the next
        self._run = None
        self._queue.drop_known()
        self._take_unshown()
        if not task.cancelled() and task.exception() is None and self._queue and not self._closed:
            self._begin()  # it came in between
            return
        for callback in self._when_idle:
            callback()


def skill_named(text: str) -> tuple[str, str]:
    """The skill a prompt has the agent use, and the user's words after its name; empty where it names none."""
    command, rest = named(text)
    words = rest.split(maxsplit=1)
    return (words[0], "".join(words[1:])) if command == SKILL and words else ("", "")


def _refuse_long(text: str) -> None:
    if len(text) > PROMPT_AT_MOST:
        raise UserMistake(
            f"the prompt has {len(text)} characters, more than {PROMPT_AT_MOST}",
            "put the text into a file and name the file in the prompt",
        )
