"""Somebody else's agent as the worker of a session: prompts become runs of its CLI, one after the other.

Rules:

- A prompt goes on with the provider's own conversation: its id is kept in the journal, so a session of ours that is
  resumed goes on with it too.
- One run at a time. What is said meanwhile is queued and sent when the run is over, unless the provider takes it now.
- A run goes on from the moment its prompt is taken, not from the provider's first word: it is shown, and can be
  stopped, while the provider still starts. That it began is told once, by us.
- What it says and does is shown and kept without the secrets of this environment, as with our own agent. What the
  person types reaches it as it is.
- A provider may go on by itself when something it left running has ended: that is a run nobody prompted.
- An approval level holds for the runs that are begun after it was chosen.
- A run always ends: whatever fails becomes an error and the end of the run, and the session goes on.
"""

import asyncio
import os
from typing import Any, Literal, Protocol

from msgspec.structs import replace

from sightline.agent import Secrets, level_left
from sightline.events import Error, RunEnded, RunStarted, State, User
from sightline.exceptions import SightlineError, UserMistake
from sightline.host._commands import (
    Abort,
    AgentCommand,
    AnswerRequest,
    Attach,
    CancelCall,
    Cell,
    Outline,
    Prompt,
    Reply,
    SetApproval,
    SetModel,
    Shell,
    Unqueue,
)
from sightline.host._person_runs import PersonRuns
from sightline.host._provider_connection import Connection
from sightline.host._provider_events import Retelling
from sightline.host._provider_levels import allows_less, first_level, level_of, levels_of
from sightline.host._provider_memory import ProviderMemory
from sightline.host._provider_queue import Queued, Shelf, given_back, name_of, waiting
from sightline.host._session import Session
from sightline.journal import Tree
from sightline.providers import Ask, Outcome, Provider, Run, get_provider, provider_names
from sightline.settings import stored_keys
from sightline.text import clean_line, clean_text, without_credentials

_QUEUED_AT_MOST = 100
_HEARD_AT_MOST = 20
_PROMPT_AT_MOST = 4_000_000  # characters


class ProviderWanted(Protocol):
    """What has to be known to start; the fields of whatever the host was asked for."""

    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def approval(self) -> str: ...
    @property
    def approval_named(self) -> bool: ...
    @property
    def cwd(self) -> Any: ...
    @property
    def option(self) -> dict[str, Any]: ...


async def open_provider(session: Session, wanted: ProviderWanted, tree: Tree, shelf: Shelf) -> "ProviderWorker":
    """The worker for a session that is new or resumed. Nothing is started before a viewer is there."""
    try:
        provider = get_provider(wanted.provider)
    except KeyError:
        raise UserMistake(f"no provider {wanted.provider}", f"one of {', '.join(provider_names())}") from None
    level, notice = first_level(provider, wanted.approval, tree, named=wanted.approval_named)
    ask = Ask(
        prompt="",
        model=wanted.model,
        approval=level,
        cwd=str(wanted.cwd),
        options=dict(wanted.option),
    )
    memory = ProviderMemory(session, tree, provider.name)
    await memory.mend()
    memory.take_over()
    had = level_left(tree)
    if wanted.approval and had != level and (wanted.approval_named or had is None):
        memory.chose_level(level)
    worker = ProviderWorker(session, provider, ask, memory, shelf)
    session.on_attended, session.on_left_alone = worker.warm_up, worker.cool_down
    if notice is not None:
        session.publish(notice)
    return worker


class ProviderWorker:
    def __init__(self, session: Session, provider: Provider, ask: Ask, memory: ProviderMemory, shelf: Shelf) -> None:
        """`ask`: what all prompts have in common."""
        self._session = session
        self._provider = provider
        self._ask = ask
        self._memory = memory
        self._shelf = shelf
        self._queue: list[Queued] = []
        self._told_queue: list[dict[str, str]] = []
        self._task: asyncio.Task[None] | None = None
        self._run: Run | None = None
        self._retelling: Retelling | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._stopped = self._closed = self._starting = False
        self._model = ask.model
        self._attached = 0
        self._heard: list[str] = []  # what the person ran themselves, for the next prompt
        environ = dict(os.environ)
        self._secrets = Secrets(environ, stored_keys())
        self._connection = Connection(session, provider, ask, self._follow, self._secrets.masked)
        self._person = PersonRuns(session, cwd=ask.cwd, environ=environ, secrets=self._secrets, tell_model=self._hear)
        session.publish(State("provider", provider.name, source=provider.name))
        session.publish(State("model", ask.model, source=provider.name))
        session.publish(State("steering", provider.steers, source=provider.name))
        self._tell_level()

    def warm_up(self) -> None:
        """Somebody is there who may write a prompt."""
        if not self._closed and not self.busy:
            self._connection.warm_up(self._next_ask(""))

    def cool_down(self) -> None:
        """Nobody is there any more."""
        self._session.track(self._connection.cool_down(self._ask))

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def submit(self, command: AgentCommand) -> Reply:
        try:
            return await self._taken(command)
        except SightlineError as error:
            return Reply(False, error=error.message, hint=error.hint)

    async def _taken(self, command: AgentCommand) -> Reply:
        match command:
            case Prompt():
                return await self._prompt(command)
            case Attach():
                return await self._attach(command)
            case Unqueue():
                return Reply(True, data=self._unqueue())
            case Shell(text=text) | Cell(code=text) if not text.strip():
                return Reply(False, error="there is nothing to run", hint="type it after the ! or the $")
            case Shell():
                return Reply(True, self._person.shell(command.text, private=command.private))
            case Cell():
                return Reply(True, self._person.cell(command.code, private=command.private))
            case Outline():
                return await self._outline(command)
            case Abort():
                return self._abort()
            case AnswerRequest():
                return self._answer(command)
            case SetModel():
                return self._set_model(command)
            case SetApproval():
                return await self._set_approval(command)
            case CancelCall():
                if self._person.cancel(command.id) or await self._stop_agent(command.id):
                    return Reply(True, command.id)
                return self._cannot_stop_one(command.id)
            case _:
                name = type(command).__name__
                return self._refusal(f"no {name.lower()}", "this works only in sessions of Sightline's own agent")

    async def _stop_agent(self, call: str) -> bool:
        path = self._native_agent(call)
        return bool(path) and await self._connection.stop_agent(path)

    def _native_agent(self, call: str) -> str:
        return self._retelling.native_agent(call) if self._retelling is not None else ""

    def _cannot_stop_one(self, call: str) -> Reply:
        what = "agent" if self._native_agent(call) else "call"
        if not self.busy or (what == "agent" and self._connection.stops_agents):
            return Reply(False, call, "it has already ended", "/agents and /jobs list what is running")
        error = f"{self._provider.title} cannot stop one {what} alone"
        return Reply(False, call, error, "escape in the prompt stops all of its work")

    async def stop(self) -> None:
        self._closed = True
        self._abort()
        await self._person.close()
        if self._task is not None:
            await asyncio.wait([self._task])
        await self._connection.close()

    # Commands

    async def _prompt(self, command: Prompt) -> Reply:
        if self._closed:
            return Reply(False, error="the session is ending", hint="resume it when it has ended")
        if not command.text.strip() and not command.attachments:
            return Reply(False, error="the prompt is empty", hint="write what the agent should do")
        if len(command.text) > _PROMPT_AT_MOST:
            hint = "put the text into a file and name the file in the prompt"
            return Reply(False, error=f"the prompt has more than {_PROMPT_AT_MOST} characters", hint=hint)
        if len(self._queue) >= _QUEUED_AT_MOST:
            return Reply(False, error=f"{_QUEUED_AT_MOST} prompts are queued", hint="wait, or stop with escape")
        if self.busy and command.how != "follow_up" and await self._steered(command):
            return Reply(True)
        how: Literal["prompt", "follow_up"] = "follow_up" if self.busy else "prompt"
        self._queue.append(Queued(command.text, how, command.attachments))
        self._tell_queue()
        self._begin_to_work()
        return Reply(True)

    def _begin_to_work(self) -> None:
        if not self.busy:
            self._task = asyncio.get_running_loop().create_task(self._work())
            self._task.add_done_callback(lambda _: self._session.tell_if_idle())

    async def _steered(self, command: Prompt) -> bool:
        """Whether the provider took it into what it is doing."""
        if self._run is None or command.attachments or self._stopped:
            return False
        if not await self._connection.steer(command.text):
            return False
        said = User(clean_text(self._secrets.masked(command.text)), [], "steer")
        if self._retelling is not None:
            self._retelling.say(said)
            self._tell_queue()
        else:
            self._session.publish(said)
        return True

    async def _attach(self, command: Attach) -> Reply:
        self._attached += 1
        name = name_of(command.name, f"{self._session.seq}-{self._attached}")
        try:
            return Reply(True, await asyncio.to_thread(self._shelf.keep, name, command.data))
        except OSError as problem:
            return Reply(False, error=clean_line(f"it cannot be stored: {problem}"), hint="free some disk space")

    def _unqueue(self) -> dict[str, Any]:
        theirs = given_back(self._queue)
        self._queue = [queued for queued in self._queue if queued.run is not None]
        self._tell_queue()
        return theirs

    def _abort(self) -> Reply:
        self._stopped = True
        given_back = self._unqueue()
        self._cancel_run()
        return Reply(True, data=given_back)

    def _cancel_run(self) -> None:
        """Beside the reading of its events: one whose events nobody takes would not end."""
        if self._run is None:
            self._connection.cut()
        elif self._cancelling is None or self._cancelling.done():
            self._cancelling = asyncio.get_running_loop().create_task(self._run.cancel())

    def _answer(self, command: AnswerRequest) -> Reply:
        native = self._retelling.native_request(command.id) if self._retelling is not None else ""
        if native and self._connection.answer(native, command.answer):
            return Reply(True, command.id)
        return Reply(False, command.id, "this question is no longer open")

    def _set_model(self, command: SetModel) -> Reply:
        if command.thinking:
            return self._refusal("its own setting for how much it thinks", "choose it there")
        if command.model:
            self._ask = replace(self._ask, model=command.model)
            self._know_model(clean_line(command.model))
        return Reply(True, data={"model": self._ask.model, "thinking": ""})

    async def _set_approval(self, command: SetApproval) -> Reply:
        """A run that goes on was begun under its level; the next is begun under the new one, and what else the
        provider still does under one that allows more is ended with it."""
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
                self._tell_level()
        levels = list(levels_of(self._provider))
        return Reply(True, data={"level": self._ask.approval, "levels": levels, "rules": [], "next": self.busy})

    def _tell_level(self) -> None:
        self._told_level = self._ask.approval
        value: dict[str, Any] = {"level": self._ask.approval, "flags": []}
        self._session.publish(State("approval", value, source=self._provider.name))

    async def _outline(self, command: Outline) -> Reply:
        from sightline.host._outlined import outlined

        self._session.flush()
        return Reply(True, data=await asyncio.to_thread(outlined, self._session.folder, command.filter, command.search))

    def _hear(self, text: str, kind: str) -> None:
        self._heard = [*self._heard, self._secrets.masked(text)][-_HEARD_AT_MOST:]

    def _refusal(self, what: str, hint: str) -> Reply:
        return Reply(False, error=f"{self._provider.title} has {what}", hint=hint)

    # Runs

    async def _work(self) -> None:
        while self._queue and not (self._closed and self._queue[0].run is None):
            self._stopped = False  # what was there when it was stopped was given back: this came after
            queued = self._queue.pop(0)
            self._tell_queue()
            await self._turn(queued)
            await self._connection.drop_lowered(self._ask)
            if self._told_level != self._ask.approval:  # chosen while it worked: it holds from now on
                self._tell_level()

    async def _turn(self, queued: Queued) -> None:
        heard, self._heard = (self._heard, []) if queued.run is None else ([], self._heard)
        prompt = self._prompted(queued, heard) if queued.run is None else ""
        self._tell_begun(starts=queued.run is None and not self._connection.is_open)
        secrets, agents = self._secrets, self._memory.agents
        retelling = Retelling(self._session, clean_text(prompt), agents, self._on_run, secrets, begun=True)
        self._retelling = retelling
        outcome, problem = None, None
        try:
            run = queued.run or await self._begin(prompt)
            if run is not None:
                outcome = await self._tell_run(run, retelling)
            else:
                self._heard = [*heard, *self._heard]  # nobody was told
        except SightlineError as error:
            problem = Error(error.message, error.hint, source=self._provider.name)
        except Exception as error:
            what = clean_line(f"the run broke off: {type(error).__name__}: {error} (this is a bug in sightline)")
            problem = Error(what, "send it again", source=self._provider.name)
        self._settle(retelling, outcome, problem)

    async def _begin(self, prompt: str) -> Run | None:
        if self._stopped or self._closed:
            return None
        return await self._connection.begin(self._next_ask(prompt))

    def _next_ask(self, prompt: str) -> Ask:
        return replace(self._ask, prompt=prompt, resume=self._memory.session)

    def _tell_begun(self, *, starts: bool) -> None:
        """`starts`: the provider has to be started first, which may take as long as an answer."""
        ask, name = self._ask, self._provider.name
        begun = RunStarted(clean_line(self._memory.session), clean_line(self._model), clean_line(ask.cwd), source=name)
        self._session.publish(begun)
        if starts:
            self._starting = True
            self._session.publish(State("starting", self._provider.title, source=name))

    def _tell_started(self) -> None:
        if self._starting:
            self._starting = False
            self._session.publish(State("starting", None, source=self._provider.name))

    async def _tell_run(self, run: Run, retelling: Retelling) -> Outcome:
        self._run = run
        self._queue = [queued for queued in self._queue if queued.run is not run]  # begun by itself, then prompted
        if self._stopped or self._closed:
            self._cancel_run()
        async for events in run.events():
            if any(not isinstance(event, State) for event in events):
                self._tell_started()
            retelling.tell(events)
            self._tell_queue()
        return run.outcome

    def _follow(self, run: Run) -> bool:
        """The provider goes on by itself, since something it had left running has ended."""
        if not self._closed:
            self._queue.insert(0, Queued(run=run))
            self._begin_to_work()
        return not self._closed

    def _settle(self, retelling: Retelling, outcome: Outcome | None, problem: Error | None) -> None:
        """The run is over, however it went."""
        self._run = self._retelling = None
        self._tell_started()
        retelling.close()
        self._tell_queue()
        if problem is not None:
            text = without_credentials(self._secrets.masked(problem.text))
            self._session.publish(replace(problem, text=text))
        if retelling.running:
            reason = "cancelled" if self._stopped else ""
            self._session.publish(RunEnded(None, None, reason, problem is not None, source=self._provider.name))
        error = problem or (outcome.error if outcome is not None else None)
        self._memory.answered(
            self._secrets.masked(outcome.text) if outcome is not None else "",
            self._model,
            cancelled=outcome.cancelled if outcome is not None else self._stopped,
            error=self._secrets.masked(error.text) if error is not None else "",
        )
        self._memory.note()

    def _on_run(self, event: RunStarted) -> None:
        if event.session and event.session != self._memory.session:
            self._memory.session = event.session
            self._memory.note()
        if event.model:
            self._know_model(event.model)

    def _know_model(self, model: str) -> None:
        if model != self._model:
            self._model = model
            self._session.publish(State("model", model, source=self._provider.name))

    def _prompted(self, queued: Queued, heard: list[str]) -> str:
        """Told and kept; then the prompt after what the person ran, with the files they attached named at its end: its
        tools read them."""
        text = clean_text(self._secrets.masked(queued.text))
        self._session.publish(User(text, queued.attachments, queued.how))
        self._memory.prompted(text)
        paths = [self._shelf.find(url) for url in queued.attachments]
        named = [f"Attached file: {path}" for path in paths if path is not None]
        return "\n\n".join([*heard, queued.text, *named])

    def _tell_queue(self) -> None:
        steering = [Queued(user.text, "steer") for user in self._retelling.said] if self._retelling is not None else []
        queue = waiting([*steering, *self._queue], self._secrets.masked)
        if queue != self._told_queue:
            self._told_queue = queue
            self._session.publish(State("queue", queue, source=self._provider.name))
