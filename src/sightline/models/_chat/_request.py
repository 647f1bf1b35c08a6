"""A request in the form of Chat Completions.

What servers insist on:

- `content` is a text, "" where there is none (llama.cpp refuses null), or, with images, a list.
- Results follow the message with the calls at once, one message each. They hold text alone, so images of results come
  in a message of the user after them.
- Thinking does not go back. Ids of calls have at most 40 characters, but for those the server itself gave: there are
  proxies that put a signature into them.
- A model that is known to make no calls is offered no tools: its server would refuse the request.
- OpenAI's thinking models take `max_completion_tokens` only, many other servers `max_tokens` only.
"""

from collections.abc import Callable
from typing import Literal, Union

import msgspec

from sightline.conversation import AssistantMessage, CallPart, Content, ImagePart, TextPart, ToolMessage
from sightline.models._api import ModelFacts, ModelRequest
from sightline.models._effort import effort
from sightline.models._history import NO_OUTPUT, CallIds, consistent, sendable, tool_name
from sightline.models.http import _json


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


API = "chat"

_ID_AT_MOST = 40
_IMAGES_OF_RESULTS = "The images of the results above:"


def encoded(request: ModelRequest, facts: ModelFacts) -> bytes:
    tools = () if facts.tools is False else request.tools
    body = ChatRequest(
        model=facts.id,
        messages=_messages(request, facts),
        stream=True,
        stream_options=StreamOptions(include_usage=True),
        tools=[ChatTool(ChatFunction(tool.name, tool.description, tool.parameters)) for tool in tools],
        tool_choice=ChatToolChoice(FunctionName(request.tool_choice)) if tools and request.tool_choice else None,
    )
    _fill_in_dialect(body, request, facts)
    return _json.encode(body)


def _fill_in_dialect(body: ChatRequest, request: ModelRequest, facts: ModelFacts) -> None:
    level = effort(facts, request.thinking)
    if facts.provider == "openai":
        body.max_completion_tokens = request.max_output
        body.prompt_cache_key = request.cache_key[:64]
    else:
        body.max_tokens = request.max_output
    if facts.provider == "openrouter":
        body.usage = {"include": True}
        body.reasoning = {"effort": level} if level else None
    else:
        body.reasoning_effort = level


def _messages(request: ModelRequest, facts: ModelFacts) -> list[ChatMessage]:
    images = facts.images is not False
    ids = CallIds(_ID_AT_MOST)
    sent = [ChatMessage("system", request.system)] if request.system else []
    shown: list[Content] = []  # images of the results just sent
    for message in consistent(request.messages):
        if shown and not isinstance(message, ToolMessage):
            sent.append(_images_message(shown))
            shown = []
        match message:
            case AssistantMessage():
                own = (message.api, message.model) == (API, facts.id)
                sent += _answer(message, ids.native if own else ids.of)
            case ToolMessage():
                sent.append(_result(message, ids, shown, images=images))
            case _:
                parts = sendable(message.parts, images=images)
                sent += [ChatMessage("user", _content(parts))] if parts else []
    return [*sent, _images_message(shown)] if shown else sent


def _answer(message: AssistantMessage, id_of: Callable[[CallPart], str]) -> list[ChatMessage]:
    calls = [_call(call, id_of(call)) for call in message.calls]
    text = message.text
    return [ChatMessage("assistant", text, calls)] if calls or text.strip() else []


def _call(call: CallPart, ident: str) -> MadeCall:
    # What is no JSON object goes back as none: templates of local servers fail on it. The result has what was wrong.
    return MadeCall(ident, CalledFunction(tool_name(call.name), _json.encode(call.args).decode()))


def _result(message: ToolMessage, ids: CallIds, shown: list[Content], *, images: bool) -> ChatMessage:
    parts = sendable(message.parts, images=images)
    shown += [part for part in parts if isinstance(part, ImagePart)]
    text = "\n".join([part.text for part in parts if isinstance(part, TextPart)])
    return ChatMessage("tool", text or NO_OUTPUT, tool_call_id=ids.of(message))


def _images_message(images: list[Content]) -> ChatMessage:
    return ChatMessage("user", _content([TextPart(_IMAGES_OF_RESULTS), *images]))


def _content(parts: list[Content]) -> str | Pieces:
    if not any(isinstance(part, ImagePart) for part in parts):
        return "\n".join([part.text for part in parts if isinstance(part, TextPart)])
    return [_piece(part) for part in parts]


def _piece(part: Content) -> TextPiece | ImagePiece:
    if isinstance(part, TextPart):
        return TextPiece(part.text)
    return ImagePiece(ImageUrl(data_url(part)))


def data_url(image: ImagePart) -> str:
    return f"data:{image.media_type};base64,{image.data}"
