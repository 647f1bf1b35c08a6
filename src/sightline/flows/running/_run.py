"""Running a flow.

- A step starts as soon as everything it needs is over, side by side with all others that can, a bounded number at once.
- It runs if all it needs went well and its `when` holds. If a step it needs was skipped it is skipped too; if one
  failed or was not run it is not run; unless its `when` asks for that step's status or exit code: then that decides.
- A failed step stops nothing but what needs it. The flow has failed then, whatever else went well.
- Cancelling ends every process of every step, lets what was already written out, and is not a failure of any step.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping

import sightline.events as ev
from sightline.events import Event, ToolResult, ToolUse
from sightline.exceptions import OutsideFailure
from sightline.flows.file._graph import delegation_mode
from sightline.flows.file._inputs import require_inputs
from sightline.flows.file._model import AgentStep, CommandStep, Flow
from sightline.flows.file._template import Reference, Template, Values, as_text
from sightline.flows.running._attempts import Attempt, OwnAgent, prepare
from sightline.flows.running._channel import EventChannel
from sightline.flows.running._nested import Nested
from sightline.flows.running._outcome import AttemptEnd, FlowOutcome, StepResult, StepStatus, brief, outcome_of
from sightline.flows.running._shell import ShellCommand, command_line
from sightline.text import clean_line, cut_graphemes

CALL = "flow-1"
_MARKER_CAP = 40
_STOP_REASONS = {0: "", 1: "failed", 124: "timeout", 130: "cancelled"}


class Board:
    """The step list of one run: one call of a tool that delegates, with the status of each step in its updates.

        run_started → tool_use (the plan) → tool_update (on every change of a step) → tool_result → run_ended

    The contract has four statuses, and a list with a fifth is none. A step that never runs stays `pending`, and its
    preview shows why: `skipped: …`, or, because one it needs failed, `not run: …`. A cancelled step is `error`.
    """

    def __init__(self, flow: Flow, inputs: dict[str, object]) -> None:
        self._flow = flow
        self._mode = delegation_mode({step.id: step.needs for step in flow.steps.values()})
        self._items = {
            step.id: ev.DelegationItem(step.id, agent_of(step), task_of(step, inputs), "pending")
            for step in flow.steps.values()
        }

    def plan(self) -> ToolUse:
        # The contract's plan has no ids; without them no view could match its rows and the steps.
        tasks = [{"agent": item.agent, "task": f"{item.id}: {item.task}"} for item in self._items.values()]
        args: dict[str, object] = {"chain": tasks} if self._mode == "chain" else {"tasks": tasks}
        if self._mode == "single":
            args = dict(tasks[0])
        name = cut_graphemes(clean_line(self._flow.name), _MARKER_CAP)
        return ToolUse(CALL, "Flow", native_name="flow", arg=name, args=args)

    def change(self, step: str, status: ev.DelegationStatus, preview: str = "") -> ev.ToolUpdate:
        """One step's status is another now; the update shows all of them."""
        item = self._items[step]
        self._items[step] = ev.DelegationItem(step, item.agent, item.task, status, brief(preview) or None)
        return ev.ToolUpdate(CALL, self._details())

    def result(self, outcome: FlowOutcome) -> tuple[ToolResult, ev.RunEnded]:
        code, failed = outcome.exit_code, outcome.exit_code != 0
        result = ToolResult(CALL, outcome.summary(), details=self._details(), is_error=failed, exit_code=code)
        ended = ev.RunEnded(stop_reason=_STOP_REASONS[code], is_error=failed, exit_code=code)
        return result, ended

    def _details(self) -> dict[str, object]:
        items = list(self._items.values())
        active = next((item.id for item in items if item.status == "running"), None)
        return ev.Delegation(self._mode, items, active).as_details()


def agent_of(step: AgentStep | CommandStep) -> str:
    """Who does it: a provider, or `run` for a command."""
    return step.provider if isinstance(step, AgentStep) else "run"


def task_of(step: AgentStep | CommandStep, inputs: dict[str, object]) -> str:
    """The first line of what is to be done, comments aside. Inputs are filled in; outputs, not known yet, are paths."""
    if isinstance(step, AgentStep):
        text = _with_inputs(step.prompt, inputs)
    elif isinstance(step.run, ShellCommand):
        text = command_line(_with_inputs(step.run.template, inputs))
    else:
        text = " ".join(_with_inputs(word, inputs) for word in step.run)
    return brief(text) or step.id


def _with_inputs(template: Template, inputs: dict[str, object]) -> str:
    def shown(part: str | Reference) -> str:
        if isinstance(part, str):
            return part
        return as_text(inputs[part.name]) if part.root == "inputs" else part.source

    return "".join(shown(part) for part in template.parts)


STEPS_AT_ONCE = 8


async def run_flow(
    flow: Flow,
    inputs: Mapping[str, object],
    *,
    emit: Callable[[list[Event]], None],
    cwd: str = "",
    own_agent: OwnAgent | None = None,
) -> FlowOutcome:
    """Run a flow to its end. `own_agent`: starts a prompt for our own agent.

    `UserMistake` when an input is missing or wrong, before anything has run."""
    run = FlowRun(flow, require_inputs(flow, inputs), cwd=cwd, own_agent=own_agent)
    async for batch in run.events():
        emit(batch)
    return run.outcome


class FlowRun:
    """One run of a flow. Read its events to the end, then there is an outcome; `cancel` brings the end about."""

    def __init__(
        self,
        flow: Flow,
        inputs: dict[str, object],
        *,
        cwd: str = "",
        steps_at_once: int = STEPS_AT_ONCE,
        own_agent: OwnAgent | None = None,
    ) -> None:
        self._flow = flow
        self._own_agent = own_agent
        self._inputs = inputs
        self._cwd = cwd or os.getcwd()
        self._board = Board(flow, inputs)
        self._channel = EventChannel()
        self._slots = asyncio.Semaphore(steps_at_once)
        self._over = {name: asyncio.Event() for name in flow.steps}
        self._results: dict[str, StepResult] = {}
        self._attempts: set[Attempt] = set()
        self._cancelled = asyncio.Event()
        self._driver: asyncio.Task[None] | None = None

    @property
    def outcome(self) -> FlowOutcome:
        steps = {name: self._results[name] for name in self._flow.steps if name in self._results}
        return outcome_of(steps, cancelled=self._cancelled.is_set())

    @property
    def exit_code(self) -> int:
        return self.outcome.exit_code

    async def events(self) -> AsyncGenerator[list[Event], None]:
        self._driver = asyncio.get_running_loop().create_task(self._drive())
        try:
            async for batch in self._channel.batches():
                yield batch
            await self._driver
        finally:
            if not self._driver.done():  # no reader is left
                await self.cancel()

    async def cancel(self) -> None:
        """Stop everything; done when nothing is left running. The events until then can still be read."""
        if self._driver is not None and self._driver.done():
            return
        self._cancelled.set()
        self._channel.release()
        if self._driver is None:
            return
        await asyncio.gather(*(attempt.stop() for attempt in self._attempts))
        await asyncio.wait([self._driver])

    async def _drive(self) -> None:
        try:
            self._channel.publish(ev.RunStarted(cwd=clean_line(self._cwd)), self._board.plan())
            async with asyncio.TaskGroup() as group:
                for step in self._flow.steps.values():
                    group.create_task(self._follow(step))
            self._channel.publish(*self._board.result(self.outcome))
        finally:
            self._channel.close()

    async def _follow(self, step: AgentStep | CommandStep) -> None:
        """A step from waiting to its result."""
        for need in step.needs:
            await self._over[need].wait()
        self._results[step.id] = self._not_to_run(step) or await self._in_slot(step)
        self._over[step.id].set()

    def _not_to_run(self, step: AgentStep | CommandStep) -> StepResult | None:
        """The result of a step that does not run because of what it needs."""
        if self._cancelled.is_set():
            return self._stays(step, "cancelled", "cancelled")
        skipped = ""
        for need in step.needs:
            status = self._results[need].status
            if status == "ok" or (step.when is not None and step.when.decides_about(need)):
                continue
            if status != "skipped":
                return self._stays(step, "blocked", f"{need} {'failed' if status == 'error' else 'was not run'}")
            skipped = skipped or need
        return self._skip(step, f"{skipped} was skipped") if skipped else None

    def _stays(self, step: AgentStep | CommandStep, status: StepStatus, why: str) -> StepResult:
        self._channel.publish(self._board.change(step.id, "pending", f"not run: {why}"))
        return StepResult(status=status, problem=why)

    def _skip(self, step: AgentStep | CommandStep, why: str) -> StepResult:
        self._channel.publish(self._board.change(step.id, "pending", f"skipped: {why}"))
        return StepResult(status="skipped", problem=why)

    async def _in_slot(self, step: AgentStep | CommandStep) -> StepResult:
        async with self._slots:
            if self._cancelled.is_set():
                return self._stays(step, "cancelled", "cancelled")
            nested = Nested(step.id, self._channel)
            try:
                if step.when is not None and not step.when.holds(self._values()):
                    return self._skip(step, "when is false")
                return await self._run(step, nested)
            except OutsideFailure as error:  # a path led nowhere: trying again would not help
                ended = AttemptEnd(exit_code=1, problem=error.message, hint=error.hint)
                return self._settle(step, nested, ended, 0)

    async def _run(self, step: AgentStep | CommandStep, nested: Nested) -> StepResult:
        """The attempts at a step, shown as one agent's life."""
        attempt = self._prepared(step, nested)
        task = task_of(step, self._inputs)
        self._channel.publish(
            self._board.change(step.id, "running"), ev.AgentStarted(step.id, name=agent_of(step), task=task, call=CALL)
        )
        number = 1
        ended = await self._watched(attempt)
        while ended.exit_code != 0 and number < step.retry.attempts and not self._cancelled.is_set():
            if not await self._pause(step, nested, ended, number):
                break
            number += 1
            nested.next_attempt()
            ended = await self._watched(self._prepared(step, nested))
        result = self._settle(step, nested, ended, number)
        self._channel.publish(ev.AgentEnded(step.id, is_error=result.status != "ok"))
        return result

    async def _watched(self, attempt: Attempt) -> AttemptEnd:
        self._attempts.add(attempt)
        try:
            return await attempt.run()
        finally:
            self._attempts.discard(attempt)

    async def _pause(self, step: AgentStep | CommandStep, nested: Nested, ended: AttemptEnd, number: int) -> bool:
        """Announce the next attempt, and wait; false when the flow was cancelled meanwhile."""
        delay = step.retry.delay
        text = f"attempt {number} of {step.retry.attempts} failed: {ended.problem}"
        again = f"; again in {delay:g} s" if delay else "; again"
        nested.publish(ev.Notice(f"{step.id}: {text}{again}", "warning", hint=ended.hint))
        self._channel.publish(self._board.change(step.id, "running", text + again))
        try:
            await asyncio.wait_for(self._cancelled.wait(), delay)
        except TimeoutError:
            return True
        return False

    def _settle(self, step: AgentStep | CommandStep, nested: Nested, ended: AttemptEnd, attempts: int) -> StepResult:
        """What a step that ran has come to."""
        if ended.cut:
            text = f"{step.id}: the output is over 1 MB: later steps see the first 1 MB of it"
            nested.publish(ev.Notice(text, "warning"))
        if self._cancelled.is_set():  # a command may answer the signal by ending well; it was cut short all the same
            self._channel.publish(self._board.change(step.id, "error", "cancelled"))
            return StepResult(status="cancelled", output=ended.output, exit_code=130, attempts=attempts)
        good = ended.exit_code == 0
        if not good and ended.hint:
            nested.publish(ev.Error(f"{step.id}: {ended.problem}", ended.hint))
        shown = ended.output if good else ended.problem
        self._channel.publish(self._board.change(step.id, "ok" if good else "error", shown))
        return StepResult(
            status="ok" if good else "error",
            output=ended.output,
            exit_code=ended.exit_code,
            problem=ended.problem,
            attempts=attempts,
            timed_out=ended.timed_out,
        )

    def _prepared(self, step: AgentStep | CommandStep, nested: Nested) -> Attempt:
        return prepare(step, self._values(), nested, self._cwd, self._own_agent)

    def _values(self) -> Values:
        return Values(self._inputs, {name: result.parts() for name, result in self._results.items()})
