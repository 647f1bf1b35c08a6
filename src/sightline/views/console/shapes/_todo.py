"""A plan of tasks: phases as a tree, with how many notes each task has, and the notes of the one in progress.

It comes as `details.phases`, or, from agents that have no phases, as a list of steps in the arguments.
"""

from typing import Any, NamedTuple

from sightline.events import TodoFact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Theme, truncate, wrap
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import Shape, ShapeBody, plural, record, text_in, texts

FOLDED = 8
SIGNS = {"pending": "○", "in_progress": "◌", "completed": "✓", "abandoned": "–"}
SPOKEN = {"pending": "to do:", "in_progress": "doing:", "completed": "done:", "abandoned": "dropped:"}
ROLES = {"pending": "muted", "in_progress": "accent", "completed": "success", "abandoned": "dim"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORDS = ("content", "text", "step", "description", "subject", "title")
_LISTS = ("todos", "plan", "items", "steps")
_BEFORE_ACTIVE = 2
FAILED = "Todo update failed"
_INIT, _NEW_LIST = "init", "new list"


class TaskRow(NamedTuple):
    content: str
    status: str
    notes: list[str]


class PhaseRow(NamedTuple):
    name: str
    tasks: list[TaskRow]


class TodoShape(Shape):
    folded, unfolded = FOLDED, 100

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, phases: list[PhaseRow]) -> None:
        super().__init__(call, drawing)
        self._phases = phases

    @property
    def title(self) -> str:
        return _NEW_LIST if self.call.arg == _INIT else clean_line(self.call.arg)

    @property
    def suffix(self) -> str:
        tasks = [task for phase in self._phases for task in phase.tasks]
        if self.call.is_error:
            return FAILED
        done = sum(task.status == "completed" for task in tasks)
        return f"{done} of {len(tasks)} done" if tasks else ""

    @property
    def source(self) -> str:
        return as_text(self._phases)

    def body(self, width: int) -> ShapeBody:
        """The list is in its panel: here, a change of it is one row. On lines there is no panel."""
        most = self.unfolded if self.drawing.unfolded else self.folded
        rows = self._errors(width)
        if self._phases and not (self.drawing.unfolded or self.drawing.linear or self.call.is_error):
            return ShapeBody(rows)
        shown, before, after = window(self._phases, most)
        if before:
            rows.append(self.more_items(before, width))
        rows += plan_rows(shown, self.drawing.theme, width, spoken=self.drawing.linear)
        if after:
            rows.append(self.more_items(after, width))
        if not self._phases and self.call.content and not self.call.is_error:
            rows.append(truncate(clean_line(self.call.content), width))
        return ShapeBody(rows)

    def _errors(self, width: int) -> list[str]:
        content = self.call.content or ""
        if not self.call.is_error or not content:
            return []
        said = clean_line(content.partition("\n")[0])
        return [self.drawing.theme.style("error", row) for row in wrap(said, width)]


def window(phases: list[PhaseRow], most: int) -> tuple[list[PhaseRow], int, int]:
    """As many tasks as may be shown, the one in progress among them, and how many there are before and after."""
    total = sum(len(phase.tasks) for phase in phases)
    if total <= most:
        return phases, 0, 0
    flat = [(index, task) for index, phase in enumerate(phases) for task in phase.tasks]
    active = next((at for at, (_, task) in enumerate(flat) if task.status == "in_progress"), 0)
    first = max(0, min(active - _BEFORE_ACTIVE, total - most))
    chosen = flat[first : first + most]
    shown = [
        PhaseRow(phase.name, [task for at, task in chosen if at == index])
        for index, phase in enumerate(phases)
        if any(at == index for at, _ in chosen)
    ]
    return shown, first, total - first - most


def plan_rows(phases: list[PhaseRow], theme: Theme, width: int, *, spoken: bool = False) -> list[str]:
    """The tree. A plan of one phase without a name is a list, and so is one that is listened to."""
    rows: list[str] = []
    for phase in phases:
        if phase.name:
            rows.append(theme.style("strong", truncate(phase.name, width)))
        for index, task in enumerate(phase.tasks):
            last = index == len(phase.tasks) - 1
            guides = ("", "") if spoken or not phase.name else ("└─ ", "   ") if last else ("├─ ", "│  ")
            rows += _task_rows(task, guides, theme, width, spoken=spoken)
    return rows


def _task_rows(task: TaskRow, guides: tuple[str, str], theme: Theme, width: int, *, spoken: bool) -> list[str]:
    role = ROLES[task.status]
    sign = (SPOKEN if spoken else SIGNS)[task.status]
    count = str(len(task.notes)).translate(_SUPERSCRIPTS) if task.notes else ""
    if spoken and count:
        count = f" ({plural(len(task.notes), 'note')})"
    room = width - len(guides[0]) - len(sign) - 1 - len(count)
    text = truncate(task.content, max(room, 1))
    looks = {"in_progress": "strong", "completed": "muted", "abandoned": "strike"}
    said = theme.style(looks.get(task.status, "text"), text)
    row = f"{theme.style('border', guides[0])}{theme.style(role, sign)} {said}{count}"
    rows = [truncate(row, width)]
    if task.status == "in_progress":
        indent = theme.style("border", guides[1])
        for note in task.notes:
            lines = wrap(clean_line(note), max(width - len(guides[1]) - 4, 4))
            rows += [truncate(f"{indent}  {theme.style('muted', '> ' + line)}", width) for line in lines]
    return rows


def phases_of(fact: TodoFact) -> list[PhaseRow]:
    """Phases as a tool has them."""
    return [
        PhaseRow(
            clean_line(phase.name), [TaskRow(clean_line(task.content), task.status, task.notes) for task in phase.tasks]
        )
        for phase in fact.phases
    ]


def _task(item: Any) -> TaskRow | None:
    step = record(item)
    words, status = text_in(step, *_WORDS), step.get("status", "pending")
    if not words or status not in SIGNS:
        return None
    return TaskRow(clean_line(words), str(status), texts(step.get("notes")))


def steps_of(value: Any) -> list[PhaseRow] | None:
    """Steps as a `state` of the key todo tells them, or arguments of that shape: with or without phases."""
    if not isinstance(value, list) or not value:
        return None
    phases: dict[str, list[TaskRow]] = {}
    for item in value:
        task = _task(item)
        if task is None:
            return None
        phases.setdefault(clean_line(text_in(record(item), "phase")), []).append(task)
    return [PhaseRow(name, tasks) for name, tasks in phases.items()]


def as_text(phases: list[PhaseRow]) -> str:
    """For copying: headings and check lists."""
    marks = {"pending": " ", "in_progress": "/", "completed": "x", "abandoned": "-"}
    lines: list[str] = []
    for phase in phases:
        lines += [f"# {phase.name}"] if phase.name else []
        for task in phase.tasks:
            lines += [f"- [{marks[task.status]}] {task.content}", *(f"  > {note}" for note in task.notes)]
    return "\n".join(lines)


def todo(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    fact = TodoFact.of(call.details)
    return None if fact is None else TodoShape(call, drawing, phases_of(fact))


def planned(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """Arguments that are a plan."""
    args = record(call.args)
    for name in _LISTS:
        phases = steps_of(args.get(name))
        if phases is not None and any("status" in record(item) for item in args[name]):
            return TodoShape(call, drawing, phases)
    return None
