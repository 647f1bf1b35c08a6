"""Picks the turn a request asks for and makes it ready for the client that asks."""

import msgspec

from sightline.testing.standin._conversation import Conversation, smallest_value
from sightline.testing.standin._script import (
    MAIN,
    Block,
    ErrorBlock,
    Part,
    ReasoningBlock,
    Script,
    TextBlock,
    ToolBlock,
    Turn,
)
from sightline.testing.standin._tools import translate
from sightline.testing.standin._turn import Calling, ReadyTurn, Saying, Speech, Thinking, as_json, stable_id

_WAIT_FOR_AGENT = "wait_agent"
_WAIT_MS = 20_000


class Answer(msgspec.Struct, frozen=True):
    """What a request gets: a turn, or an error in its place."""

    turn: ReadyTurn
    error: ErrorBlock | None = None


class Director:
    """Knows the script, and how often each of its errors was played: the only thing that is not in a request."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._failed: dict[tuple[str, int], int] = {}

    def answer(self, conversation: Conversation) -> Answer:
        if conversation.is_side_request:
            return Answer(_side_turn(conversation))
        part = conversation.part(self.script)
        calls, answers = conversation.calls_made, conversation.answers_given
        for index, blocks in enumerate(_as_played(part, conversation)):
            ready = _ready(part.agent, index, blocks, conversation)
            if ready.calls and calls >= len(ready.calls):
                calls -= len(ready.calls)
            elif not ready.calls and answers and ready.speeches:
                answers -= 1
            elif (error := self._error(part.agent, index, blocks)) is not None:
                return Answer(ready, error)
            elif ready.speeches:
                return Answer(ready)
        return Answer(_ready(part.agent, len(part.turns), [TextBlock(text="The script is over.")], conversation))

    def _error(self, agent: str, index: int, blocks: Turn) -> ErrorBlock | None:
        """The error to answer with, if the turn has one that was not played as often as it says."""
        played = self._failed.get((agent, index), 0)
        for block in blocks:
            if isinstance(block, ErrorBlock):
                if block.times is None or played < block.times:
                    self._failed[agent, index] = self._failed.get((agent, index), 0) + 1
                    return block
                played -= block.times
        return None


def _as_played(part: Part, conversation: Conversation) -> list[Turn]:
    """The turns of a part as this client plays them.

    Codex starts a subagent without waiting for it; the turns that wait, one per subagent, are put in here.
    """
    if _WAIT_FOR_AGENT not in conversation.tools:
        return part.turns
    turns: list[Turn] = []
    started = 0
    for turn in part.turns:
        turns.append(turn)
        for block in turn:
            if isinstance(block, ToolBlock) and block.agent:
                turns.append([_wait(started, conversation)])
                started += 1
    return turns


def _wait(number: int, conversation: Conversation) -> Block:
    args: dict[str, object] = {"timeout_ms": _WAIT_MS}
    if "targets" in conversation.tools[_WAIT_FOR_AGENT].properties:
        args["targets"] = conversation.agent_ids[number : number + 1]
    return ToolBlock(tool=_WAIT_FOR_AGENT, args=args)


def _ready(agent: str, index: int, blocks: Turn, conversation: Conversation) -> ReadyTurn:
    uid = stable_id(agent, index)
    speeches: list[Speech] = []
    for position, block in enumerate(blocks):
        part_uid = stable_id(agent, index, position)
        match block:
            case TextBlock():
                speeches.append(Saying(part_uid, block))
            case ReasoningBlock():
                speeches.append(Thinking(part_uid, block))
            case ToolBlock() if conversation.tools:  # who offers no tools is only told the words
                speeches.append(_calling(part_uid, block, conversation))
    ready = ReadyTurn(uid, agent, index, speeches)
    if "complete_task" in conversation.tools and not ready.calls:
        speeches.append(_completing(stable_id(agent, index, "end"), ready.words, conversation))
    if "yield" in conversation.tools and agent != MAIN and not ready.calls:
        speeches.append(_yielding(stable_id(agent, index, "end"), ready.words, conversation))
    return ready


def _calling(uid: str, block: ToolBlock, conversation: Conversation) -> Calling:
    name, args = translate(block.tool, block.args, conversation.tools)
    offered = conversation.tools.get(name)
    return Calling(uid, block, name, args, offered.namespace if offered else "")


def _completing(uid: str, words: str, conversation: Conversation) -> Calling:
    """Subagents of gemini end with a call, not with a text."""
    schema = conversation.tools["complete_task"].properties.get("result") or {}
    is_object = str(schema.get("type", "string")).lower() == "object"
    result: object = {"response": words, **_others(schema)} if is_object else words
    block = ToolBlock(tool="complete_task", args={"result": result})
    return Calling(uid, block, block.tool, block.args)


def _yielding(uid: str, words: str, conversation: Conversation) -> Calling:
    """So do those of sightline and oh-my-pi, which wants its result in an object."""
    schema = conversation.tools["yield"].properties.get("result") or {}
    result: object = {"data": words} if '"data"' in as_json(schema) else words
    block = ToolBlock(tool="yield", args={"result": result})
    return Calling(uid, block, block.tool, block.args)


def _others(schema: dict[str, object]) -> dict[str, object]:
    filled = smallest_value(schema)
    return {name: value for name, value in filled.items() if name != "response"}


def _side_turn(conversation: Conversation) -> ReadyTurn:
    schema = conversation.answer_schema
    text = "Demo session" if schema is None else as_json(smallest_value(schema))
    uid = stable_id("side", text)
    return ReadyTurn(uid, "", 0, [Saying(uid, TextBlock(text=text))])
