"""Chat Completions as it goes over the wire: what is asked, and the chunks of an answer.

An answer is a stream of chunks (`choices[0].delta`) or, from a server that does not stream, one body
(`choices[0].message`); both hold the same fields. Leaves are `Any`: servers disagree about them, and one odd leaf must
not cost the words beside it.
"""

from typing import Any, Literal, Union

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


class Message(msgspec.Struct, omit_defaults=True):
    role: str
    content: str | Pieces  # never null: there are servers that refuse it
    tool_calls: list[MadeCall] = []
    tool_call_id: str = ""


class Function(msgspec.Struct):
    name: str
    description: str
    parameters: msgspec.Raw


class Tool(msgspec.Struct):
    function: Function
    type: Literal["function"] = "function"


class FunctionName(msgspec.Struct):
    name: str


class ToolChoice(msgspec.Struct):
    function: FunctionName
    type: Literal["function"] = "function"


class StreamOptions(msgspec.Struct):
    include_usage: bool


class Request(msgspec.Struct, omit_defaults=True, kw_only=True):
    model: str
    messages: list[Message]
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: list[Tool] = []
    tool_choice: ToolChoice | None = None
    max_tokens: int = 0
    max_completion_tokens: int = 0
    reasoning_effort: str = ""
    reasoning: dict[str, str] | None = None  # OpenRouter's form of it
    usage: dict[str, bool] | None = None  # OpenRouter tells the cost when asked
    prompt_cache_key: str = ""


class FunctionDelta(msgspec.Struct, gc=False):
    name: Any = None
    arguments: Any = None


class CallDelta(msgspec.Struct, gc=False):
    index: Any = None
    id: Any = None
    function: FunctionDelta | None = None


class Delta(msgspec.Struct, gc=False):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    refusal: Any = None
    tool_calls: list[CallDelta] | None = None
    function_call: FunctionDelta | None = None  # the form of before tool calls; one server repeats each call in it


class Choice(msgspec.Struct, gc=False):
    index: Any = 0
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: Any = None
    error: Any = None


class PromptTokens(msgspec.Struct, gc=False):
    cached_tokens: Any = None
    cache_write_tokens: Any = None


class CompletionTokens(msgspec.Struct, gc=False):
    reasoning_tokens: Any = None


class CostDetails(msgspec.Struct, gc=False):
    upstream_inference_cost: Any = None


class Tokens(msgspec.Struct, gc=False):
    prompt_tokens: Any = None
    completion_tokens: Any = None
    total_tokens: Any = None
    prompt_tokens_details: PromptTokens | None = None
    completion_tokens_details: CompletionTokens | None = None
    prompt_cache_hit_tokens: Any = None
    cost: Any = None
    is_byok: Any = None  # the account upstream is billed, not this one
    cost_details: CostDetails | None = None


class Chunk(msgspec.Struct, gc=False):
    object: Any = None
    choices: list[Choice] | None = None
    usage: Any = None  # Tokens
    error: Any = None
    message: Any = None
    type: Any = None
    code: Any = None

    def failed(self) -> Any:
        """The error it is, or None."""
        if self.error:
            return self.error
        if self.object == "error":
            return {"message": self.message, "type": self.type, "code": self.code}
        return next((choice.error for choice in self.choices or () if choice.error), None)


chunk_decoder = msgspec.json.Decoder(Chunk)
