"""A session in which a flow runs.

Rules:

- It is a session of our own agent, which does nothing while the flow runs: its steps are agents of the directory, and
  when it has ended the user can ask about it.
- The session has the highest level that a step names; each step is capped at its own, and one that names none at that
  of the settings. Resumed, the session never has more than the settings allow.
- The flow and what came of it are stored as messages, so that it is listed, found and resumed like any conversation.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from sightline.agent import LEVELS, AgentSpec, agent_spec
from sightline.conversation import AssistantMessage, StopReason, TextPart, UserMessage
from sightline.delegation import find_agents_here
from sightline.flows import NATIVE, STEPS_AT_ONCE, AgentStep, CommandStep, Flow, FlowOutcome, FlowRun, task_of
from sightline.host.flow._flow_worker import FlowWorker
from sightline.host.flow._step_agent import StepAgent
from sightline.host.native._run import native_run
from sightline.host.native._working import NativeSession, working
from sightline.host.session._life import Journal
from sightline.journal import Store
from sightline.settings import Approval, StartOptions
from sightline.text import clean_line, clean_text, cut_graphemes

_TITLE = 80
_OUTPUT_AT_MOST = 20_000  # characters of each step that a model reads later
_REASONS: dict[int, StopReason] = {0: "stop", 130: "aborted"}


class FlowStart(msgspec.Struct, frozen=True, kw_only=True):
    """A flow that can be run: all that may be a mistake of the user was found."""

    flow: Flow
    inputs: dict[str, object]
    cwd: str
    spec: AgentSpec  # of the session
    level: Approval  # of the settings

    @property
    def title(self) -> str:
        return self.spec.options.title


def flow_start(flow: Flow, inputs: dict[str, object], cwd: str) -> FlowStart:
    """`UserMistake` when a step names an agent that there is not."""
    catalogue = find_agents_here(Path(cwd), os.environ)
    for step in flow.steps.values():
        if isinstance(step, AgentStep) and step.agent:
            catalogue.get(step.agent)
    options = StartOptions(cwd=cwd, title=cut_graphemes(clean_line(f"flow {flow.name}"), _TITLE))
    spec = agent_spec(options, may_lack_model=True)
    level = spec.policy.approval
    highest = max([level, *(_level_of(step, level) for step in flow.steps.values())], key=LEVELS.index)
    if highest != level:
        spec = agent_spec(msgspec.structs.replace(options, approval=highest), may_lack_model=True)
    return FlowStart(flow=flow, inputs=inputs, cwd=cwd, spec=spec, level=level)


def _level_of(step: AgentStep | CommandStep, level: Approval) -> Approval:
    if isinstance(step, CommandStep) or (step.approval in (None, "auto") and step.provider in ("", NATIVE)):
        return level
    return step.approval or "auto"


class FlowSession:
    """A flow in a session that is open. `run` it once."""

    def __init__(self, session: NativeSession, start: FlowStart, steps_at_once: int) -> None:
        self.session = session.session
        self.server = session.server
        self.first, self.place = session.first, session.place
        self._start = start
        self._agent = session.agent
        self.flow_run = FlowRun(
            start.flow,
            start.inputs,
            self.session.actor("flow", session.agent.secrets),
            cwd=start.cwd,
            agents=lambda task: StepAgent(session.worker.team, task, start.level),
            own_agent=native_run,
            steps_at_once=steps_at_once,
        )
        self._worker = self.session.worker = FlowWorker(session.worker, self.flow_run)

    @property
    def is_in_use(self) -> bool:
        """Whether something works in it, or a user is there who can have something done."""
        return not self.session.stopping and (self._worker.busy or self.session.is_attended)

    async def run(self) -> FlowOutcome:
        memory, masked = self._agent.memory, self._agent.secrets.masked
        memory.add(UserMessage([TextPart(masked(_request(self._start)))]))
        try:
            return await self.flow_run.run()
        finally:
            outcome = self.flow_run.outcome
            reason = _REASONS.get(outcome.exit_code, "error")
            memory.add(AssistantMessage([TextPart(masked(_report(outcome)))], model="flow", stop_reason=reason))
            self.session.flush()


@asynccontextmanager
async def flow_session(
    store: Store,
    start: FlowStart,
    *,
    steps_at_once: int = STEPS_AT_ONCE,
    opening: tuple[Journal, socket.socket] | None = None,
) -> AsyncIterator[FlowSession]:
    """`opening`: see `working`."""
    async with working(store, start.spec, opening=opening) as session:
        yield FlowSession(session, start, steps_at_once)


def _request(start: FlowStart) -> str:
    steps = [f"- {step.id}: {task_of(step, start.inputs)}" for step in start.flow.steps.values()]
    return clean_text("\n".join([f"Run the flow {start.flow.name}:", *steps]))


def _report(outcome: FlowOutcome) -> str:
    parts = [f"The flow has ended: {outcome.summary() or 'nothing was run'}."]
    for name, step in outcome.steps.items():
        how = f"{step.status}: {step.problem}" if step.problem else step.status
        parts.append(f"{name} ({how})" + (f":\n{step.output[:_OUTPUT_AT_MOST]}" if step.output else ""))
    return clean_text("\n\n".join(parts))
