"""The lines of Claude Code's stream, as far as they are read. Fields that vary in shape are left untyped on purpose:
one odd field must not make a whole line unreadable."""

from typing import Any, Union

import msgspec

# Kinds of line that are known and show nothing.
SILENT = frozenset(
    ("keep_alive", "rate_limit_event", "tool_progress", "auth_status", "control_request", "control_response",
     "control_cancel_request", "tool_use_summary", "prompt_suggestion", "summary")
)  # fmt: skip

# Its tools by the names that all providers share.
COMMON_NAMES = {
    "Agent": "Task",
    "BashOutput": "Bash",
    "LS": "Glob",
    "MultiEdit": "Edit",
    "NotebookEdit": "Edit",
    "NotebookRead": "Read",
    "TaskCreate": "Todo",
    "TaskUpdate": "Todo",
    "TodoWrite": "Todo",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
}


class TokenUsage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    total_tokens: int | None = None


class Block(msgspec.Struct, gc=False):
    """A content block of any type: each type uses some of the fields."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: Any = None
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    content: str | list[Block]
    model: str = ""


class UserMessage(msgspec.Struct, gc=False):
    content: str | list[Block]


class Delta(msgspec.Struct, gc=False):
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class ApiEvent(msgspec.Struct, gc=False):
    """A raw event of the Messages API."""

    type: str
    index: int = 0
    delta: Delta | None = None
    content_block: Block | None = None
    usage: TokenUsage | None = None
    message: Any = None  # of a `message_start`: a `Begun`


class Begun(msgspec.Struct, gc=False):
    """A message that begins."""

    usage: TokenUsage | None = None


class Assistant(msgspec.Struct, gc=False, tag_field="type", tag="assistant"):
    message: Message
    parent_tool_use_id: str | None = None
    error: Any = None
    subagent_type: str | None = None
    task_description: str | None = None


class UserLine(msgspec.Struct, gc=False, tag_field="type", tag="user"):
    message: UserMessage
    parent_tool_use_id: str | None = None
    isSynthetic: bool = False
    subagent_type: str | None = None
    task_description: str | None = None


class StreamEvent(msgspec.Struct, gc=False, tag_field="type", tag="stream_event"):
    event: ApiEvent
    parent_tool_use_id: str | None = None


class System(msgspec.Struct, gc=False, tag_field="type", tag="system"):
    subtype: str = ""
    session_id: str = ""
    model: str = ""
    cwd: str = ""
    status: str | None = None
    tool_use_id: str = ""
    description: str | None = None
    usage: TokenUsage | None = None
    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0.0
    error_status: int | None = None
    error: Any = None


class Result(msgspec.Struct, gc=False, tag_field="type", tag="result"):
    subtype: str
    is_error: bool = False
    result: Any = None
    errors: list[Any] = []
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: TokenUsage | None = None
    permission_denials: Any = None


Line = Union[Assistant, UserLine, StreamEvent, System, Result]
