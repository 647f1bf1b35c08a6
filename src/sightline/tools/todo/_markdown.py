"""The list as markdown to edit, and back: headings are phases, checklist items tasks, quotes their notes."""

import re

from sightline.tools.todo._list import PlannedPhase, PlannedTask, Status, normalized

MARKS: dict[Status, str] = {"pending": " ", "in_progress": "/", "completed": "x", "abandoned": "-"}
_READ: dict[str, Status] = {
    " ": "pending", "": "pending", "/": "in_progress", ">": "in_progress", "x": "completed", "X": "completed",
    "-": "abandoned", "~": "abandoned",
}  # fmt: skip
_PHASE_OF_ORPHANS = "Todos"

_heading = re.compile(r"#+\s+(.+?)\s*$").match
_item = re.compile(r"\s*[-*+]\s+\[(.?)\]\s+(.+?)\s*$").match
_note = re.compile(r"\s*>\s?(.*)$").match


def to_markdown(phases: list[PlannedPhase]) -> str:
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
        quoted = _note(line)
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
