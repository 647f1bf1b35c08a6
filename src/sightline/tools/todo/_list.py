"""The todo list: phases of tasks, changed by pure operations.

Rules:

- Operations are applied in order. One that fails is reported; the others are applied all the same.
- After all of them exactly one task is in progress, if any is left to do: the first that is, else the first pending.
- A task is named by its exact text, a phase by its exact name.
"""

import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Status = Literal["pending", "in_progress", "completed", "abandoned"]
Verb = Literal["init", "start", "done", "rm", "drop", "append", "note"]

OPEN: tuple[Status, ...] = ("pending", "in_progress")
MARKS: dict[Status, str] = {"pending": " ", "in_progress": "/", "completed": "x", "abandoned": "-"}
_READ: dict[str, Status] = {
    " ": "pending", "": "pending", "/": "in_progress", ">": "in_progress", "x": "completed", "X": "completed",
    "-": "abandoned", "~": "abandoned",
}  # fmt: skip
_PHASE_OF_ORPHANS = "Todos"

_heading = re.compile(r"#+\s+(.+?)\s*$").match
_item = re.compile(r"\s*[-*+]\s+\[(.?)\]\s+(.+?)\s*$").match
_quote = re.compile(r"\s*>\s?(.*)$").match


class PlannedTask(msgspec.Struct, omit_defaults=True):
    content: str
    status: Status = "pending"
    notes: list[str] = []


class PlannedPhase(msgspec.Struct):
    name: str
    tasks: list[PlannedTask] = []


class NewPhase(msgspec.Struct, frozen=True):
    phase: str
    items: Annotated[list[str], Meta(min_length=1)]


class Operation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change. Which fields count depends on `op`."""

    op: Verb
    new: Annotated[list[NewPhase], Meta(description="init: the whole new list")] | None = msgspec.field(
        default=None, name="list"
    )
    task: Annotated[str, Meta(description="start, note, done, drop, rm: the exact text of one task")] | None = None
    phase: Annotated[str, Meta(description="append, done, drop, rm: the exact name of a phase")] | None = None
    items: Annotated[list[str], Meta(min_length=1, description="append: tasks to add")] | None = None
    text: Annotated[str, Meta(description="note: what to write down")] | None = None


def apply(phases: list[PlannedPhase], operations: list[Operation]) -> tuple[list[PlannedPhase], list[str]]:
    """The list afterwards, and what could not be done."""
    changed = deepcopy(phases)
    errors: list[str] = []
    for operation in operations:
        error = _HANDLERS[operation.op](changed, operation)
        if error:
            errors.append(error)
    return normalized(changed), errors


def normalized(phases: list[PlannedPhase]) -> list[PlannedPhase]:
    """The list with exactly one task in progress, if any is left."""
    tasks = [task for phase in phases for task in phase.tasks]
    active = [task for task in tasks if task.status == "in_progress"]
    for task in active[1:]:
        task.status = "pending"
    if not active:
        for task in [task for task in tasks if task.status == "pending"][:1]:
            task.status = "in_progress"
    return phases


def newly_completed(before: list[PlannedPhase], after: list[PlannedPhase]) -> list[dict[str, str]]:
    """The tasks that were not completed before and are now. Of several with one name, as many as there are more."""
    old = Counter(_completed(before))
    new: list[dict[str, str]] = []
    for name, content in _completed(after):
        old[name, content] -= 1
        if old[name, content] < 0:
            new.append({"phase": name, "content": content})
    return new


def without_ended(phases: list[PlannedPhase]) -> list[PlannedPhase]:
    """Only what is still to be done, and the phases in which something is."""
    left = [PlannedPhase(phase.name, [task for task in phase.tasks if task.status in OPEN]) for phase in phases]
    return [phase for phase in left if phase.tasks]


def ended(phases: list[PlannedPhase]) -> list[tuple[str, str]]:
    """The tasks that are completed or dropped: phase and text."""
    return [(phase.name, task.content) for phase in phases for task in phase.tasks if task.status not in OPEN]


def without(phases: list[PlannedPhase], tasks: list[tuple[str, str]]) -> list[PlannedPhase]:
    """The list without those of these tasks that have ended, and without phases that become empty."""
    gone = set(tasks)
    left = [
        PlannedPhase(phase.name, [t for t in phase.tasks if t.status in OPEN or (phase.name, t.content) not in gone])
        for phase in phases
    ]
    return [new for new, old in zip(left, phases, strict=True) if new.tasks or not old.tasks]


def _completed(phases: list[PlannedPhase]) -> list[tuple[str, str]]:
    return [(phase.name, task.content) for phase in phases for task in phase.tasks if task.status == "completed"]


def _init(phases: list[PlannedPhase], operation: Operation) -> str:
    if operation.new is None:
        return "Missing list for init operation"
    phases[:] = [PlannedPhase(new.phase, [PlannedTask(content) for content in new.items]) for new in operation.new]
    return ""


def _start(phases: list[PlannedPhase], operation: Operation) -> str:
    task, error = _task(phases, operation.task)
    if task is None:
        return error
    for other in [task for phase in phases for task in phase.tasks if task.status == "in_progress"]:
        other.status = "pending"
    task.status = "in_progress"
    return ""


def _marked(status: Status) -> Callable[[list[PlannedPhase], Operation], str]:
    def mark(phases: list[PlannedPhase], operation: Operation) -> str:
        tasks, error = _targets(phases, operation)
        for task in tasks:
            task.status = status
        return error

    return mark


def _remove(phases: list[PlannedPhase], operation: Operation) -> str:
    tasks, error = _targets(phases, operation)
    gone = set(map(id, tasks))
    for phase in phases:
        phase.tasks = [task for task in phase.tasks if id(task) not in gone]
    return error


def _append(phases: list[PlannedPhase], operation: Operation) -> str:
    if not operation.phase:
        return "Missing phase name for append operation"
    if not operation.items:
        return "Missing items for append operation"
    phase = next((phase for phase in phases if phase.name == operation.phase), None)
    if phase is None:
        phase = PlannedPhase(operation.phase, [])
        phases.append(phase)
    errors = []
    for content in operation.items:
        if _found(phases, content) is None:
            phase.tasks.append(PlannedTask(content))
        else:
            errors.append(f'Task "{content}" already exists')
    return "; ".join(errors)


def _note(phases: list[PlannedPhase], operation: Operation) -> str:
    task, error = _task(phases, operation.task)
    if task is None:
        return error
    text = (operation.text or "").rstrip()
    if not text:
        return "Missing text for note operation"
    task.notes.append(text)
    return ""


def _targets(phases: list[PlannedPhase], operation: Operation) -> tuple[list[PlannedTask], str]:
    """One task, one phase's, or all."""
    if operation.task is not None:
        task, error = _task(phases, operation.task)
        return ([] if task is None else [task]), error
    if operation.phase is None:
        return [task for phase in phases for task in phase.tasks], ""
    if not operation.phase:
        return [], "Missing phase name"
    for phase in phases:
        if phase.name == operation.phase:
            return list(phase.tasks), ""
    return [], f'Phase "{operation.phase}" not found'


def _task(phases: list[PlannedPhase], content: str | None) -> tuple[PlannedTask | None, str]:
    if not content:
        return None, "Missing task content"
    task = _found(phases, content)
    if task is not None:
        return task, ""
    empty = "" if any(phase.tasks for phase in phases) else " (the list is empty; begin with init)"
    return None, f'Task "{content}" not found{empty}'


def _found(phases: list[PlannedPhase], content: str) -> PlannedTask | None:
    return next((task for phase in phases for task in phase.tasks if task.content == content), None)


_HANDLERS: dict[Verb, Callable[[list[PlannedPhase], Operation], str]] = {
    "init": _init,
    "start": _start,
    "done": _marked("completed"),
    "drop": _marked("abandoned"),
    "rm": _remove,
    "append": _append,
    "note": _note,
}


def to_markdown(phases: list[PlannedPhase]) -> str:
    """The list as markdown to edit: headings are phases, checklist items tasks, quotes their notes."""
    parts: list[str] = []
    for phase in phases:
        lines = [f"# {_one_line(phase.name)}", ""]
        for task in phase.tasks:
            lines.append(f"- [{MARKS[task.status]}] {_one_line(task.content)}")
            for number, note in enumerate(task.notes):
                lines += [""] * bool(number) + [f"  > {line}" for line in note.split("\n")]
        parts.append("\n".join(lines).rstrip("\n"))
    return "\n\n".join(parts) + "\n" if parts else ""


def from_markdown(text: str) -> list[PlannedPhase]:
    """The list in a text. Other lines are ignored."""
    phases: list[PlannedPhase] = []
    note: list[str] = []
    for line in [*text.split("\n"), ""]:
        quoted = _quote(line)
        if quoted is not None:
            note.append(quoted[1])
            continue
        if note and phases and phases[-1].tasks:
            phases[-1].tasks[-1].notes.append("\n".join(note))
        note = []
        if (heading := _heading(line)) is not None:
            phases.append(PlannedPhase(heading[1], []))
        elif (item := _item(line)) is not None and item[1] in _READ:
            if not phases:
                phases.append(PlannedPhase(_PHASE_OF_ORPHANS, []))
            phases[-1].tasks.append(PlannedTask(item[2], _READ[item[1]], []))
    return normalized(phases)


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
