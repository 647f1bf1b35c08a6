"""Running a flow.

- A step starts as soon as everything it needs is over, side by side with all others that can, a bounded number at once.
- It runs if all it needs went well and its `when` holds. If a step it needs was skipped it is skipped too; if one
  failed or was not run it is not run; unless its `when` asks for that step's status or exit code: then that decides.
- A failed step stops nothing but what needs it. The flow has failed then, whatever else went well.
- Cancelling ends every process of every step, lets what was already written out, and is not a failure of any step.
- Every event goes through an actor: of the flow, of a step that runs a command, or of the agent that works on a step.
  Each attempt of an agent is an agent of its own.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from sightline.actors import Actor
from sightline.events import Error, Notice, RunStarted
from sightline.exceptions import OutsideFailure
from sightline.flows.file._model import AgentStep, CommandStep, Flow
from sightline.flows.file._template import Values
from sightline.flows.running._attempts import (
    Attempt,
    CommandAttempt,
    LinesAttempt,
    OwnAgent,
    Prepared,
    PreparedCommand,
    StepAgents,
    StepTask,
    prepare,
)
from sightline.flows.running._board import Board, agent_of, task_of
from sightline.flows.running._items import end_of_all, items_of
from sightline.flows.running._outcome import AttemptEnd, FlowOutcome, StepResult, StepStatus, brief, outcome_of

STEPS_AT_ONCE = 8


class FlowRun:
    """One run of a flow in a session: `run` it to its outcome; `cancel` brings the end about."""

    def __init__(
        self,
        flow: Flow,
        inputs: dict[str, object],
        actor: Actor,
        *,
        cwd: str,
        agents: StepAgents,
        own_agent: OwnAgent,
        steps_at_once: int = STEPS_AT_ONCE,
    ) -> None:
        """`actor`: of the flow. `agents`: starts an agent of the session. `own_agent`: runs ours, for its lines."""
        self._flow = flow
        self._inputs = inputs
        self._actor = actor
        self._cwd = cwd
        self._agents = agents
        self._own_agent = own_agent
        self._board = Board(flow, inputs, actor.new_call())
        self._slots = asyncio.Semaphore(steps_at_once)
        self._over = {name: asyncio.Event() for name in flow.steps}
        self._results: dict[str, StepResult] = {}
        self._attempts: set[Attempt] = set()
        self._cancelled = asyncio.Event()
        self._ended = asyncio.Event()
        self._began = False

    @property
    def outcome(self) -> FlowOutcome:
        steps = {name: self._results[name] for name in self._flow.steps if name in self._results}
        return outcome_of(steps, cancelled=self._cancelled.is_set())

    @property
    def is_running(self) -> bool:
        return self._began and not self._ended.is_set()

    async def run(self) -> FlowOutcome:
        self._began = True
        try:
            self._actor.publish(RunStarted(self._actor.log.id, cwd=self._cwd))
            self._actor.publish(self._board.plan())
            async with asyncio.TaskGroup() as group:
                for step in self._flow.steps.values():
                    group.create_task(self._follow(step))
            for event in self._board.result(self.outcome):
                self._actor.publish(event)
        finally:
            self._actor.close()
            self._ended.set()
        return self.outcome

    async def cancel(self) -> None:
        """Stop everything; done when nothing is left running."""
        if self._ended.is_set():
            return
        self._cancelled.set()
        if self._began:
            await asyncio.gather(*(attempt.stop() for attempt in self._attempts))
            await self._ended.wait()

    def stop_step(self, path: str) -> bool:
        """Stop the command of one step; false when none runs there. The flow continues."""
        return self._stop(lambda attempt: attempt.actor.path == path)

    def cancel_call(self, id: str) -> bool:
        return self._stop(lambda attempt: attempt.call == id)

    def _stop(self, chosen: Callable[[CommandAttempt], bool]) -> bool:
        found = [each for each in self._attempts if isinstance(each, CommandAttempt) and chosen(each)]
        for attempt in found:
            attempt.stop_soon()
        return bool(found)

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
        self._actor.publish(self._board.change(step.id, "pending", f"not run: {why}"))
        return StepResult(status=status, problem=why)

    def _skip(self, step: AgentStep | CommandStep, why: str) -> StepResult:
        self._actor.publish(self._board.change(step.id, "pending", f"skipped: {why}"))
        return StepResult(status="skipped", problem=why)

    async def _in_slot(self, step: AgentStep | CommandStep) -> StepResult:
        if step.foreach is not None:  # each of its items takes a slot
            return await self._checked(step, self._run_items)
        async with self._slots:
            if self._cancelled.is_set():
                return self._stays(step, "cancelled", "cancelled")
            return await self._checked(step, self._run)

    async def _checked(
        self, step: AgentStep | CommandStep, run: Callable[[AgentStep | CommandStep], Awaitable[StepResult]]
    ) -> StepResult:
        try:
            if step.when is not None and not step.when.holds(self._values()):
                return self._skip(step, "when is false")
            return await run(step)
        except OutsideFailure as error:  # a path led nowhere: trying again would not help
            self._actor.publish(Error(f"{step.id}: {error.message}", error.hint))
            self._actor.publish(self._board.change(step.id, "error", error.message))
            return StepResult(status="error", exit_code=1, problem=error.message)

    async def _run(self, step: AgentStep | CommandStep) -> StepResult:
        prepared = prepare(step, self._values(), self._cwd, self._own_agent)
        self._actor.publish(self._board.change(step.id, "running"))
        ended, number = await self._tried(step, prepared, step.id, task_of(step, self._inputs))
        return self._settle(step, ended, number)

    async def _run_items(self, step: AgentStep | CommandStep) -> StepResult:
        """One agent, or actor, for each item. One that fails stops none of the others."""
        assert step.foreach is not None
        values = self._values()
        items = items_of(step.foreach, values)
        each = [msgspec.structs.replace(values, item=item) for item in items]
        prepared = [prepare(step, values, self._cwd, self._own_agent) for values in each]
        self._actor.publish(self._board.change(step.id, "running"))
        room, done = asyncio.Semaphore(step.max_parallel or STEPS_AT_ONCE), 0

        async def one(number: int) -> tuple[AttemptEnd, int]:
            nonlocal done
            async with room, self._slots:
                if self._cancelled.is_set():
                    return AttemptEnd(exit_code=130, problem="cancelled"), 0
                work = prepared[number - 1]
                name = self._name_of_attempt(step.id, number)
                tried = await self._tried(step, work, name, brief(work.shown))
            done += 1
            if done < len(items) and not self._cancelled.is_set():
                self._actor.publish(self._board.change(step.id, "running", f"{done} of {len(items)} done"))
            return tried

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(number)) for number in range(1, len(items) + 1)]
        ends = [task.result() for task in tasks]
        ended = end_of_all([ended for ended, _ in ends])
        return self._settle(step, ended, max((number for _, number in ends), default=0))

    async def _tried(
        self, step: AgentStep | CommandStep, prepared: Prepared, name: str, task: str
    ) -> tuple[AttemptEnd, int]:
        """The attempts at a step or an item, and how many there were. `name`: of its actor, or of the first agent."""
        actor = None
        if not isinstance(prepared, StepTask):
            actor = self._actor.child(name, task=task, call=self._board.call, title=agent_of(step), path=name)
        number = 1
        attempt = self._attempt(prepared, actor, name, task)
        ended = await self._watched(attempt)
        while ended.exit_code != 0 and number < step.retry.attempts and not self._cancelled.is_set():
            if not await self._pause(step, attempt, name, ended, number):
                break
            number += 1
            attempt = self._attempt(prepared, actor, self._name_of_attempt(name, number), task)
            ended = await self._watched(attempt)
        self._report(attempt, name, ended)
        if actor is not None:
            self._actor.end_child(actor, is_error=ended.exit_code != 0 or self._cancelled.is_set())
        return ended, number

    def _attempt(self, prepared: Prepared, actor: Actor | None, name: str, task: str) -> Attempt:
        if isinstance(prepared, StepTask):
            return self._agents(msgspec.structs.replace(prepared, name=name, description=task, call=self._board.call))
        assert actor is not None
        if isinstance(prepared, PreparedCommand):
            return CommandAttempt(prepared, actor)
        return LinesAttempt(prepared, actor)

    def _name_of_attempt(self, name: str, number: int) -> str:
        """Of an item, or of an attempt after the first. No two agents of a flow have one name."""
        name = f"{name}-{number}"
        while name in self._flow.steps:
            name = f"{name}-{number}"
        return name

    async def _watched(self, attempt: Attempt) -> AttemptEnd:
        self._attempts.add(attempt)
        try:
            return await attempt.run()
        finally:
            self._attempts.discard(attempt)

    async def _pause(
        self, step: AgentStep | CommandStep, attempt: Attempt, name: str, ended: AttemptEnd, number: int
    ) -> bool:
        """Announce the next attempt, and wait; false when the flow was cancelled meanwhile."""
        delay = step.retry.delay
        text = f"attempt {number} of {step.retry.attempts} failed: {ended.problem}"
        again = f"; again in {delay:g} s" if delay else "; again"
        self._publish_about(attempt, name, Notice(text + again, "warning", hint=ended.hint))
        self._actor.publish(self._board.change(step.id, "running", text + again))
        try:
            await asyncio.wait_for(self._cancelled.wait(), delay)
        except TimeoutError:
            return True
        return False

    def _report(self, attempt: Attempt, name: str, ended: AttemptEnd) -> None:
        """What the user has to know of the last attempt."""
        if ended.cut:
            text = "the output is over 1 MB: later steps see the first 1 MB of it"
            self._publish_about(attempt, name, Notice(text, "warning"))
        if ended.exit_code != 0 and ended.hint and not self._cancelled.is_set():
            self._publish_about(attempt, name, Error(ended.problem, ended.hint))

    def _publish_about(self, attempt: Attempt, name: str, event: Notice | Error) -> None:
        """Under the path of who did it; where it could not even be started, by its name."""
        if attempt.actor is not None:
            attempt.actor.observed_by(self._actor.source).publish(event)
        else:
            self._actor.publish(msgspec.structs.replace(event, text=f"{name}: {event.text}"))

    def _settle(self, step: AgentStep | CommandStep, ended: AttemptEnd, attempts: int) -> StepResult:
        """What a step that ran has come to."""
        if self._cancelled.is_set():  # a command may answer the signal by ending well; it was cut short all the same
            self._actor.publish(self._board.change(step.id, "error", "cancelled"))
            return StepResult(status="cancelled", output=ended.output, exit_code=130, attempts=attempts)
        good = ended.exit_code == 0
        shown = ended.output if good else ended.problem
        self._actor.publish(self._board.change(step.id, "ok" if good else "error", shown))
        return StepResult(
            status="ok" if good else "error",
            output=ended.output,
            exit_code=ended.exit_code,
            problem=ended.problem,
            attempts=attempts,
            timed_out=ended.timed_out,
        )

    def _values(self) -> Values:
        return Values(self._inputs, {name: result.parts() for name, result in self._results.items()})
