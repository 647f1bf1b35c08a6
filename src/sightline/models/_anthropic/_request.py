"""A request in the form of Anthropic Messages.

What the API insists on:

- Roles alternate and the user begins; results of calls stand first in the turn after the calls, one for each.
- No text is blank; an assistant's last words do not end in white space when nothing follows them.
- The result of a call that is marked as an error has no images: with images, it goes without the mark.
- Thinking goes back only with the signature it came with, only what this API made, and never as the last part.
- Thinking is off while a tool is forced, and in the middle of calls that were made without it. `max_tokens` is required
  and counts the thinking, so it stays above the budget.
- Models from 4.6 on decide themselves how long to think and are given an effort; those from 4.7 on refuse a budget, and
  the newest refuse to have thinking disabled. Off is the least effort there.

Four places may be marked for the cache; what stands before a mark is cached: the last tool, the system prompt, and the
last two turns of the user, so that each request finds what the one before it left.
"""

import re

import msgspec

from sightline.conversation import AssistantMessage, Content, Message, ReasoningPart, TextPart, ToolMessage, UserMessage
from sightline.models._anthropic import _wire as wire
from sightline.models._api import ModelFacts, ModelRequest, ToolSpec
from sightline.models._history import NO_OUTPUT, CallIds, consistent, sendable, tool_name
from sightline.models.http import _json

API = "anthropic"

# Tokens a level may think at most.
BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10_240, "high": 24_576, "max": 32_000}
EFFORTS = {"off": "low", "minimal": "low"}  # the other levels are words of the API itself
_FIRST_ADAPTIVE = (4, 6)
_version = re.compile(r"claude-[a-z]+-(\d)(?:-(\d))?(?!\d)")
_LEAST_BUDGET = 1024  # the API's own
_UNKNOWN_OUTPUT = 8192  # what every model that is still served can write
_USUAL_OUTPUT = 32_000  # more is reserved in the context and hardly ever used
_BESIDE_THINKING = 8192
_LEAST_BESIDE = 1024

_THOUGHTS = (wire.ThinkingBlock, wire.RedactedThinkingBlock)
_CACHED = wire.CacheControl()
_CACHED_TURNS = 2
_BEGINNING = "(The conversation continues.)"


def encoded(request: ModelRequest, facts: ModelFacts) -> bytes:
    turns = _turns(request.messages, facts.id, images=facts.images is not False)
    thinking = 0 if request.tool_choice or facts.thinking is False else BUDGETS.get(request.thinking, 0)
    adaptive = facts.thinking is not False and thinks_adaptively(facts.id)
    amid = not adaptive and _is_amid_calls(turns)
    max_tokens, budget = limits(request.max_output, facts.max_output, 0 if amid else thinking)
    _mark_for_cache(turns)
    body = wire.AnthropicRequest(
        model=facts.id,
        max_tokens=max_tokens,
        stream=True,
        messages=turns,
        system=[wire.AnthropicTextBlock(request.system, cache_control=_CACHED)] if request.system.strip() else [],
        tools=_tools(request.tools),
        thinking=(wire.AdaptiveThinking() if adaptive else wire.Thinking(budget)) if budget else None,
        output_config=wire.OutputConfig(EFFORTS.get(request.thinking, request.thinking)) if adaptive else None,
        tool_choice=wire.AnthropicToolChoice(request.tool_choice) if request.tool_choice else None,
    )
    return _json.encode(body)


def thinks_adaptively(model_id: str) -> bool:
    version = _version.search(model_id)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= _FIRST_ADAPTIVE


def limits(requested: int, ceiling: int | None, budget: int) -> tuple[int, int]:
    """`max_tokens`, and how many of them are for thinking (0: none, it does not fit)."""
    words = requested or min(ceiling or _UNKNOWN_OUTPUT, _USUAL_OUTPUT)
    tokens = max(words, budget + min(words, _BESIDE_THINKING)) if budget else words
    tokens = min(tokens, ceiling or tokens)
    budget = min(budget, tokens - min(words, _LEAST_BESIDE))
    return tokens, budget if budget >= _LEAST_BUDGET else 0


def _tools(specs: tuple[ToolSpec, ...]) -> list[wire.AnthropicTool]:
    tools = [wire.AnthropicTool(spec.name, spec.description, spec.parameters) for spec in specs]
    if tools:
        tools[-1].cache_control = _CACHED
    return tools


def _turns(messages: list[Message], model: str, *, images: bool) -> list[wire.AnthropicTurn]:
    ids = CallIds()
    turns: list[wire.AnthropicTurn] = []
    for message in consistent(messages):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        blocks = _blocks(message, ids, model, images=images)
        if not blocks:
            continue
        if turns and turns[-1].role == role:
            turns[-1].content += blocks
        else:
            turns.append(wire.AnthropicTurn(role, blocks))
    if turns and turns[0].role == "assistant":
        turns.insert(0, wire.AnthropicTurn("user", [wire.AnthropicTextBlock(_BEGINNING)]))
    if turns and turns[-1].role == "assistant" and isinstance(last := turns[-1].content[-1], wire.AnthropicTextBlock):
        last.text = last.text.rstrip()
    return turns


def _blocks(message: Message, ids: CallIds, model: str, *, images: bool) -> list[wire.Block]:
    match message:
        case UserMessage():
            return [*_content(message.parts, images=images)]
        case ToolMessage():
            content = _content(message.parts, images=images) or [wire.AnthropicTextBlock(NO_OUTPUT)]
            is_error = message.is_error and all(isinstance(block, wire.AnthropicTextBlock) for block in content)
            return [wire.ToolResultBlock(ids.of(message), content, is_error)]
        case AssistantMessage():
            return _assistant_blocks(message, ids, model)


def _content(parts: list[Content], *, images: bool) -> list[wire.AnthropicTextBlock | wire.ImageBlock]:
    return [
        wire.AnthropicTextBlock(part.text)
        if isinstance(part, TextPart)
        else wire.ImageBlock(wire.ImageSource(part.media_type, part.data))
        for part in sendable(parts, images=images)
    ]


def _assistant_blocks(message: AssistantMessage, ids: CallIds, model: str) -> list[wire.Block]:
    blocks: list[wire.Block] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            if part.text and not part.text.isspace():
                blocks.append(wire.AnthropicTextBlock(part.text))
        elif isinstance(part, ReasoningPart):
            # The newest models refuse the thinking of any other.
            blocks += _thought(part) if message.model in ("", model) else []
        else:
            blocks.append(wire.ToolUseBlock(ids.of(part), tool_name(part.name), part.args))
    while blocks and isinstance(blocks[-1], _THOUGHTS):
        blocks.pop()
    return blocks


def _thought(part: ReasoningPart) -> list[wire.ThinkingBlock | wire.RedactedThinkingBlock]:
    if part.api != API:
        return []
    if part.opaque is not None:
        try:
            return [msgspec.convert(part.opaque, wire.ThinkingBlock | wire.RedactedThinkingBlock)]
        except msgspec.ValidationError:
            return []
    return [wire.ThinkingBlock(part.text, part.signature)] if part.signature else []


def _is_amid_calls(turns: list[wire.AnthropicTurn]) -> bool:
    """Whether the model continues with calls it began to make without thinking."""
    at = len(turns) - 1
    first = None
    while at > 0 and isinstance(turns[at].content[0], wire.ToolResultBlock):
        first = turns[at - 1].content[0]
        at -= 2
    return first is not None and not isinstance(first, _THOUGHTS)


def _mark_for_cache(turns: list[wire.AnthropicTurn]) -> None:
    for turn in [turn for turn in turns if turn.role == "user"][-_CACHED_TURNS:]:
        last = turn.content[-1]
        if not isinstance(last, _THOUGHTS):
            last.cache_control = _CACHED
