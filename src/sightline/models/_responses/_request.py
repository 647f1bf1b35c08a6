"""A request in the form of OpenAI Responses.

What the API insists on:

- Each `function_call` has its `function_call_output`. Its output is a text; OpenAI itself takes images in it too, for
  other servers they come in a message of the user after the results.
- Nothing is stored there (`store: false`), so reasoning comes back encrypted and is sent again as it came: only to this
  API, only to the model that made it, and only before the item it led to, which it is refused without.
- Only models that think take `reasoning` and `include`, and only some accounts may have summaries of it.
"""

from sightline.conversation import AssistantMessage, CallPart, Content, ImagePart, ReasoningPart, TextPart, ToolMessage
from sightline.models._api import ModelFacts, ModelRequest
from sightline.models._effort import effort, thinks
from sightline.models._history import NO_OUTPUT, CallIds, consistent, sendable, tool_name
from sightline.models._responses import _wire as wire
from sightline.models.http import _json

API = "responses"

_ENCRYPTED = "reasoning.encrypted_content"
_LEAST_OUTPUT = 16  # the API's own
_IMAGES_OF_RESULTS = "The images of the results above:"
_CACHE_KEY_AT_MOST = 64


def encoded(request: ModelRequest, facts: ModelFacts, *, summaries: bool = True) -> bytes:
    level = effort(facts, request.thinking)
    summary = "auto" if summaries and level != "none" else ""
    body = wire.ResponsesRequest(
        model=facts.id,
        instructions=request.system,
        input=_Input(facts).items(request),
        store=False,
        stream=True,
        tools=[wire.ResponsesTool(tool.name, tool.description, tool.parameters) for tool in request.tools],
        tool_choice=wire.ResponsesToolChoice(request.tool_choice) if request.tool_choice else None,
        include=[_ENCRYPTED] if thinks(facts) else [],
        reasoning=wire.ReasoningOptions(level, summary) if level else None,
        max_output_tokens=max(request.max_output, _LEAST_OUTPUT) if request.max_output else 0,
        prompt_cache_key=request.cache_key[:_CACHE_KEY_AT_MOST],
    )
    return _json.encode(body)


class _Input:
    """The items of one request."""

    def __init__(self, facts: ModelFacts) -> None:
        self._model = facts.id
        self._images = facts.images is not False
        self._images_in_results = facts.provider == "openai"
        self._ids = CallIds()
        self._shown: list[Content] = []  # images of the results just sent

    def items(self, request: ModelRequest) -> list[object]:
        items: list[object] = []
        for message in consistent(request.messages):
            if not isinstance(message, ToolMessage):
                items += self._images_of_results()
            match message:
                case AssistantMessage():
                    items += self._answer(message)
                case ToolMessage():
                    items.append(self._result(message))
                case _:
                    parts = sendable(message.parts, images=self._images)
                    items += [wire.UserItem(_input(parts))] if parts else []
        return items + self._images_of_results()

    def _answer(self, message: AssistantMessage) -> list[object]:
        """Reasoning waits for the item it led to; what led to nothing is left out."""
        items: list[object] = []
        thoughts: list[object] = []
        own = (message.api, message.model) == (API, self._model)
        for part in message.parts:
            if isinstance(part, ReasoningPart):
                thoughts += _thought(part) if own else []
                continue
            item = self._item(part, own=own)
            if item is not None:
                items += [*thoughts, item]
                thoughts = []
        return items

    def _item(self, part: TextPart | CallPart, *, own: bool) -> object:
        if isinstance(part, CallPart):
            ident = self._ids.native(part) if own else self._ids.of(part)
            return wire.CallItem(ident, tool_name(part.name), _json.encode(part.args).decode())
        return wire.AssistantItem([wire.OutputText(part.text)]) if part.text.strip() else None

    def _result(self, message: ToolMessage) -> wire.ResultItem:
        parts = sendable(message.parts, images=self._images)
        if self._images_in_results and any(isinstance(part, ImagePart) for part in parts):
            return wire.ResultItem(self._ids.of(message), _input(parts))
        self._shown += [part for part in parts if isinstance(part, ImagePart)]
        text = "\n".join([part.text for part in parts if isinstance(part, TextPart)])
        return wire.ResultItem(self._ids.of(message), text or NO_OUTPUT)

    def _images_of_results(self) -> list[object]:
        shown, self._shown = self._shown, []
        return [wire.UserItem(_input([TextPart(_IMAGES_OF_RESULTS), *shown]))] if shown else []


def _thought(part: ReasoningPart) -> list[object]:
    ours = part.api == API and isinstance(part.opaque, dict)
    return [part.opaque] if ours and part.opaque.get("encrypted_content") else []


def _input(parts: list[Content]) -> wire.Input:
    return [_piece(part) for part in parts]


def _piece(part: Content) -> wire.InputText | wire.InputImage:
    if isinstance(part, TextPart):
        return wire.InputText(part.text)
    return wire.InputImage(f"data:{part.media_type};base64,{part.data}")
