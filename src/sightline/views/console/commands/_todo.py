"""`/todo`: the whole list, edited as Markdown, or put away."""

from typing import TYPE_CHECKING, Any

from sightline.host import EditTodo
from sightline.text import clean_line
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_WIDE = 2000
_BOXES = {"completed": "x", "in_progress": "/", "abandoned": "-"}


async def open(console: "Console", args: str) -> None:
    tasks = Facts(console.state).todo
    if args in ("hide", "show"):
        console.show_todo(args == "show")
    elif args == "clear":
        await _edited(console, "")
    elif args == "edit":
        text = console.edit(markdown(tasks) or "# Todos\n\n- [ ] ")
        if text is not None and text != markdown(tasks):
            await _edited(console, text)
    elif tasks and console.drawing.linear:
        console.tell("\n".join(_spoken(tasks)))
    elif tasks:
        console.show_page(markdown(tasks))
    else:
        console.tell("the todo list is empty", hint="/todo edit writes one")


async def _edited(console: "Console", text: str) -> None:
    reply = await console.submit(EditTodo(text))
    if not reply.ok:
        console.tell(reply.error, "error", reply.hint)


def _spoken(tasks: list[dict[str, Any]]) -> list[str]:
    from sightline.tty import PLAIN
    from sightline.views.console.shapes._todo import plan_rows, steps_of

    return plan_rows(steps_of(tasks) or [], PLAIN, _WIDE, spoken=True)


def markdown(tasks: list[dict[str, Any]]) -> str:
    """Headings and boxes: what `EditTodo` reads again."""
    lines: list[str] = []
    phase = None
    for task in tasks:
        if task.get("phase") != phase:
            phase = task.get("phase")
            lines += ["", f"# {clean_line(str(phase or 'Todos'))}", ""]
        box = _BOXES.get(str(task.get("status")), " ")
        lines.append(f"- [{box}] {clean_line(str(task.get('text', '')))}")
    return "\n".join(lines).strip() + "\n" if lines else ""
