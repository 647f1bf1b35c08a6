"""The step list of one run of a flow."""

import sightline.events as ev
from sightline.events import ToolResult, ToolUse
from sightline.flows.file._graph import delegation_mode
from sightline.flows.file._model import AgentStep, CommandStep, Flow
from sightline.flows.file._template import Reference, Template, as_text
from sightline.flows.running._outcome import FlowOutcome, brief
from sightline.flows.running._shell import ShellCommand, command_line
from sightline.text import clean_line, cut_graphemes

_MARKER_CAP = 40
_STOP_REASONS = {0: "", 1: "failed", 124: "timeout", 130: "cancelled"}


class Board:
    """The step list of one run: one call of a tool that delegates, with the status of each step in its updates.

        run_started → tool_use (the plan) → tool_update (on every change of a step) → tool_result → run_ended

    The contract has four statuses, and a list with a fifth is none. A step that never runs stays `pending`, and its
    preview shows why: `skipped: …`, or, because one it needs failed, `not run: …`. A cancelled step is `error`.
    """

    def __init__(self, flow: Flow, inputs: dict[str, object], call: str) -> None:
        self._flow = flow
        self.call = call
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
        return ToolUse(self.call, "Flow", native_name="flow", arg=name, args=args)

    def change(self, step: str, status: ev.DelegationStatus, preview: str = "") -> ev.ToolUpdate:
        """One step's status is another now; the update shows all of them."""
        item = self._items[step]
        self._items[step] = ev.DelegationItem(step, item.agent, item.task, status, brief(preview) or None)
        return ev.ToolUpdate(self.call, self._details())

    def result(self, outcome: FlowOutcome) -> tuple[ToolResult, ev.RunEnded]:
        code, failed = outcome.exit_code, outcome.exit_code != 0
        result = ToolResult(self.call, outcome.summary(), details=self._details(), is_error=failed, exit_code=code)
        ended = ev.RunEnded(stop_reason=_STOP_REASONS[code], is_error=failed, exit_code=code)
        return result, ended

    def _details(self) -> dict[str, object]:
        items = list(self._items.values())
        active = next((item.id for item in items if item.status == "running"), None)
        return ev.Delegation(self._mode, items, active).as_details()


def agent_of(step: AgentStep | CommandStep) -> str:
    """Who does it: a provider, an agent, or `run` for a command."""
    return step.agent or step.provider if isinstance(step, AgentStep) else "run"


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
