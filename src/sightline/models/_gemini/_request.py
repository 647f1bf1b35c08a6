"""A request in the form of generateContent.

What the API insists on:

- The user begins and roles alternate. The turn after calls has as many results, before anything else in it.
- What was thought for a part comes back as the signature of that part, when this API made it. Models from Gemini 3 on
  refuse the first call of a turn without one; for calls another model made there is a word that stands for it.
- A result is an object: `output`, or `error`. Its images follow all results as parts of their own.
"""

import re

from sightline.conversation import (
    AssistantMessage,
    CallPart,
    Content,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from sightline.models._api import ModelFacts, ModelRequest
from sightline.models._gemini import _wire as wire
from sightline.models._gemini._schema import translated
from sightline.models._history import NO_OUTPUT, consistent, sendable, tool_name
from sightline.models.http import _json
from sightline.settings import Thinking

API = "gemini"

# Tokens a level may think at most, for models up to Gemini 2.5; later ones take the level's name.
BUDGETS = {"off": 0, "minimal": 512, "low": 4096, "medium": 8192, "high": 16_384, "max": 24_576}
_LEAST_PRO_BUDGET = 128  # the pro models cannot stop thinking
_LEVELS = {"off": "minimal", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "max": "high"}
_BUDGETED = ("gemini-1", "gemini-2")
_FIRST_WITHOUT_MINIMAL = (3, 8)
_version = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_UNSIGNED = "skip_thought_signature_validator"
_BEGINNING = "(The conversation continues.)"


def encoded(request: ModelRequest, facts: ModelFacts) -> bytes:
    name = model_name(facts)
    declared = [
        wire.Declaration(spec.name, spec.description, translated(bytes(spec.parameters))) for spec in request.tools
    ]
    body = wire.GeminiRequest(
        contents=_Contents(signed_calls=_needs_signatures(name), images=facts.images is not False).of(request.messages),
        system_instruction=wire.Content([wire.Part(text=request.system)]) if request.system.strip() else None,
        tools=[wire.GeminiTools(declared)] if declared else [],
        tool_config=wire.ToolConfig(wire.CallingConfig("ANY", [request.tool_choice])) if request.tool_choice else None,
        generation_config=_generation(request, facts, name),
    )
    return _json.encode(body)


def model_name(facts: ModelFacts) -> str:
    return facts.id.removeprefix("models/")


def _needs_signatures(name: str) -> bool:
    return name.startswith("gemini-") and not name.startswith(_BUDGETED)


def _generation(request: ModelRequest, facts: ModelFacts, name: str) -> wire.GenerationConfig | None:
    tokens = min(request.max_output or facts.max_output or 0, facts.max_output or request.max_output) or None
    thinking = None if facts.thinking is False else thinking_config(request.thinking, name)
    return wire.GenerationConfig(tokens, thinking) if tokens or thinking else None


def thinking_config(level: Thinking, name: str) -> wire.ThinkingConfig | None:
    """None for a model whose form of it is not known."""
    shown = level != "off"
    if name.startswith("gemini-2.5"):
        budget = max(BUDGETS[level], _LEAST_PRO_BUDGET) if "pro" in name else BUDGETS[level]
        return wire.ThinkingConfig(include_thoughts=shown, thinking_budget=budget)
    if not _needs_signatures(name):
        return None
    word = _LEVELS[level]
    if word == "minimal" and ("pro" in name or _version_of(name) >= _FIRST_WITHOUT_MINIMAL):
        word = "low"
    return wire.ThinkingConfig(include_thoughts=shown, thinking_level=word)


def _version_of(name: str) -> tuple[int, int]:
    version = _version.match(name)
    return (int(version[1]), int(version[2] or 0)) if version is not None else (0, 0)


class _Contents:
    """One conversation on its way into turns."""

    def __init__(self, *, signed_calls: bool, images: bool) -> None:
        self._signed_calls = signed_calls
        self._images = images
        self._ids: dict[str, str] = {}  # of the calls the API named itself
        self._turns: list[wire.Content] = []
        self._after_results: list[wire.Part] = []

    def of(self, messages: list[Message]) -> list[wire.Content]:
        for message in consistent(messages):
            if not isinstance(message, ToolMessage):
                self._close_results()
            match message:
                case UserMessage():
                    self._add("user", self._content(message.parts))
                case ToolMessage():
                    self._add("user", [self._result(message)])
                case AssistantMessage():
                    self._add("model", self._parts_of(message))
        self._close_results()
        if self._turns and self._turns[0].role == "model":
            self._turns.insert(0, wire.Content([wire.Part(text=_BEGINNING)], "user"))
        return self._turns

    def _add(self, role: str, parts: list[wire.Part]) -> None:
        if not parts:
            return
        if self._turns and self._turns[-1].role == role:
            self._turns[-1].parts += parts
        else:
            self._turns.append(wire.Content(parts, role))

    def _close_results(self) -> None:
        self._add("user", self._after_results)
        self._after_results = []

    def _content(self, parts: list[Content]) -> list[wire.Part]:
        return [
            wire.Part(text=part.text) if isinstance(part, TextPart) else _image(part)
            for part in sendable(parts, images=self._images)
        ]

    def _result(self, message: ToolMessage) -> wire.Part:
        parts = sendable(message.parts, images=self._images)
        images = [_image(part) for part in parts if isinstance(part, ImagePart)]
        text = "\n".join([part.text for part in parts if isinstance(part, TextPart)])
        if images:
            self._after_results += [wire.Part(text=f"From the result of {tool_name(message.name)}:"), *images]
            text = text or "See the image below."
        response: dict[str, object] = {"error" if message.is_error else "output": text or NO_OUTPUT}
        return wire.Part(
            function_response=wire.FunctionResponse(tool_name(message.name), response, self._ids.get(message.call, ""))
        )

    def _parts_of(self, message: AssistantMessage) -> list[wire.Part]:
        parts: list[wire.Part] = []
        unsigned = self._signed_calls
        for part in message.parts:
            if isinstance(part, TextPart):
                if part.text and not part.text.isspace():
                    parts.append(wire.Part(text=part.text))
            elif isinstance(part, ReasoningPart):
                parts += _thought(part)
            else:
                parts.append(self._call(part, message.api, unsigned=unsigned))
                unsigned = False
        return parts

    def _call(self, part: CallPart, api: str, *, unsigned: bool) -> wire.Part:
        if api == API and part.native_id:
            self._ids[part.id] = part.native_id
        signature = part.opaque.get("thoughtSignature") if part.api == API and isinstance(part.opaque, dict) else None
        call = wire.FunctionCall(tool_name(part.name), part.args, self._ids.get(part.id))
        return wire.Part(function_call=call, thought_signature=signature or (_UNSIGNED if unsigned else None))


def _thought(part: ReasoningPart) -> list[wire.Part]:
    if part.api != API or not part.signature:
        return []
    return [wire.Part(text=part.text, thought=bool(part.text) or None, thought_signature=part.signature)]


def _image(part: ImagePart) -> wire.Part:
    return wire.Part(inline_data=wire.Blob(part.media_type, part.data))
