"""`todo`: the plan of the work, stored with the conversation and shown to the user.

A list read from the tree, after a resume or a move to another branch, begins with its open tasks: what was completed or
dropped before is history.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from sightline.events import TodoFact, TodoPhase, TodoState, TodoTask
from sightline.tools._context import ToolContext, Workplace
from sightline.tools._tool import Outcome, Tool
from sightline.tools.todo._list import (
    MARKS,
    OPEN,
    Operation,
    PlannedPhase,
    PlannedTask,
    apply,
    newly_completed,
    normalized,
    without_ended,
)

CLEARED = "Todo list cleared."
NAME = "todo"  # of the stored value


class TodoParams(msgspec.Struct, frozen=True):
    ops: Annotated[list[Operation], Meta(min_length=1, description="Changes, applied in order.")]


class TodoTool(Tool[TodoParams]):
    name = "todo"
    description = (
        "Keep a list of what is to be done for a task of several steps, in phases, and tick tasks off as you go. One "
        "task is in progress at a time. ops: init {list: [{phase, items}]}, start {task}, done|drop|rm {task or phase, "
        "or neither for all}, append {phase, items}, note {task, text}. Tasks and phases are named by their exact text."
    )
    params = TodoParams
    exclusive = True

    def preview(self, params: TodoParams) -> str:
        first = params.ops[0]
        more = f" and {len(params.ops) - 1} more" if len(params.ops) > 1 else ""
        return f"{first.op} {first.task or first.phase or ''}".strip() + more

    async def execute(self, params: TodoParams, context: ToolContext) -> Outcome:
        before = phases_of(context.workplace)
        after, errors = apply(before, params.ops)
        value = set_phases(context.workplace, after)
        context.keep(NAME, value, plan(after))
        details = TodoFact(phases=msgspec.convert(value, list[TodoPhase])).as_details(storage="session")
        completed = newly_completed(before, after)
        if completed:
            details["completed_tasks"] = completed
        return Outcome(text=summary(after, errors), details=details, is_error=bool(errors))


class _Written:
    """The list as a call of this workplace last stored it."""

    value: object = None


def plan(phases: list[PlannedPhase]) -> TodoState:
    """The list as a state for views: one row per task."""
    rows = [(phase, task) for phase in phases for task in phase.tasks]
    return TodoState([TodoTask(task.content, task.status, phase.name, task.notes) for phase, task in rows])


def set_phases(workplace: Workplace, phases: list[PlannedPhase]) -> object:
    """Make this the current list, ended tasks included; returns the value to store."""
    workplace.shared(_Written).value = msgspec.to_builtins(phases)
    return workplace.shared(_Written).value


def stored_phases(workplace: Workplace) -> list[PlannedPhase]:
    """The stored list, history included."""
    try:
        return msgspec.convert(workplace.stored.get(NAME, []), list[PlannedPhase])
    except msgspec.ValidationError:
        return []


def phases_of(workplace: Workplace) -> list[PlannedPhase]:
    """The current list."""
    phases = stored_phases(workplace)
    is_written_here = workplace.stored.get(NAME, []) is workplace.shared(_Written).value
    return phases if is_written_here else normalized(without_ended(phases))


def reminder(workplace: Workplace) -> str:
    """The message for a model that stops although tasks are open; empty when none is."""
    open_tasks = [task for phase in phases_of(workplace) for task in phase.tasks if task.status in OPEN]
    if not open_tasks:
        return ""
    listed = "\n".join([f"- {task.content}" for task in open_tasks])
    return (
        f"<system-reminder>\nThe todo list still has open tasks:\n{listed}\n"
        "Continue with them; or, if they are done or no longer wanted, say so with the todo tool.\n</system-reminder>"
    )


def summary(phases: list[PlannedPhase], errors: list[str]) -> str:
    lines = [f"Errors: {'; '.join(errors)}"] if errors else []
    if not any(phase.tasks for phase in phases):
        return "\n".join([*lines, "The list is empty."] if lines else [CLEARED])
    left = [(phase, task) for phase in phases for task in phase.tasks if task.status in OPEN]
    if left:
        lines.append(f"Remaining items ({len(left)}):")
        lines += [f"- {task.content} [{task.status}] ({phase.name})" for phase, task in left]
        lines += _progress(phases, left[0][0])
    else:
        lines.append("Remaining items: none.")
    for phase in phases:
        lines += ["", f"{phase.name}:", *[line for task in phase.tasks for line in _task_lines(task)]]
    return "\n".join(lines)


def _progress(phases: list[PlannedPhase], first: PlannedPhase) -> list[str]:
    active = next((p for p in phases if any(task.status == "in_progress" for task in p.tasks)), first)
    done = sum(task.status not in OPEN for task in active.tasks)
    number = phases.index(active) + 1
    return [f'Phase {number}/{len(phases)} "{active.name}": {done}/{len(active.tasks)} tasks done']


def _task_lines(task: PlannedTask) -> list[str]:
    lines = [f"  [{MARKS[task.status]}] {task.content}"]
    if task.status == "in_progress":
        lines += [f"      > {line}" for note in task.notes for line in note.split("\n")]
    return lines
