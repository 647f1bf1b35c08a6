"""What Codex's items are as calls: the common name, the preview, the arguments and the output of each type."""

from collections.abc import Callable
from typing import Any, Union

import msgspec

from sightline.events import TodoState, TodoTask
from sightline.providers._preview import preview, preview_command, shorten
from sightline.providers.codex import _wire as wire
from sightline.text import clean_line, clean_text, clean_value

Call = Union[wire.CodexCommand, wire.FileChange, wire.McpCall, wire.TodoList, wire.WebSearch, wire.CollabCall]
# name, native name, preview, arguments
Description = tuple[str, str, str, object]

_FINE = frozenset(("completed", "in_progress", "", None))


def _command(item: wire.CodexCommand) -> Description:
    return "Bash", "command_execution", preview_command(item.command), {"command": item.command}


def _file_change(item: wire.FileChange) -> Description:
    name, changes = "Write", []
    for change in item.changes:
        changes.append({"path": change.path, "kind": change.kind})
        if change.kind != "add":
            name = "Edit"
    if not changes:
        return "Edit", "file_change", "", {"changes": changes}
    return name, "file_change", shorten(item.changes[0].path), {"changes": changes}


def _mcp_call(item: wire.McpCall) -> Description:
    name = clean_line(f"mcp__{item.server}__{item.tool}")
    return name, name, preview(item.arguments), item.arguments


def _todo_list(item: wire.TodoList) -> Description:
    return "Todo", "todo_list", "", {"items": plan_of(item).value}


def _web_search(item: wire.WebSearch) -> Description:
    args = {"query": item.query or "", "action": item.action}
    return "WebSearch", "web_search", preview(args) or preview(item.action), args


def _collab_call(item: wire.CollabCall) -> Description:
    args: dict[str, object] = {}
    if item.prompt is not None:
        args["prompt"] = item.prompt
    if item.tool == "spawn_agent":
        return "Task", "spawn_agent", shorten(item.prompt or ""), args
    native = clean_line(item.tool) or "collab_tool_call"
    return native, native, shorten(item.prompt or ""), args


# item type → how to describe such a call
DESCRIPTIONS: dict[type, Callable[[Any], Description]] = {
    wire.CodexCommand: _command,
    wire.FileChange: _file_change,
    wire.McpCall: _mcp_call,
    wire.TodoList: _todo_list,
    wire.WebSearch: _web_search,
    wire.CollabCall: _collab_call,
}


def plan_of(item: wire.TodoList) -> TodoState:
    """The plan; the wire does not distinguish a step in progress from one not begun."""
    steps = [(clean_text(todo.text), "completed" if todo.completed else "pending") for todo in item.items]
    return TodoState([TodoTask(text, status) for text, status in steps])


def _command_outcome(item: wire.CodexCommand) -> tuple[str, bool]:
    return item.aggregated_output or "", bool(item.exit_code) or item.status not in _FINE


def _file_outcome(item: wire.FileChange) -> tuple[str, bool]:
    return "", item.status not in _FINE


def _search_outcome(item: wire.WebSearch) -> tuple[str, bool]:
    return "", False  # not reported


def _collab_outcome(item: wire.CollabCall) -> tuple[str, bool]:
    words = "\n".join(state.message for state in item.agents_states.values() if state.message)
    return words, item.status not in _FINE


def _mcp_outcome(item: wire.McpCall) -> tuple[str, bool]:
    error = item.error
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return message if isinstance(message, str) else "", True
    failed = item.status not in _FINE
    result = item.result if isinstance(item.result, dict) else {}
    content, structured = result.get("content"), result.get("structured_content")
    parts = [_part(part) for part in content] if isinstance(content, list) else []
    if not parts and structured is not None:
        return msgspec.json.encode(clean_value(structured)).decode(), failed
    return "\n".join(parts), failed


def _part(part: object) -> str:
    """The text of one part of an answer; a part that is no text leaves its type."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else "[part]"
    text, kind = part.get("text"), part.get("type")
    return text if isinstance(text, str) else f"[{kind if isinstance(kind, str) else 'part'}]"


# item type → its output, and whether it failed
OUTCOMES: dict[type, Callable[[Any], tuple[str, bool]]] = {
    wire.CodexCommand: _command_outcome,
    wire.FileChange: _file_outcome,
    wire.McpCall: _mcp_outcome,
    wire.WebSearch: _search_outcome,
    wire.CollabCall: _collab_outcome,
}
