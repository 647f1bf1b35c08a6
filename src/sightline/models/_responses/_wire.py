"""OpenAI Responses as it goes over the wire: requests, and the events of an answer.

The events are read into one flat struct: an event or item of an unknown type is passed over, and so are
fields. Items are stored as they came where they must go back as they came.
"""

from typing import Literal, Union

import msgspec


class InputText(msgspec.Struct, tag_field="type", tag="input_text"):
    text: str


class InputImage(msgspec.Struct, tag_field="type", tag="input_image"):
    image_url: str
    detail: Literal["auto"] = "auto"


class OutputText(msgspec.Struct, tag_field="type", tag="output_text"):
    text: str
    annotations: tuple[()] = ()


Input = list[Union[InputText, InputImage]]


class UserItem(msgspec.Struct, tag_field="type", tag="message"):
    content: Input
    role: Literal["user"] = "user"


class AssistantItem(msgspec.Struct, tag_field="type", tag="message"):
    content: list[OutputText]
    role: Literal["assistant"] = "assistant"


class CallItem(msgspec.Struct, tag_field="type", tag="function_call"):
    call_id: str
    name: str
    arguments: str


class ResultItem(msgspec.Struct, tag_field="type", tag="function_call_output"):
    call_id: str
    output: str | Input


class ResponsesTool(msgspec.Struct, tag_field="type", tag="function"):
    name: str
    description: str
    parameters: msgspec.Raw
    strict: bool = False


class ResponsesToolChoice(msgspec.Struct, tag_field="type", tag="function"):
    name: str


class ReasoningOptions(msgspec.Struct, omit_defaults=True):
    effort: str = ""
    summary: str = ""


class ResponsesRequest(msgspec.Struct, omit_defaults=True, kw_only=True):
    model: str
    input: list[object]
    store: bool  # nothing is stored there: each request has all it needs
    stream: bool
    instructions: str = ""
    tools: list[ResponsesTool] = []
    tool_choice: ResponsesToolChoice | None = None
    include: list[str] = []
    reasoning: ReasoningOptions | None = None
    max_output_tokens: int = 0
    prompt_cache_key: str = ""


class Details(msgspec.Struct, gc=False):
    cached_tokens: object = None
    reasoning_tokens: object = None


class ResponsesTokens(msgspec.Struct, gc=False):
    input_tokens: object = None
    output_tokens: object = None
    total_tokens: object = None
    input_tokens_details: Details | None = None
    output_tokens_details: Details | None = None
    cost: object = None


class Incomplete(msgspec.Struct, gc=False):
    reason: str | None = None


class Response(msgspec.Struct, gc=False):
    status: object = None
    output: list[dict[str, object]] | None = None
    usage: object = None  # Tokens
    error: object = None
    incomplete_details: Incomplete | None = None


class ResponsesEvent(msgspec.Struct, gc=False):
    """An event, or (`kind`: response) a whole response from a server that does not stream."""

    type: object = None
    kind: object = msgspec.field(name="object", default=None)
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None
    delta: object = None
    item: dict[str, object] | None = None
    arguments: object = None
    response: Response | None = None
    error: object = None
    code: object = None
    message: object = None


event_decoder = msgspec.json.Decoder(ResponsesEvent)
response_decoder = msgspec.json.Decoder(Response)
