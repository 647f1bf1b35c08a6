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

from sightline.conversation import AssistantMessage, CallPart, Content, ImagePart, TextPart, ToolMessage
from sightline.models._api import ModelFacts, ModelRequest
from sightline.models._chat import _wire as wire
from sightline.models._effort import effort
from sightline.models._history import NO_OUTPUT, CallIds, consistent, sendable, tool_name
from sightline.models.http import _json

API = "chat"

_ID_AT_MOST = 40
_IMAGES_OF_RESULTS = "The images of the results above:"


def encoded(request: ModelRequest, facts: ModelFacts) -> bytes:
    tools = () if facts.tools is False else request.tools
    body = wire.ChatRequest(
        model=facts.id,
        messages=_messages(request, facts),
        stream=True,
        stream_options=wire.StreamOptions(include_usage=True),
        tools=[wire.ChatTool(wire.ChatFunction(tool.name, tool.description, tool.parameters)) for tool in tools],
        tool_choice=wire.ChatToolChoice(wire.FunctionName(request.tool_choice))
        if tools and request.tool_choice
        else None,
    )
    _fill_in_dialect(body, request, facts)
    return _json.encode(body)


def _fill_in_dialect(body: wire.ChatRequest, request: ModelRequest, facts: ModelFacts) -> None:
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


def _messages(request: ModelRequest, facts: ModelFacts) -> list[wire.ChatMessage]:
    images = facts.images is not False
    ids = CallIds(_ID_AT_MOST)
    sent = [wire.ChatMessage("system", request.system)] if request.system else []
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
                sent += [wire.ChatMessage("user", _content(parts))] if parts else []
    return [*sent, _images_message(shown)] if shown else sent


def _answer(message: AssistantMessage, id_of: Callable[[CallPart], str]) -> list[wire.ChatMessage]:
    calls = [_call(call, id_of(call)) for call in message.calls]
    text = message.text
    return [wire.ChatMessage("assistant", text, calls)] if calls or text.strip() else []


def _call(call: CallPart, ident: str) -> wire.MadeCall:
    # What is no JSON object goes back as none: templates of local servers fail on it. The result has what was wrong.
    return wire.MadeCall(ident, wire.CalledFunction(tool_name(call.name), _json.encode(call.args).decode()))


def _result(message: ToolMessage, ids: CallIds, shown: list[Content], *, images: bool) -> wire.ChatMessage:
    parts = sendable(message.parts, images=images)
    shown += [part for part in parts if isinstance(part, ImagePart)]
    text = "\n".join([part.text for part in parts if isinstance(part, TextPart)])
    return wire.ChatMessage("tool", text or NO_OUTPUT, tool_call_id=ids.of(message))


def _images_message(images: list[Content]) -> wire.ChatMessage:
    return wire.ChatMessage("user", _content([TextPart(_IMAGES_OF_RESULTS), *images]))


def _content(parts: list[Content]) -> str | wire.Pieces:
    if not any(isinstance(part, ImagePart) for part in parts):
        return "\n".join([part.text for part in parts if isinstance(part, TextPart)])
    return [_piece(part) for part in parts]


def _piece(part: Content) -> wire.TextPiece | wire.ImagePiece:
    if isinstance(part, TextPart):
        return wire.TextPiece(part.text)
    return wire.ImagePiece(wire.ImageUrl(data_url(part)))


def data_url(image: ImagePart) -> str:
    return f"data:{image.media_type};base64,{image.data}"
