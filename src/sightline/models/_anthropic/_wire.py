"""Anthropic Messages as it goes over the wire: requests, and the events of an answer.

The events are read into one flat struct: an event, block or delta of an unknown type is passed over, and a
tagged union would refuse it.
"""

from typing import Union

import msgspec


class CacheControl(msgspec.Struct, frozen=True, tag="ephemeral"):
    """What stands up to and including the block that has it is cached by the server for the next request."""


class _Block(msgspec.Struct, omit_defaults=True, kw_only=True, gc=False):
    cache_control: CacheControl | None = None


class AnthropicTextBlock(_Block, tag="text", omit_defaults=True, gc=False):
    text: str


class ImageSource(msgspec.Struct, tag="base64", gc=False):
    media_type: str
    data: str


class ImageBlock(_Block, tag="image", omit_defaults=True, gc=False):
    source: ImageSource


class ToolUseBlock(_Block, tag="tool_use", omit_defaults=True, gc=False):
    id: str
    name: str
    input: dict[str, object]


class ToolResultBlock(_Block, tag="tool_result", omit_defaults=True, gc=False):
    tool_use_id: str
    content: list[AnthropicTextBlock | ImageBlock]
    is_error: bool = False


class ThinkingBlock(msgspec.Struct, tag="thinking", gc=False):
    thinking: str
    signature: str


class RedactedThinkingBlock(msgspec.Struct, tag="redacted_thinking", gc=False):
    data: str


Block = Union[AnthropicTextBlock, ImageBlock, ToolUseBlock, ToolResultBlock, ThinkingBlock, RedactedThinkingBlock]


class AnthropicTurn(msgspec.Struct, gc=False):
    role: str
    content: list[Block]


class AnthropicTool(msgspec.Struct, omit_defaults=True):
    name: str
    description: str
    input_schema: msgspec.Raw
    cache_control: CacheControl | None = None


class Thinking(msgspec.Struct, tag="enabled"):
    budget_tokens: int


class AdaptiveThinking(msgspec.Struct, tag="adaptive"):
    display: str = "summarized"  # left out, newer models show nothing of it


class OutputConfig(msgspec.Struct):
    effort: str


class AnthropicToolChoice(msgspec.Struct, tag="tool"):
    name: str


class AnthropicRequest(msgspec.Struct, omit_defaults=True):
    model: str
    max_tokens: int
    stream: bool
    messages: list[AnthropicTurn]
    system: list[AnthropicTextBlock] = []
    tools: list[AnthropicTool] = []
    thinking: Thinking | AdaptiveThinking | None = None
    output_config: OutputConfig | None = None
    tool_choice: AnthropicToolChoice | None = None


class StartedMessage(msgspec.Struct, gc=False):
    usage: object = None


class StartedBlock(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: object = None


class AnthropicDelta(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class AnthropicError(msgspec.Struct, gc=False):
    type: str = ""
    message: str | None = None


class AnthropicEvent(msgspec.Struct):
    type: str = ""
    index: int = 0
    message: StartedMessage | None = None
    content_block: StartedBlock | None = None
    delta: AnthropicDelta | None = None
    usage: object = None
    error: AnthropicError | str | None = None


class EventType(msgspec.Struct):
    type: str = ""


class AnthropicErrorBody(msgspec.Struct):
    error: AnthropicError


_BLOCK_EVENTS = ("content_block_start", "content_block_delta", "content_block_stop")
READ = frozenset(("message_start", *_BLOCK_EVENTS, "message_delta", "message_stop", "error"))
event_decoder = msgspec.json.Decoder(AnthropicEvent)
type_decoder = msgspec.json.Decoder(EventType)
error_decoder = msgspec.json.Decoder(AnthropicErrorBody)
