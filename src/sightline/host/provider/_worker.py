"""Another provider's agent as the worker of a session: prompts become runs of its CLI, one after the other.

Rules:

- A prompt continues the provider's own conversation, also in a session that is resumed: its id is in the journal.
- One run at a time. A prompt during a run is queued and sent when the run is over, unless the provider takes it now.
- A run is shown, and can be stopped, while the provider still starts.
- A provider may continue by itself when something it left running has ended: that is a run without a prompt.
- An approval level applies to the runs that are begun after it was chosen.
- A run always ends: any failure becomes an error and the end of the run, and the session continues.
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from sightline.agent import level_left
from sightline.events import (
    ApprovalState,
    Error,
    Notice,
    QueuedMessage,
    QueueState,
    StartingState,
    State,
    StopsAgentsState,
    User,
)
from sightline.exceptions import SightlineError, UserMistake
from sightline.host.native._user_runs import UserRuns
from sightline.host.provider._connection import ProviderConnection
from sightline.host.provider._events import Translation
from sightline.host.provider._levels import allows_less, first_level, level_of
from sightline.host.provider._memory import ProviderMemory
from sightline.host.provider._publisher import RunPublisher
from sightline.host.session import _commands as commands
from sightline.host.session._commands import AgentCommand, CommandReply
from sightline.host.session._session import HostSession
from sightline.journal import SessionTree
from sightline.providers import Provider, ProviderOutcome, ProviderPrompt, Run, get_provider, provider_names
from sightline.secrets import Secrets
from sightline.settings import StartOptions, keys_notice, stored_keys
from sightline.text import clean_line
from sightline.tools import ArtifactShelf

_QUEUED_AT_MOST = 100
_USER_RUNS_AT_MOST = 20
_PROMPT_AT_MOST = 4_000_000  # characters
_SHOWN = 2000  # characters of what waits


class WaitingMessage(msgspec.Struct, frozen=True):
    """A prompt of the user, or a run that the provider began by itself."""

    text: str = ""
    how: Literal["prompt", "steer", "follow_up"] = "prompt"
    attachments: list[str] = []
    run: Run | None = None  # begun by the provider, without a prompt


def returned_prompts(queue: Iterable[WaitingMessage]) -> dict[str, Any]:
    """What is returned to the user: their own prompts."""
    theirs = [queued for queued in queue if queued.run is None]
    return {
        "queued": [queued.text for queued in theirs],
        "attachments": [url for queued in theirs for url in queued.attachments],
    }


def waiting(queue: Iterable[WaitingMessage], masked: Callable[[str], str]) -> QueueState:
    """As views show it during a run."""
    return QueueState([QueuedMessage(masked(q.text)[:_SHOWN], q.how) for q in queue if q.how != "prompt"])


def name_of(attached: str, number: str) -> str:
    """The name a file is stored under. A plain suffix stays: programs go by it."""
    suffix = Path(attached).suffix.lower()
    plain = suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) < 10
    return f"attached-{number}{suffix if plain else ''}"


async def open_provider(
    session: HostSession, options: StartOptions, tree: SessionTree, shelf: ArtifactShelf
) -> "ProviderWorker":
    """The worker for a session that is new or resumed. Nothing is started before a viewer is there."""
    try:
        provider = get_provider(options.provider)
    except KeyError:
        raise UserMistake(f"no provider {options.provider}", f"one of {', '.join(provider_names())}") from None
    level, notice = first_level(provider, options.approval, tree, named=options.approval_named)
    ask = ProviderPrompt(prompt="", model=options.model, approval=level, cwd=options.cwd, options=dict(options.option))
    memory = ProviderMemory(session, tree, provider.name)
    memory.repair()
    if (taken_over := memory.take_over()) is not None:
        session.actor("sightline").publish(taken_over)
    had = level_left(tree)
    if options.approval and had != level and (options.approval_named or had is None):
        memory.chose_level(level)
    worker = ProviderWorker(session, provider, ask, memory, shelf)
    session.on_attended, session.on_left_alone = worker.warm_up, worker.cool_down
    if notice is not None:
        session.actor(provider.name).publish(notice)
    if ignored := [name for name in options.given if name in ("--allow", "--deny")]:
        text = f"not used: {', '.join(ignored)}; {provider.title} has its own rules"
        session.actor("settings").publish(Notice(text, "warning", "change them there"))
    return worker


class ProviderWorker:
    def __init__(
        self,
        session: HostSession,
        provider: Provider,
        ask: ProviderPrompt,
        memory: ProviderMemory,
        shelf: ArtifactShelf,
    ) -> None:
        """`ask`: what all prompts have in common."""
        self._session = session
        self._provider = provider
        self._ask = ask
        self._memory = memory
        self._shelf = shelf
        self._queue: list[WaitingMessage] = []
        self._published_queue = QueueState([])
        self._task: asyncio.Task[None] | None = None
        self._run: Run | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._stopped = self._closed = self._starting = False
        self._attached = 0
        self._pending_runs: list[str] = []  # commands the user ran, for the next prompt
        environ = dict(os.environ)
        self._secrets = Secrets(environ, stored_keys())
        self._actor = session.actor(provider.name, self._secrets)
        self._publisher = RunPublisher(self._actor, memory, model=ask.model, cwd=ask.cwd)
        self._connection = ProviderConnection(self._actor, provider, ask, self._follow)
        self._user_runs = UserRuns(
            session, cwd=ask.cwd, environ=environ, secrets=self._secrets, send_to_model=self._add_user_run
        )
        self._publisher.publish_facts(provider.name, steers=provider.steers)
        if (unread := keys_notice()) is not None:
            self._actor.observed_by("settings").publish(unread)
        self._published_stops: bool | None = None
        self._publish_stops()
        self._publish_level()

    def warm_up(self) -> None:
        """A user is there who may write a prompt."""
        if not self._closed and not self.busy:
            self._connection.warm_up(self._next_ask(""))

    def cool_down(self) -> None:
        """The last user has left."""
        self._session.track(self._connection.cool_down(self._ask))

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def submit(self, command: AgentCommand) -> CommandReply:
        try:
            return await self._taken(command)
        except SightlineError as error:
            return CommandReply(False, error=error.message, hint=error.hint)

    async def _taken(self, command: AgentCommand) -> CommandReply:
        match command:
            case commands.Prompt(agent=agent) | commands.Abort(agent=agent) if agent:
                return self._refusal("subagents of its own", "write to the agent")
            case commands.SendMail():
                return self._refusal("no messages between agents", "write to the agent")
            case commands.AskAside():
                return self._refusal("no side questions", "/btw works only in sessions of Sightline's own agent")
            case commands.Review() | commands.ReviewChoices():
                return self._refusal("no /review", "/review works only in sessions of Sightline's own agent")
            case commands.Prompt():
                return await self._prompt(command)
            case commands.Attach():
                return await self._attach(command)
            case commands.Unqueue():
                return CommandReply(True, data=self._unqueue())
            case commands.Shell(text=text) | commands.Cell(code=text) if not text.strip():
                return CommandReply(False, error="there is nothing to run", hint="type it after the ! or the $")
            case commands.Shell():
                return CommandReply(True, self._user_runs.shell(command.text, private=command.private))
            case commands.Cell():
                return CommandReply(True, self._user_runs.cell(command.code, private=command.private))
            case commands.Outline():
                return await self._outline(command)
            case commands.Abort():
                return self._abort()
            case commands.AnswerRequest():
                return self._answer(command)
            case commands.SetModel():
                return self._set_model(command)
            case commands.SetApproval():
                return await self._set_approval(command)
            case commands.CancelCall():
                if self._user_runs.cancel(command.id) or await self._stop_agent(command.id):
                    return CommandReply(True, command.id)
                return self._cannot_stop_one(command.id)
            case _:
                name = type(command).__name__
                return self._refusal(f"no {name.lower()}", "this works only in sessions of Sightline's own agent")

    async def _stop_agent(self, call: str) -> bool:
        path = self._native_agent(call)
        return bool(path) and await self._connection.stop_agent(path)

    def _publish_stops(self) -> None:
        """Publish whether one subagent can be stopped. That changes once the channel is given up."""
        if self._published_stops != self._connection.stops_agents:
            self._published_stops = self._connection.stops_agents
            self._actor.publish(StopsAgentsState(self._published_stops).as_state())

    @property
    def _translation(self) -> Translation | None:
        return self._publisher.translation

    def _native_agent(self, call: str) -> str:
        return self._translation.native_agent(call) if self._translation is not None else ""

    def _cannot_stop_one(self, call: str) -> CommandReply:
        what = "agent" if self._native_agent(call) else "call"
        if not self.busy or (what == "agent" and self._connection.stops_agents):
            return CommandReply(False, call, "it has already ended", "/agents and /jobs list what is running")
        error = f"{self._provider.title} cannot stop one {what} alone"
        return CommandReply(False, call, error, "escape in the prompt stops all of its work")

    async def stop(self) -> None:
        self._closed = True
        self._abort()
        await self._user_runs.close()
        if self._task is not None:
            await asyncio.wait([self._task])
        await self._connection.close()

    # Commands

    async def _prompt(self, command: commands.Prompt) -> CommandReply:
        if self._closed:
            return CommandReply(False, error="the session is ending", hint="resume it when it has ended")
        if not command.text.strip() and not command.attachments:
            return CommandReply(False, error="the prompt is empty", hint="write what the agent should do")
        if len(command.text) > _PROMPT_AT_MOST:
            hint = "put the text into a file and name the file in the prompt"
            return CommandReply(False, error=f"the prompt has more than {_PROMPT_AT_MOST} characters", hint=hint)
        if len(self._queue) >= _QUEUED_AT_MOST:
            return CommandReply(False, error=f"{_QUEUED_AT_MOST} prompts are queued", hint="wait, or stop with escape")
        if self.busy and command.how != "follow_up" and await self._steered(command):
            return CommandReply(True)
        how: Literal["prompt", "follow_up"] = "follow_up" if self.busy else "prompt"
        self._queue.append(WaitingMessage(command.text, how, command.attachments))
        self._publish_queue()
        self._begin_to_work()
        return CommandReply(True)

    def _begin_to_work(self) -> None:
        if not self.busy:
            self._task = asyncio.get_running_loop().create_task(self._work())
            self._task.add_done_callback(lambda _: self._session.report_if_idle())

    async def _steered(self, command: commands.Prompt) -> bool:
        """Whether the provider took it into what it is doing."""
        if self._run is None or command.attachments or self._stopped:
            return False
        if not await self._connection.steer(command.text):
            return False
        event = User(command.text, [], "steer")
        if self._translation is not None:
            self._translation.add_user_message(event)
            self._publish_queue()
        else:
            self._actor.observed_by("person").publish(event)
        return True

    async def _attach(self, command: commands.Attach) -> CommandReply:
        self._attached += 1
        name = name_of(command.name, f"{self._session.seq}-{self._attached}")
        try:
            return CommandReply(True, await asyncio.to_thread(self._shelf.store, name, command.data))
        except OSError as problem:
            return CommandReply(False, error=clean_line(f"it cannot be stored: {problem}"), hint="free some disk space")

    def _unqueue(self) -> dict[str, object]:
        theirs = returned_prompts(self._queue)
        self._queue = [queued for queued in self._queue if queued.run is not None]
        self._publish_queue()
        return theirs

    def _abort(self) -> CommandReply:
        self._stopped = True
        returned_prompts = self._unqueue()
        self._cancel_run()
        return CommandReply(True, data=returned_prompts)

    def _cancel_run(self) -> None:
        """Beside the reading of its events: one whose events are not read would not end."""
        if self._run is None:
            self._connection.cut()
        elif self._cancelling is None or self._cancelling.done():
            self._cancelling = asyncio.get_running_loop().create_task(self._run.cancel())

    def _answer(self, command: commands.AnswerRequest) -> CommandReply:
        native = self._translation.native_request(command.id) if self._translation is not None else ""
        if native and self._connection.answer(native, command.answer):
            return CommandReply(True, command.id)
        return CommandReply(False, command.id, "this question is no longer open")

    def _set_model(self, command: commands.SetModel) -> CommandReply:
        if command.thinking:
            return self._refusal("its own setting for how much it thinks", "choose it there")
        if command.model:
            self._ask = replace(self._ask, model=command.model)
            self._publisher.know_model(clean_line(command.model))
        return CommandReply(True, data={"model": self._ask.model, "thinking": ""})

    async def _set_approval(self, command: commands.SetApproval) -> CommandReply:
        """The current run has the level it began with; the next has the new one. What else the provider still does
        under a higher level is ended."""
        if command.forget:
            return self._refusal("its own rules", "change them there")
        if command.level and command.level != self._ask.approval:
            level = level_of(self._provider, command.level)
            lowered = allows_less(level, self._ask.approval)
            self._ask = replace(self._ask, approval=level)
            self._connection.renew(at_once=lowered)
            self._memory.chose_level(level)
            if not self.busy:
                await self._connection.drop_lowered(self._ask)
                self._publish_level()
        levels = self._provider.levels
        return CommandReply(True, data={"level": self._ask.approval, "levels": levels, "rules": [], "next": self.busy})

    def _publish_level(self) -> None:
        self._published_level = self._ask.approval
        self._actor.publish(ApprovalState(self._ask.approval).as_state())

    async def _outline(self, command: commands.Outline) -> CommandReply:
        from sightline.host.recovery._outline import outlined

        self._session.flush()
        return CommandReply(
            True, data=await asyncio.to_thread(outlined, self._session.folder, command.filter, command.search)
        )

    def _add_user_run(self, text: str, kind: str) -> None:
        self._pending_runs = [*self._pending_runs, self._secrets.masked(text)][-_USER_RUNS_AT_MOST:]

    def _refusal(self, what: str, hint: str) -> CommandReply:
        return CommandReply(False, error=f"{self._provider.title} has {what}", hint=hint)

    # Runs

    async def _work(self) -> None:
        while self._queue and not (self._closed and self._queue[0].run is None):
            self._stopped = False  # what was queued when it was stopped was returned: this came after
            queued = self._queue.pop(0)
            self._publish_queue()
            await self._turn(queued)
            await self._connection.drop_lowered(self._ask)
            if self._published_level != self._ask.approval:  # chosen during the run: it applies from now on
                self._publish_level()

    async def _turn(self, queued: WaitingMessage) -> None:
        pending, self._pending_runs = (self._pending_runs, []) if queued.run is None else ([], self._pending_runs)
        prompt = self._prompted(queued, pending) if queued.run is None else ""
        starts = queued.run is None and not self._connection.is_open
        translation = self._publisher.begin(prompt)
        if starts:
            self._publish_starting()
        outcome, problem = None, None
        try:
            run = queued.run or await self._begin(prompt)
            if run is not None:
                outcome = await self._publish_run(run, translation)
            else:
                self._pending_runs = [*pending, *self._pending_runs]  # it was not sent
        except SightlineError as error:
            problem = Error(error.message, error.hint)
        except Exception as error:
            what = clean_line(f"the run broke off: {type(error).__name__}: {error} (this is a bug in sightline)")
            problem = Error(what, "send it again")
        self._settle(outcome, problem)

    async def _begin(self, prompt: str) -> Run | None:
        if self._stopped or self._closed:
            return None
        return await self._connection.begin(self._next_ask(prompt))

    def _next_ask(self, prompt: str) -> ProviderPrompt:
        return replace(self._ask, prompt=prompt, resume=self._memory.session)

    def _publish_starting(self) -> None:
        """The provider has to be started first, which may take as long as an answer."""
        self._starting = True
        self._actor.publish(StartingState(self._provider.title).as_state())

    def _publish_started(self) -> None:
        if self._starting:
            self._starting = False
            self._actor.publish(StartingState.over())

    async def _publish_run(self, run: Run, translation: Translation) -> ProviderOutcome:
        self._run = run
        self._publish_stops()
        self._queue = [queued for queued in self._queue if queued.run is not run]  # begun by itself, then prompted
        if self._stopped or self._closed:
            self._cancel_run()
        async with aclosing(run.events()) as batches:
            async for events in batches:
                if any(not isinstance(event, State) for event in events):
                    self._publish_started()
                translation.publish(events)
                self._publish_queue()
        return run.outcome

    def _follow(self, run: Run) -> bool:
        """The provider continues by itself, since something it had left running has ended."""
        if not self._closed:
            self._queue.insert(0, WaitingMessage(run=run))
            self._begin_to_work()
        return not self._closed

    def _settle(self, outcome: ProviderOutcome | None, problem: Error | None) -> None:
        """The run is over, however it went."""
        self._run = None
        self._publish_started()
        if self._translation is not None:
            self._translation.close()
        self._publish_queue()
        self._publisher.end(outcome, problem, stopped=self._stopped)

    def _prompted(self, queued: WaitingMessage, pending: list[str]) -> str:
        """Publish and store a prompt. Returns it after what the user ran, and with the paths of attached files."""
        self._publisher.prompt(queued.text, queued.attachments, how=queued.how)
        paths = [self._shelf.find(url) for url in queued.attachments]
        named = [f"Attached file: {path}" for path in paths if path is not None]
        return "\n\n".join([*pending, queued.text, *named])

    def _publish_queue(self) -> None:
        users = [] if self._translation is None else self._translation.waiting
        steering = [WaitingMessage(user.text, "steer") for user in users]
        queue = waiting([*steering, *self._queue], self._secrets.masked)
        if queue != self._published_queue:
            self._published_queue = queue
            self._actor.publish(queue.as_state())
