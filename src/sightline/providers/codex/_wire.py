"""The lines of Codex's stream, as far as they are read. Fields that vary in shape are left untyped on purpose: one odd
field must not make a whole line unreadable."""

from typing import Union

import msgspec


class AgentMessage(msgspec.Struct, gc=False, tag_field="type", tag="agent_message"):
    text: str = ""


class Thought(msgspec.Struct, gc=False, tag_field="type", tag="reasoning"):
    text: str = ""


class CodexCommand(msgspec.Struct, gc=False, tag_field="type", tag="command_execution"):
    id: str = ""
    command: object = ""
    aggregated_output: str | None = ""
    exit_code: int | None = None
    status: str | None = ""


class CodexFileChange(msgspec.Struct, gc=False):
    path: str = ""
    kind: object = ""


class FileChange(msgspec.Struct, gc=False, tag_field="type", tag="file_change"):
    id: str = ""
    changes: list[CodexFileChange] = []
    status: str | None = ""


class McpCall(msgspec.Struct, gc=False, tag_field="type", tag="mcp_tool_call"):
    id: str = ""
    server: str = ""
    tool: str = ""
    arguments: object = None
    result: object = None
    error: object = None
    status: str | None = ""


class TodoItem(msgspec.Struct, gc=False):
    text: str = ""
    completed: bool = False


class TodoList(msgspec.Struct, gc=False, tag_field="type", tag="todo_list"):
    id: str = ""
    items: list[TodoItem] = []


class WebSearch(msgspec.Struct, gc=False, tag_field="type", tag="web_search"):
    # The wire has this key twice in one object; both lines of a search end with the same one.
    id: str = ""
    query: str | None = ""
    action: object = None


class CollabState(msgspec.Struct, gc=False):
    status: str | None = ""
    message: str | None = None


class CollabCall(msgspec.Struct, gc=False, tag_field="type", tag="collab_tool_call"):
    id: str = ""
    tool: str = ""
    receiver_thread_ids: list[str] = []
    prompt: str | None = None
    agents_states: dict[str, CollabState] = {}
    status: str | None = ""


class CodexWarning(msgspec.Struct, gc=False, tag_field="type", tag="error"):
    message: str = ""


Item = Union[AgentMessage, Thought, CodexCommand, FileChange, McpCall, TodoList, WebSearch, CollabCall, CodexWarning]


class CodexTokenUsage(msgspec.Struct, gc=False):
    """In the order of `Usage`."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class CodexFailure(msgspec.Struct, gc=False):
    message: str = ""


class ThreadStarted(msgspec.Struct, gc=False, tag_field="type", tag="thread.started"):
    thread_id: str = ""


class CodexTurnStarted(msgspec.Struct, gc=False, tag_field="type", tag="turn.started"):
    pass


class TurnCompleted(msgspec.Struct, gc=False, tag_field="type", tag="turn.completed"):
    usage: CodexTokenUsage | None = None


class TurnFailed(msgspec.Struct, gc=False, tag_field="type", tag="turn.failed"):
    error: CodexFailure | None = None


class CodexErrorLine(msgspec.Struct, gc=False, tag_field="type", tag="error"):
    message: str = ""


class ItemStarted(msgspec.Struct, gc=False, tag_field="type", tag="item.started"):
    item: Item


class ItemUpdated(msgspec.Struct, gc=False, tag_field="type", tag="item.updated"):
    item: Item


class ItemCompleted(msgspec.Struct, gc=False, tag_field="type", tag="item.completed"):
    item: Item


Line = Union[
    ItemCompleted, ItemStarted, ItemUpdated, ThreadStarted, CodexTurnStarted, TurnCompleted, TurnFailed, CodexErrorLine
]


class OtherItem(msgspec.Struct, gc=False):
    """A line about an item of a type that is not known here."""

    type: str
    item: dict[str, object]
