"""A todo list: phases as a tree, with how many notes each task has, and the notes of the one in progress.

It comes as `details.phases`, or, from agents without phases, as a list of steps in the arguments.
"""

from typing import NamedTuple

from sightline.events import PhaseTask, TodoFact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Theme, truncate, wrap
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import FactShape, Shape, ShapeBody, plural, record, text_in

SIGNS = {"pending": "○", "in_progress": "◌", "completed": "✓", "abandoned": "–"}
SPOKEN = {"pending": "to do:", "in_progress": "doing:", "completed": "done:", "abandoned": "dropped:"}
ROLES = {"pending": "muted", "in_progress": "accent", "completed": "success", "abandoned": "dim"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORDS = ("content", "text", "step", "description", "subject", "title")
_LISTS = ("todos", "plan", "items", "steps")
_BEFORE_ACTIVE = 2
_FAILED = "Todo update failed"
_INIT, _NEW_LIST = "init", "new list"


class TaskRow(NamedTuple):
    content: str
    status: str
    notes: list[str]


class PhaseRow(NamedTuple):
    name: str
    tasks: list[TaskRow]


class TodoShape(FactShape[list[PhaseRow]]):
    folded, unfolded = 8, 100

    @property
    def title(self) -> str:
        return _NEW_LIST if self.call.arg == _INIT else clean_line(self.call.arg)

    @property
    def suffix(self) -> str:
        tasks = [task for phase in self._fact for task in phase.tasks]
        if self.call.is_error:
            return _FAILED
        done = sum(task.status == "completed" for task in tasks)
        return f"{done} of {len(tasks)} done" if tasks else ""

    @property
    def source(self) -> str:
        return _as_text(self._fact)

    def body(self, width: int) -> ShapeBody:
        """The list. Folded it is empty: the panel shows the list, except in linear mode, which has no panel."""
        rows = self._errors(width)
        if self._fact and not (self.drawing.unfolded or self.drawing.linear or self.call.is_error):
            return ShapeBody(rows)
        shown, before, after = _window(self._fact, self.most)
        if before:
            rows.append(self.more_items(before, width))
        rows += _plan_rows(shown, self.drawing.theme, width, spoken=self.drawing.linear)
        if after:
            rows.append(self.more_items(after, width))
        if not self._fact and self.call.content and not self.call.is_error:
            rows.append(truncate(clean_line(self.call.content), width))
        return ShapeBody(rows)

    def _errors(self, width: int) -> list[str]:
        content = self.call.content or ""
        if not self.call.is_error or not content:
            return []
        message = clean_line(content.partition("\n")[0])
        return [self.drawing.theme.style("error", row) for row in wrap(message, width)]


def _window(phases: list[PhaseRow], most: int) -> tuple[list[PhaseRow], int, int]:
    """At most `most` tasks, with the one in progress, and how many there are before and after them."""
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


def _plan_rows(phases: list[PhaseRow], theme: Theme, width: int, *, spoken: bool) -> list[str]:
    """The rows of the tree. Tasks of a phase without a name are a plain list, and so are all when spoken."""
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
    content = theme.style(looks.get(task.status, "text"), text)
    row = f"{theme.style('border', guides[0])}{theme.style(role, sign)} {content}{count}"
    rows = [truncate(row, width)]
    if task.status == "in_progress":
        indent = theme.style("border", guides[1])
        for note in task.notes:
            lines = wrap(clean_line(note), max(width - len(guides[1]) - 4, 4))
            rows += [truncate(f"{indent}  {theme.style('muted', '> ' + line)}", width) for line in lines]
    return rows


def phases_of(fact: TodoFact) -> list[PhaseRow]:
    def row(task: PhaseTask) -> TaskRow:
        return TaskRow(clean_line(task.content), task.status, task.notes)

    return [PhaseRow(clean_line(phase.name), list(map(row, phase.tasks))) for phase in fact.phases]


def _task(item: object) -> TaskRow | None:
    step = record(item)
    words, status = text_in(step, *_WORDS), step.get("status", "pending")
    if not words or status not in SIGNS:
        return None
    return TaskRow(clean_line(words), str(status), _texts(step.get("notes")))


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _steps_of(value: object) -> list[PhaseRow] | None:
    """A list of steps in arguments, with or without phases; None: it is not one."""
    if not isinstance(value, list) or not value:
        return None
    phases: dict[str, list[TaskRow]] = {}
    for item in value:
        task = _task(item)
        if task is None:
            return None
        phases.setdefault(clean_line(text_in(record(item), "phase")), []).append(task)
    return [PhaseRow(name, tasks) for name, tasks in phases.items()]


def _as_text(phases: list[PhaseRow]) -> str:
    """The list as Markdown headings and check lists."""
    marks = {"pending": " ", "in_progress": "/", "completed": "x", "abandoned": "-"}
    lines: list[str] = []
    for phase in phases:
        lines += [f"# {phase.name}"] if phase.name else []
        for task in phase.tasks:
            lines += [f"- [{marks[task.status]}] {task.content}", *(f"  > {note}" for note in task.notes)]
    return "\n".join(lines)


def planned(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of arguments that are a plan."""
    for value in map(record(call.args).get, _LISTS):
        phases = _steps_of(value)
        if phases is not None and isinstance(value, list) and any("status" in record(item) for item in value):
            return TodoShape(call, drawing, phases)
    return None
