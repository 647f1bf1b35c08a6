"""Requests of Chat Completions as they go over the wire. Its answers: `sightline.chat_completions`."""

from typing import Literal, Union

import msgspec


class TextPiece(msgspec.Struct, tag_field="type", tag="text"):
    text: str


class ImageUrl(msgspec.Struct):
    url: str


class ImagePiece(msgspec.Struct, tag_field="type", tag="image_url"):
    image_url: ImageUrl


Pieces = list[Union[TextPiece, ImagePiece]]


class CalledFunction(msgspec.Struct):
    name: str
    arguments: str


class MadeCall(msgspec.Struct):
    id: str
    function: CalledFunction
    type: Literal["function"] = "function"


class ChatMessage(msgspec.Struct, omit_defaults=True):
    role: str
    content: str | Pieces  # never null: there are servers that refuse it
    tool_calls: list[MadeCall] = []
    tool_call_id: str = ""


class ChatFunction(msgspec.Struct):
    name: str
    description: str
    parameters: msgspec.Raw


class ChatTool(msgspec.Struct):
    function: ChatFunction
    type: Literal["function"] = "function"


class FunctionName(msgspec.Struct):
    name: str


class ChatToolChoice(msgspec.Struct):
    function: FunctionName
    type: Literal["function"] = "function"


class StreamOptions(msgspec.Struct):
    include_usage: bool


class ChatRequest(msgspec.Struct, omit_defaults=True, kw_only=True):
    model: str
    messages: list[ChatMessage]
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: list[ChatTool] = []
    tool_choice: ChatToolChoice | None = None
    max_tokens: int = 0
    max_completion_tokens: int = 0
    reasoning_effort: str = ""
    reasoning: dict[str, str] | None = None  # OpenRouter's form of it
    usage: dict[str, bool] | None = None  # makes OpenRouter report the cost
    prompt_cache_key: str = ""
