"""One prompt's worth of work: turns and calls until the model has nothing more to do.

Rules:

- `run_started`, the prompt, turns with their calls, `run_ended`. Nothing a model or a tool does raises out of here.
- What the user sends meanwhile is added before the next request; what is queued for after, when the model stops.
- Stopping leaves the text so far, marks what was not finished, and ends the run as cancelled.
- A conversation that is too long is compacted before it overflows, and again when the server reports an overflow.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack
from typing import Protocol, TypeVar

import msgspec

from sightline.actors import Actor
from sightline.agent._bugs import log_bug
from sightline.agent._current_model import CurrentModel
from sightline.agent.conversation._conversation import AgentConversation
from sightline.agent.loop._calls import CallRunner
from sightline.agent.loop._model_request import ModelRequests
from sightline.agent.loop._queue import Inbox
from sightline.agent.loop._turn import ModelTurn, ShownAnswer
from sightline.agent.permissions._approvals import Approvals
from sightline.conversation import AssistantMessage, CallPart
from sightline.events import CallEnding, Error, Notice, RetryState, RunEnded, RunStarted, ToolResult, Usage
from sightline.exceptions import OutsideFailure, SightlineError, UserMistake
from sightline.models import Model, ModelError, ModelRequest
from sightline.settings import stored_keys
from sightline.text import clean_line, clean_text, without_credentials
from sightline.tools import Workplace

_REFUSED = 3
STOPPED = {"cancelled": 130, "timeout": 124, "limit": 1}
T = TypeVar("T")
ENDS = {
    "length": ("the answer was cut off: it reached the token limit", "ask the agent to continue"),
    "empty": ("the model gave no answer", "ask again, or try another model"),
    "refusal": ("the model refused to answer", "rephrase the prompt, or try another model"),
}
_UNFINISHED = "not run: the model was stopped while it was writing the arguments"


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. `exit_code`: 0 done, 1 failed, 2 a mistake, 3 something refused, 124 timeout, 130 cancelled."""

    exit_code: int
    stop_reason: str
    text: str = ""  # the model's last words
    error: str = ""


class RunOpening(Protocol):
    """A prompt that is made when its run has begun. `model`: for this run alone; empty: that of the session."""

    model: str

    def show(self) -> None:
        """Publish the words of the user."""

    async def add(self) -> None:
        """Make the prompt, and add it to the conversation. What it raises ends the run, and nothing is sent."""


class NotOpened(Exception):
    """A prompt could not be made."""

    def __init__(self, error: SightlineError) -> None:
        super().__init__(error.message)
        self.error = error


class AgentRun:
    """A run under way."""

    def __init__(
        self,
        actor: Actor,
        *,
        model: CurrentModel,
        conversation: AgentConversation,
        inbox: Inbox,
        model_requests: ModelRequests,
        calls: CallRunner,
        approvals: Approvals,
        workplace: Workplace,
        opening: "RunOpening | None" = None,
    ) -> None:
        """`opening`: where the prompt is not simply what is first in the queue."""
        self._actor = actor
        self._model = model
        self._conversation = conversation
        self._inbox = inbox
        self._model_requests = model_requests
        self._calls = calls
        self._approvals = approvals
        self._workplace = workplace
        self._opening = opening
        self._turn: ModelTurn | None = None
        self._aside: asyncio.Task[object] | None = None  # what is done between turns and calls
        self._stopped = ""  # why: cancelled, timeout or limit
        self._usage: Usage | None = None
        self._cost: float | None = None
        self._last: AssistantMessage | None = None
        self._cuts = 0
        self._again = ShownAnswer()

    def stop(self, reason: str = "cancelled") -> None:
        """End it soon. The text so far stays. Once is enough: what is winding up is left to that."""
        if self._stopped:
            return
        self._stopped = reason
        if self._turn is not None:
            self._turn.stop()
        if self._aside is not None:
            self._aside.cancel()
        self._calls.cancel()

    async def run(self) -> RunOutcome:
        with ExitStack() as until_end:
            return await self._run(self._take_model(until_end))

    def _take_model(self, until_end: ExitStack) -> SightlineError | None:
        """The one of the opening; why that cannot be used."""
        if self._opening is not None and self._opening.model:
            try:
                until_end.enter_context(self._model.other(self._opening.model))
            except SightlineError as error:
                return error
        return self._model.why_missing if self._opening is not None else None

    async def _run(self, problem: SightlineError | None) -> RunOutcome:
        cwd = clean_line(str(self._workplace.cwd))
        self._actor.publish(RunStarted(self._actor.log.id, self._model.name, cwd))
        refused_before = len(self._approvals.refused)
        self._actor.secrets.learn(stored_keys())  # one may have been pasted since
        try:
            if await self._has_prompt(problem) or self._stopped:
                outcome = await self._work(refused_before)
            else:  # it was taken back meanwhile: there is no prompt
                outcome = RunOutcome(exit_code=0, stop_reason="stop")
        except NotOpened as failure:
            outcome = self._failed(failure.error)
            refused = len(self._approvals.refused) > refused_before
            code, reason = (_REFUSED, "refused") if refused else (failure.error.exit_code, outcome.stop_reason)
            outcome = msgspec.structs.replace(outcome, exit_code=code, stop_reason=reason)
        except SightlineError as error:
            outcome = self._failed(error)
        except Exception as error:
            outcome = self._failed(_bug(error))
        failed = outcome.exit_code in (1, UserMistake.exit_code, STOPPED["timeout"])
        self._actor.publish(RunEnded(self._usage, self._cost, outcome.stop_reason, failed, outcome.exit_code))
        return outcome

    async def _has_prompt(self, problem: SightlineError | None) -> bool:
        """`problem`: of the model of the opening."""
        if self._opening is None:
            return self._inbox.take_first()
        self._opening.show()
        try:
            if problem is not None:
                raise problem
            await self._unless_stopped(self._opening.add())
        except SightlineError as error:
            raise NotOpened(error) from error
        return True

    async def _work(self, refused_before: int) -> RunOutcome:
        handed_back = False
        while not self._stopped:
            message = await self._answer()
            if message is None:
                continue
            self._last = message
            if message.stop_reason == "aborted" or self._stopped:
                self._mark_unfinished(message.calls)
                break
            if message.calls:
                handed_back = await self._calls.make(message.calls)
                if handed_back or self._stopped:  # what comes after that is for the next run
                    break
                self._inbox.take("steer")
            elif not (self._inbox.take("steer") or self._inbox.take("follow_up") or self._inbox.remind()):
                break
        text = "" if self._last is None else self._last.text
        if self._stopped:
            return RunOutcome(exit_code=STOPPED[self._stopped], stop_reason=self._stopped, text=text)
        refused = len(self._approvals.refused) > refused_before
        reason = "refused" if refused else "stop" if handed_back or not self._last else self._last.stop_reason
        return RunOutcome(exit_code=_REFUSED if refused else 0, stop_reason=reason, text=text)

    async def _answer(self) -> AssistantMessage | None:
        """The model's next answer, stored. None: make the request again."""
        if self._conversation.is_long():
            await self._unless_stopped(self._conversation.compact(why="long"))
            if self._stopped:
                return None
        preview, retrying = self._calls.preview, self._cuts > 0
        model = self._model.for_turn(self._conversation.memory.messages)
        request = self._request(model)
        if self._stopped:  # it was one request too many
            return None
        turn = self._turn = ModelTurn(self._actor, model, preview, self._again, retrying=retrying)
        try:
            message = await turn.run(request)
        except ModelError as error:
            return await self._after(error)
        finally:
            self._turn = None
        self._cuts, self._again = 0, ShownAnswer()
        self._count(message)
        if message.parts:
            whole = message.stop_reason != "aborted" and not self._stopped
            self._conversation.remember(message if whole else _without_calls(message))
        elif message.stop_reason == "stop":
            self._warn_of_end("empty")
        if message.stop_reason in ("length", "refusal"):
            self._warn_of_end(message.stop_reason)
        return message

    def _warn_of_end(self, stop_reason: str) -> None:
        text, hint = ENDS[stop_reason]
        self._actor.publish(Notice(text, "warning", hint))

    def _request(self, model: Model) -> ModelRequest:
        return self._model_requests.request(
            self._conversation.memory.messages,
            thinking=self._model.thinking,
            max_output=self._workplace.settings.models.max_output,
            sees=model.facts.images is not False,
        )

    async def _after(self, error: ModelError) -> AssistantMessage | None:
        """Whether a failed request can be made again; raises the error when it cannot."""
        if error.partial is not None:
            if error.partial.usage is not None:
                self._count(error.partial)
            if error.partial.parts:
                partial = msgspec.structs.replace(error.partial, stop_reason="error", error=error.message)
                self._conversation.remember(partial)
            self._mark_unfinished(error.partial.calls)
        if self._stopped:
            return None
        if error.kind == "overflow":
            compacted = await self._unless_stopped(self._conversation.compact(why="overflow"))
            if compacted or self._stopped:
                return None
        begun = error.partial is not None and bool(error.partial.parts)  # else the client has retried already
        if error.kind == "cut" and begun and self._cuts < self._workplace.settings.retry.attempts:
            self._cuts += 1
            again = RetryState(error.message, self._cuts, self._workplace.settings.retry.attempts)
            self._actor.publish(again.as_state())
            self._actor.publish(Notice(f"{error.message}; retrying", "warning"))
            await asyncio.sleep(0)
            return None
        raise error

    async def _unless_stopped(self, work: Coroutine[object, object, T]) -> T | None:
        """Its result; None when the run is stopped before that."""
        task: asyncio.Task[T] = asyncio.get_running_loop().create_task(work)
        self._aside = task
        try:
            return await task
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            return None
        finally:
            self._aside = None

    def _mark_unfinished(self, calls: list[CallPart]) -> None:
        for call in calls:
            details = CallEnding(ended="unfinished").as_details()
            self._actor.publish(ToolResult(call.id, _UNFINISHED, details, True))

    def _count(self, message: AssistantMessage) -> None:
        self._usage = added(self._usage, message.usage)
        if message.cost is not None:
            self._cost = (self._cost or 0.0) + message.cost
        self._conversation.count(message)

    def _failed(self, error: SightlineError) -> RunOutcome:
        self._actor.publish(RetryState.over())
        message = clean_text(without_credentials(self._actor.secrets.masked(error.message)))
        self._actor.publish(Error(error.message, error.hint))
        text = "" if self._last is None else self._last.text
        return RunOutcome(exit_code=1, stop_reason="error", text=text, error=message)


def _bug(error: Exception) -> OutsideFailure:
    log_bug("a run failed", error)
    what = f"unexpected {type(error).__name__}: {str(error)[:500]} (this is a bug in sightline)"
    return OutsideFailure(what, "run it again with --debug-log FILE, and report the bug with that file")


def added(total: Usage | None, more: Usage | None) -> Usage | None:
    """The sum; a field that neither has stays unknown."""
    if total is None or more is None:
        return total or more
    fields = {
        name: (getattr(total, name) or 0) + (getattr(more, name) or 0)
        for name in total.__struct_fields__
        if getattr(total, name) is not None or getattr(more, name) is not None
    }
    return Usage(**fields)


def _without_calls(message: AssistantMessage) -> AssistantMessage:
    """An answer that was stopped before its calls ran: its text alone."""
    parts = [part for part in message.parts if not isinstance(part, CallPart)]
    return msgspec.structs.replace(message, parts=parts, stop_reason="aborted")
