"""Our own agent: one conversation, worked on prompt by prompt.

Rules:

- It is a producer: what happens becomes events on its stage, and it takes orders through its methods only.
- One run at a time. A prompt that comes while one is going on joins it, now (`steer`) or after (`follow_up`).
- What is queued is told (`state` queue), and given back when the run is stopped.
- Nothing else is done to the conversation while a run is going on or while it is made short or moved: what is asked
  for meanwhile is refused, and a prompt waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from sightline.agent._approvals import Approvals
from sightline.agent._asking import Asking, has_new_image
from sightline.agent._bounds import bounded_text, encodable, encodable_call
from sightline.agent._calls import Calls
from sightline.agent._command_run import CommandRun, named
from sightline.agent._compaction import tokens_used
from sightline.agent._hooks import Hooks
from sightline.agent._known_rules import KnownRule
from sightline.agent._memory import Memory
from sightline.agent._missing_model import MissingModel
from sightline.agent._network import NetworkJudge
from sightline.agent._queue import GivenBack, How, Queue, Queued
from sightline.agent._requests import Requests
from sightline.agent._run import Run, RunOutcome
from sightline.agent._secrets import Secrets
from sightline.agent._stage import Stage
from sightline.agent._summaries import Summaries
from sightline.agent._todo_care import TodoCare
from sightline.conversation import (
    AssistantMessage,
    CallPart,
    Content,
    ImagePart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from sightline.events import Notice, State, User
from sightline.exceptions import SightlineError, UserMistake
from sightline.exec import JobSnapshot
from sightline.exec.gateway import Gateway
from sightline.models import Model
from sightline.settings import Policy, Settings, Thinking
from sightline.tools import Tools, Workplace

PROMPT_AT_MOST = 4_000_000  # characters
T = TypeVar("T")
_ENDS = {
    "length": ("the answer was cut off: it reached the token limit", "ask the agent to continue"),
    "empty": ("the model gave no answer", "ask again, or try another model"),
    "refusal": ("the model refused to answer", "rephrase the prompt, or try another model"),
}


class Agent:
    """One agent of one session. Used in the session's event loop only."""

    def __init__(
        self,
        stage: Stage,
        *,
        model: Model,
        open_model: Callable[[str], Model],
        settings: Settings,
        policy: Policy,
        rules: tuple[KnownRule, ...] = (),
        tools: Tools,
        workplace: Workplace,
        memory: Memory,
        requests: Requests,
        hooks: Hooks,
        secrets: Secrets,
        system: str,
        thinking: Thinking,
        chosen: bool = False,
    ) -> None:
        """`chosen`: the model is not the one the session had, or the settings have: it is kept with the next prompt."""
        self.stage = stage
        self.model = model
        self.open_model = open_model
        self.settings = settings
        self.tools = tools
        self.workplace = workplace
        self.workplace.kept = memory.kept()
        self.memory = memory
        self.requests = requests
        self.hooks = hooks
        self.secrets = secrets
        self.thinking = thinking
        self.sandbox_wanted = settings.permissions.sandbox  # when the session began
        self.approvals = Approvals(policy, stage, requests, rules)
        judge = NetworkJudge(self.approvals, stage, lambda: self.settings.web.private_hosts)
        self.workplace.gateway = Gateway(judge, stage.publish)
        self.workplace.network = judge.decide
        self.calls = Calls(stage, tools, workplace, self.approvals, hooks, secrets, self._add_result, self.keep)
        self.asking = Asking(system, tools, workplace.artifacts, stage.session)
        self._summaries = Summaries(self)
        self._queue = Queue(stage)
        self.todo = TodoCare(self)
        self._run: Run | CommandRun | None = None
        self._task: asyncio.Task[RunOutcome] | None = None
        self._rearranging: asyncio.Task[Any] | None = None  # a compaction or a move somebody asked for
        self._models_before: list[Model] = []  # that an answer may still be coming from
        self._seeing: Model | None = None  # asked in place of one that cannot see
        self._chosen = chosen
        self._closed = False
        self._reminded = 0
        self.commands: dict[str, Callable[[str], Awaitable[Any]]] = {}  # of extensions
        self.on_idle: Callable[[], None] = lambda: None
        self.notices: list[str] = []  # about what was read for its start, to be published with it

    @property
    def model_name(self) -> str:
        """As it can be asked for again."""
        facts = self.model.facts
        alone = not facts.provider or facts.id.startswith(f"{facts.provider}:")
        return facts.id if alone else f"{facts.provider}/{facts.id}"

    @property
    def why_no_model(self) -> SightlineError | None:
        """Why there is none to ask; None when there is one."""
        return self.model.why if isinstance(self.model, MissingModel) else None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def prompt(
        self,
        text: str,
        *,
        how: How = "prompt",
        images: tuple[ImagePart, ...] = (),
        files: tuple[str, ...] = (),
        origin: str = "",
    ) -> None:
        """Work on this, or have it join the work that is going on. Returns when it is accepted. `files`: artifact URLs
        of what is no image."""
        self._refuse_when_closed()
        if not text.strip() and not images and not files:
            raise UserMistake("the prompt is empty", "write what the agent should do")
        if len(text) > PROMPT_AT_MOST:
            raise UserMistake(
                f"the prompt has {len(text)} characters, more than {PROMPT_AT_MOST}",
                "put the text into a file and name the file in the prompt",
            )
        if self.commands and not origin and self._is_command(text):
            self._begin(CommandRun(self, text))
            return
        if self.hooks and not origin:
            text = await self.hooks.prompt(text)
        if self.busy and how == "prompt":
            how = "steer"
        self._accept(Queued(text=text, how=how, images=images, files=files, origin=origin))

    async def wait(self) -> RunOutcome | None:
        """The end of the run that is going on, or of the last one."""
        return None if self._task is None else await asyncio.shield(self._task)

    def stop(self, reason: str = "cancelled") -> GivenBack:
        """End the run soon; what the person had queued is given back."""
        given_back = self._queue.give_back()
        self._queue.clear()
        if self._run is not None:
            self._run.stop(reason)
        if self._rearranging is not None:
            self._rearranging.cancel()
        return given_back

    def unqueue(self) -> GivenBack:
        """Give back what the person had queued; the work goes on."""
        return self._queue.give_back()

    async def deliver(self, job: JobSnapshot) -> None:
        """A job has ended: the model hears of it after what it is doing, or now."""
        said = job.result_text if job.status == "completed" else job.error_text
        text = f"Background job {job.id} ({job.label}) has ended: {job.status}.\n\n{said or ''}".rstrip()
        self._accept(Queued(text=text, how="follow_up", origin="job", job=job.id))

    def take_prompts(self, *, how: How = "steer", first: bool = False) -> bool:
        """Put what is queued into the conversation; false when there is nothing for the model to answer."""
        self._drop_known()
        taken = self._queue.take_first() if first else self._queue.take(how)
        for queued in taken:
            self._say(queued)
        if taken and self._chosen:
            self._chosen = False
            self.memory.note("model_change", {"model": self.model_name})
        return any(queued.shown for queued in taken)

    def remind(self) -> bool:
        """Tell a model that stops with open tasks that it has some; not for ever."""
        if "todo" not in self.tools or self._reminded >= self.settings.todo.reminders_max:
            return False
        from sightline.tools.todo import reminder

        text = reminder(self.workplace)
        if not self.settings.todo.reminders or not text:
            return False
        self._reminded += 1
        self._say(Queued(text=text, how="follow_up", origin="todo"))
        return True

    def warn_of_end(self, stop_reason: str) -> None:
        text, hint = _ENDS[stop_reason]
        self.stage.publish(Notice(text, "warning", hint, source="agent"))

    def count(self, message: AssistantMessage) -> None:
        """How full the model's memory is, for whoever watches."""
        self._tell_context(tokens_used([message]) if message.usage is not None else None)

    def tell_context(self) -> None:
        """The same before anything is asked: an estimate, of a conversation that is gone on with."""
        self._tell_context(tokens_used(self.memory.messages) if self.memory.messages else 0)

    def _tell_context(self, used: int | None) -> None:
        value = {"used": used, "of": self.model.facts.context}
        self.stage.publish(State("context", value, source="agent"))

    def is_long(self) -> bool:
        """Whether the conversation should be made short before the next request."""
        return self._summaries.is_long()

    async def shorten(self, why: str, instructions: str = "") -> bool:
        """For a run, between its requests: make the conversation short. False when there is nothing to gain."""
        return await self._summaries.compact(instructions, why=why)

    async def compact(self, instructions: str = "") -> bool:
        """Make the conversation short; false when there is nothing to gain."""
        return await self._alone(lambda: self._summaries.compact(instructions, why="asked"))

    async def move(self, target: str, *, summarize: bool = False, instructions: str = "") -> dict[str, Any]:
        """Go on from another entry of the tree."""
        return await self._alone(lambda: self._summaries.move(target, summarize=summarize, instructions=instructions))

    async def _alone(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
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

    def model_for_turn(self) -> Model:
        """The model that works; the one for images when it cannot see what has just come."""
        name, seen = self.settings.models.vision, self.model.facts.images
        if seen is not False or not name or not has_new_image(self.memory.messages):
            return self.model
        if self._seeing is None:
            self._seeing = self.open_model(name)
        self.stage.publish(Notice(f"asking {self._seeing.facts.id} about the image", source="agent"))
        return self._seeing

    def set_model(self, name: str) -> None:
        """Ask another model from the next request on."""
        model = self.open_model(name)
        self._models_before.append(self.model)
        self.model = model
        self.memory.note("model_change", {"model": self.model_name})
        self.stage.publish(State("model", self.model_name, source="agent"))

    def set_thinking(self, level: Thinking) -> None:
        self.thinking = level
        self.memory.note("thinking_level_change", {"level": level})
        self.stage.publish(State("thinking", level, source="agent"))

    async def invoke(self, name: str, args: str) -> Any:
        """Run a command an extension brought."""
        command = self.commands.get(name)
        if command is None:
            known = ", ".join(self.commands) or "none"
            raise UserMistake(f"no command {name}", f"extension commands here: {known}")
        return await command(args)

    def tell_model(self, text: str, origin: str) -> None:
        """Words of an extension's, with the next request: between a call and its result none may stand."""
        if isinstance(self._run, Run):
            self._queue.add(Queued(text=text, how="steer", origin=origin))
            return
        text = encodable(self.secrets.masked(text))
        self.stage.publish(User(bounded_text(text), [], "steer", source=origin))
        self.memory.add_custom(origin, UserMessage([TextPart(text)], origin))

    def let_model_know(self, text: str, origin: str) -> None:
        """What the model reads with the next request and nobody is told: it was seen to happen, or is a reminder."""
        self._queue.add(Queued(text=text, origin=origin, shown=False))
        self._take_unshown()

    async def close(self) -> None:
        """Stop, wait for that, and let go of what is open."""
        self._closed = True
        self.todo.close()
        self.stop()
        going = [task for task in (self._task, self._rearranging) if task is not None]
        if going:
            await asyncio.wait(going)
        if self.workplace.jobs is not None:
            await self.workplace.jobs.shutdown()
        if self.workplace.gateway is not None:
            await self.workplace.gateway.close()
        await self.hooks.tell("session_end")
        for model in (*self._models_before, self.model, self._seeing):
            if model is not None:
                await model.close()

    def keep(self, name: str, value: Any, shown: Any = None) -> None:
        """Keep a value with the conversation, for a tool or an extension. It has to be plain data. `shown`: what
        whoever watches is told of it."""
        masked = self.secrets.masked_value(msgspec.to_builtins(value, str_keys=True))
        self.memory.note("custom", masked, name)
        self.workplace.kept[name] = value
        if shown is not None:
            self.stage.publish(State(name, self.secrets.masked_value(shown), source="agent"))
        self.todo.kept(name)

    def remember(self, message: AssistantMessage) -> None:
        """What the model said, as it is kept: without secrets and without what cannot be encoded."""
        message = self.secrets.masked_message(message)
        error = self.secrets.masked(message.error)
        parts = [encodable_call(part) if isinstance(part, CallPart) else part for part in message.parts]
        self.memory.add(msgspec.structs.replace(message, parts=parts, error=error))

    def _accept(self, queued: Queued) -> None:
        self._queue.add(queued)
        if not self.busy and self._rearranging is None and not self._closed:
            self._begin()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise UserMistake("the session is ending", "resume it when it has ended")

    def _drop_known(self) -> None:
        if self.workplace.jobs is not None:
            self._queue.drop_known(self.workplace.jobs.acknowledged)

    def _take_unshown(self) -> None:
        """Between a call and its result nothing may stand, and what is being rearranged is left alone."""
        if not isinstance(self._run, Run) and self._rearranging is None:
            for queued in self._queue.take_unshown():
                self._say(queued)

    def _add_result(self, message: ToolMessage) -> None:
        self.memory.add(message)
        self.todo.answered(message)

    def _is_command(self, text: str) -> bool:
        if named(text)[0] not in self.commands:
            return False
        if self.busy:
            raise UserMistake("the agent is working", "run the command when the agent is done")
        return True

    def _begin(self, run: "Run | CommandRun | None" = None) -> None:
        self._run = run or Run(self)
        self._reminded = 0
        self._task = asyncio.get_running_loop().create_task(self._run.run())
        self._task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[RunOutcome]") -> None:
        if self._task is not task:
            return  # a prompt came before this was told, and has begun the next
        self._run = None
        self._drop_known()
        self._take_unshown()
        if not task.cancelled() and task.exception() is None and self._queue and not self._closed:
            self._begin()  # it came in between
        else:
            self.on_idle()

    def _say(self, queued: Queued) -> None:
        text = encodable(self.secrets.masked(queued.text))
        parts: list[Content] = [TextPart(text)] if text.strip() else []
        parts += [TextPart(f"[attached file: {url}]") for url in queued.files]
        message = UserMessage([*parts, *queued.images], queued.origin)
        if not queued.shown:
            self.memory.add_custom(queued.origin, message)
            return
        source = queued.origin or "person"
        self.stage.publish(User(bounded_text(text), queued.attachments, queued.how, source=source))
        self.memory.add(message)
