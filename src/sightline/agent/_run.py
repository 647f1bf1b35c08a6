"""One prompt's worth of work: turns and calls until the model has nothing more to do.

Rules:

- `run_started`, the prompt, turns with their calls, `run_ended`. Nothing a model or a tool does raises out of here.
- Words the person says meanwhile are put in before the next request; what is queued for after, when the model stops.
- Stopping keeps what was said, marks what was not finished, and ends the run as cancelled.
- A conversation that is too long is made short before it overflows, and once more when the server says that it did.
"""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from sightline.agent._again import Again
from sightline.agent._bugs import log_bug
from sightline.agent._turn import Turn
from sightline.conversation import AssistantMessage, CallPart
from sightline.events import Error, Notice, RunEnded, RunStarted, State, ToolResult, Usage
from sightline.exceptions import OutsideFailure, SightlineError
from sightline.models import Model, ModelError, ModelRequest
from sightline.settings import stored_keys
from sightline.text import clean_line, clean_text, without_credentials

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

_REFUSED = 3
STOPPED = {"cancelled": 130, "timeout": 124}
T = TypeVar("T")
_UNFINISHED = "not run: the model was stopped while it was writing the arguments"


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. `exit_code`: 0 done, 1 failed, 2 a mistake, 3 something refused, 124 timeout, 130 cancelled."""

    exit_code: int
    stop_reason: str
    text: str = ""  # the model's last words
    error: str = ""


class Run:
    """A run under way."""

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent
        self._stage = agent.stage
        self._turn: Turn | None = None
        self._aside: asyncio.Task[Any] | None = None  # what is done between turns and calls
        self._stopped = ""  # why: cancelled or timeout
        self._usage: Usage | None = None
        self._cost: float | None = None
        self._last: AssistantMessage | None = None
        self._cuts = 0
        self._again = Again()

    def stop(self, reason: str = "cancelled") -> None:
        """End it soon. What was said stays. Once is enough: what is winding up is left to that."""
        if self._stopped:
            return
        self._stopped = reason
        if self._turn is not None:
            self._turn.stop()
        if self._aside is not None:
            self._aside.cancel()
        self._agent.calls.cancel()

    async def run(self) -> RunOutcome:
        agent = self._agent
        cwd = clean_line(str(agent.workplace.cwd))
        self._stage.publish(RunStarted(self._stage.session, agent.model_name, cwd, source="agent"))
        refused_before = len(agent.approvals.refused)
        agent.secrets.learn(stored_keys())  # one may have been pasted since
        try:
            if agent.take_prompts(first=True) or self._stopped:
                outcome = await self._work(refused_before)
            else:  # it was taken back meanwhile: there is nothing to ask
                outcome = RunOutcome(exit_code=0, stop_reason="stop")
        except SightlineError as error:
            outcome = self._failed(error)
        except Exception as error:
            outcome = self._failed(_bug(error))
        self._stage.publish(
            RunEnded(
                self._usage,
                self._cost,
                outcome.stop_reason,
                outcome.exit_code in (1, STOPPED["timeout"]),
                outcome.exit_code,
                source="agent",
            )
        )
        return outcome

    async def _work(self, refused_before: int) -> RunOutcome:
        agent = self._agent
        while not self._stopped:
            message = await self._answer()
            if message is None:
                continue
            self._last = message
            if message.stop_reason == "aborted" or self._stopped:
                self._mark_unfinished(message.calls)
                break
            if message.calls:
                await agent.calls.make(message.calls)
                if not self._stopped:  # what is said after a stop is for the next run
                    agent.take_prompts(how="steer")
            elif not (agent.take_prompts(how="steer") or agent.take_prompts(how="follow_up") or agent.remind()):
                break
        text = "" if self._last is None else self._last.text
        if self._stopped:
            return RunOutcome(exit_code=STOPPED[self._stopped], stop_reason=self._stopped, text=text)
        refused = len(agent.approvals.refused) > refused_before
        reason = "refused" if refused else self._last.stop_reason if self._last else "stop"
        return RunOutcome(exit_code=_REFUSED if refused else 0, stop_reason=reason, text=text)

    async def _answer(self) -> AssistantMessage | None:
        """The model's next answer, kept. None: ask again."""
        agent = self._agent
        if agent.is_long():
            await self._unless_stopped(agent.shorten("long"))
            if self._stopped:
                return None
        preview, retrying = agent.calls.preview, self._cuts > 0
        model = agent.model_for_turn()
        turn = self._turn = Turn(self._stage, model, agent.secrets, preview, self._again, retrying=retrying)
        try:
            message = await turn.run(self._request(model))
        except ModelError as error:
            return await self._after(error)
        finally:
            self._turn = None
        self._cuts, self._again = 0, Again()
        self._count(message)
        if message.parts:
            whole = message.stop_reason != "aborted" and not self._stopped
            agent.remember(message if whole else _without_calls(message))
        elif message.stop_reason == "stop":
            agent.warn_of_end("empty")
        if message.stop_reason in ("length", "refusal"):
            agent.warn_of_end(message.stop_reason)
        return message

    def _request(self, model: Model) -> ModelRequest:
        agent = self._agent
        return agent.asking.request(
            agent.memory.messages,
            thinking=agent.thinking,
            max_output=agent.settings.models.max_output,
            sees=model.facts.images is not False,
        )

    async def _after(self, error: ModelError) -> AssistantMessage | None:
        """Whether a failed request can be made again; raises the error when it cannot."""
        agent = self._agent
        if error.partial is not None:
            if error.partial.usage is not None:
                self._count(error.partial)
            if error.partial.parts:
                partial = msgspec.structs.replace(error.partial, stop_reason="error", error=error.message)
                agent.remember(partial)
            self._mark_unfinished(error.partial.calls)
        if self._stopped:
            return None
        if error.kind == "overflow" and (await self._unless_stopped(agent.shorten("overflow")) or self._stopped):
            return None
        begun = error.partial is not None and bool(error.partial.parts)  # else the client has asked again already
        if error.kind == "cut" and begun and self._cuts < agent.settings.retry.attempts:
            self._cuts += 1
            said = {"attempt": self._cuts, "attempts": agent.settings.retry.attempts, "reason": error.message}
            self._stage.publish(State("retry", said, source="agent"))
            self._stage.publish(Notice(f"{error.message}; retrying", "warning", source="agent"))
            await asyncio.sleep(0)
            return None
        raise error

    async def _unless_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What it comes to; None when the run is stopped before that."""
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
            details = {"ended": "unfinished"}
            self._stage.end_call(ToolResult(call.id, _UNFINISHED, details, True, source="agent"))

    def _count(self, message: AssistantMessage) -> None:
        self._usage = added(self._usage, message.usage)
        if message.cost is not None:
            self._cost = (self._cost or 0.0) + message.cost
        self._agent.count(message)

    def _failed(self, error: SightlineError) -> RunOutcome:
        self._stage.publish(State("retry", None, source="agent"))
        message = clean_text(without_credentials(self._agent.secrets.masked(error.message)))
        self._stage.publish(Error(message, error.hint, source="agent"))
        text = "" if self._last is None else self._last.text
        return RunOutcome(exit_code=1, stop_reason="error", text=text, error=message)


def _bug(error: Exception) -> OutsideFailure:
    log_bug("a run failed", error)
    what = f"unexpected {type(error).__name__}: {str(error)[:500]} (this is a bug in sightline)"
    return OutsideFailure(what, "run it again with --debug-log FILE, and report the bug with that file")


def added(total: Usage | None, more: Usage | None) -> Usage | None:
    """Both together; what either does not know, the sum does not know better."""
    if total is None or more is None:
        return total or more
    fields = {
        name: (getattr(total, name) or 0) + (getattr(more, name) or 0)
        for name in total.__struct_fields__
        if getattr(total, name) is not None or getattr(more, name) is not None
    }
    return Usage(**fields)


def _without_calls(message: AssistantMessage) -> AssistantMessage:
    """What was stopped before its calls were made: its words alone."""
    parts = [part for part in message.parts if not isinstance(part, CallPart)]
    return msgspec.structs.replace(message, parts=parts, stop_reason="aborted")
