"""`/todo`: the whole list, edited as Markdown, or put away."""

from typing import TYPE_CHECKING

from sightline.host import EditTodo

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_EMPTY = "# Todos\n\n- [ ] "


async def open(console: "Console", args: str) -> None:
    if args in ("hide", "show"):
        console.show_todo(args == "show")
        return
    reply = await console.submit(EditTodo("") if args == "clear" else EditTodo())
    if not reply.ok:
        console.report(reply.error, "error", reply.hint)
        return
    text = str(reply.data.get("markdown", "")) if isinstance(reply.data, dict) else ""
    if args == "edit":
        await _edit(console, text)
    elif text.strip():
        _show(console, text)
    else:
        console.report("the todo list is empty", hint="/todo edit writes one")


def toggle(console: "Console", args: str) -> None:
    console.show_todo(not console.todo.shown)


def _show(console: "Console", text: str) -> None:
    from sightline.views.console.commands._todo_page import TodoPage

    console.transcript.add_page(TodoPage(text, console.drawing))


async def _edit(console: "Console", text: str) -> None:
    edited = console.edit(text or _EMPTY)
    if edited is None or edited == (text or _EMPTY):
        return
    reply = await console.submit(EditTodo(edited))
    if not reply.ok:
        console.report(reply.error, "error", reply.hint)
