"""generateContent as it goes over the wire: requests, and the parts of an answer."""

import msgspec


class Blob(msgspec.Struct, rename="camel", gc=False):
    mime_type: str
    data: str


class FunctionCall(msgspec.Struct, omit_defaults=True, gc=False):
    name: str = ""
    args: dict[str, object] | None = None
    id: str | None = None


class FunctionResponse(msgspec.Struct, omit_defaults=True, gc=False):
    name: str
    response: dict[str, object]
    id: str = ""


class Part(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """One of its fields, with what was thought for it as signature."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None


class Content(msgspec.Struct, omit_defaults=True, gc=False):
    parts: list[Part]
    role: str = ""


class Declaration(msgspec.Struct, omit_defaults=True):
    name: str
    description: str
    parameters: msgspec.Raw | None = None


class GeminiTools(msgspec.Struct, rename="camel"):
    function_declarations: list[Declaration]


class CallingConfig(msgspec.Struct, rename="camel"):
    mode: str
    allowed_function_names: list[str]


class ToolConfig(msgspec.Struct, rename="camel"):
    function_calling_config: CallingConfig


class ThinkingConfig(msgspec.Struct, rename="camel", omit_defaults=True):
    include_thoughts: bool = False
    thinking_budget: int | None = None
    thinking_level: str | None = None


class GenerationConfig(msgspec.Struct, rename="camel", omit_defaults=True):
    max_output_tokens: int | None = None
    thinking_config: ThinkingConfig | None = None


class GeminiRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    contents: list[Content]
    system_instruction: Content | None = None
    tools: list[GeminiTools] = []
    tool_config: ToolConfig | None = None
    generation_config: GenerationConfig | None = None


class AnsweredContent(msgspec.Struct):
    parts: list[Part] | None = None


class GeminiCandidate(msgspec.Struct, rename="camel"):
    content: AnsweredContent | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    index: int = 0


class PromptFeedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class Violation(msgspec.Struct, rename="camel"):
    quota_id: str = ""


class ErrorDetail(msgspec.Struct, rename="camel"):
    """RetryInfo has the delay, QuotaFailure the violations."""

    retry_delay: str = ""
    violations: list[Violation] = []


class GeminiError(msgspec.Struct):
    code: int | None = None
    message: str | None = None
    status: str | None = None
    details: object = None  # a list of messages of any type, some of which are an `ErrorDetail`


class GeminiResponse(msgspec.Struct, rename="camel"):
    """One event."""

    candidates: list[GeminiCandidate] | None = None
    usage_metadata: object = None
    prompt_feedback: PromptFeedback | None = None
    error: GeminiError | str | None = None


class GeminiErrorBody(msgspec.Struct):
    error: GeminiError


answer_decoder = msgspec.json.Decoder(GeminiResponse)
error_decoder = msgspec.json.Decoder(GeminiErrorBody)
# In a request for a stream, the API wraps an error that comes before it in a list.
error_list_decoder = msgspec.json.Decoder(list[GeminiErrorBody])
