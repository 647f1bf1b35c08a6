"""The lines of Claude Code's stream, as far as they are read. Fields that vary in shape are left untyped on purpose:
one odd field must not make a whole line unreadable."""

from typing import ClassVar, Union

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


class LineType(msgspec.Struct, gc=False):
    type: str


class ClaudeTokenUsage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    total_tokens: int | None = None


class ContentBlock(msgspec.Struct, gc=False):
    """A content block of any type: each type uses some of the fields."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: object = None
    tool_use_id: str = ""
    content: object = None
    is_error: bool | None = None


class ClaudeMessage(msgspec.Struct, gc=False):
    content: str | list[ContentBlock]
    model: str = ""


class ClaudeDelta(msgspec.Struct, gc=False):
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class ApiEvent(msgspec.Struct, gc=False):
    """A raw event of the Messages API."""

    type: str
    index: int = 0
    delta: ClaudeDelta | None = None
    content_block: ContentBlock | None = None
    usage: ClaudeTokenUsage | None = None
    message: object = None  # of a `message_start`: a `MessageStart`


class MessageStart(msgspec.Struct, gc=False):
    """A message that begins."""

    usage: ClaudeTokenUsage | None = None


class _AgentLine(msgspec.Struct, gc=False, kw_only=True, tag_field="type"):
    parent_tool_use_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None


class Assistant(_AgentLine, gc=False, kw_only=True, tag="assistant"):
    message: ClaudeMessage
    error: object = None


class UserLine(_AgentLine, gc=False, kw_only=True, tag="user"):
    message: ClaudeMessage
    isSynthetic: bool = False


class StreamEvent(_AgentLine, gc=False, kw_only=True, tag="stream_event"):
    event: ApiEvent


class System(msgspec.Struct, gc=False, tag_field="type", tag="system"):
    parent_tool_use_id: ClassVar[None] = None  # it is of no subagent
    subtype: str = ""
    session_id: str = ""
    model: str = ""
    cwd: str = ""
    status: str | None = None
    tool_use_id: str = ""
    description: str | None = None
    usage: ClaudeTokenUsage | None = None
    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0.0
    error_status: int | None = None
    error: object = None


class ClaudeResult(msgspec.Struct, gc=False, tag_field="type", tag="result"):
    parent_tool_use_id: ClassVar[None] = None
    subtype: str
    is_error: bool = False
    result: object = None
    errors: list[object] = []
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: ClaudeTokenUsage | None = None
    permission_denials: object = None


OfAgent = Union[Assistant, UserLine, StreamEvent]  # of the root, or of a subagent
Line = Union[OfAgent, System, ClaudeResult]
