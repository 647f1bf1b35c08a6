"""What a model writes about a conversation for another model: at a compaction, and when a branch is left."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sightline.agent._bounds import encodable
from sightline.agent._compaction import (
    BRANCH_SUMMARISER,
    SUMMARISER,
    cut_at,
    tokens_in,
    tokens_used,
    written_out,
)
from sightline.agent._hooks import Cancelled, Summary
from sightline.agent._memory import remembered
from sightline.conversation import AssistantMessage, Message, TextPart, UserMessage
from sightline.events import Notice, State, TurnEnded, TurnStarted
from sightline.exceptions import UserMistake
from sightline.journal import Entry
from sightline.models import Done, Model, ModelError, ModelRequest, Retrying

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

_CHARACTERS_AT_MOST = 400_000  # of a conversation that is to be summarised; the oldest go first


class Summaries:
    """Compactions and branch summaries of one agent."""

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent

    def is_long(self) -> bool:
        agent = self._agent
        context, settings = agent.model.facts.context, agent.settings.compaction
        if not settings.auto or not context:
            return False
        return tokens_used(agent.memory.messages, self._overhead()) > context - min(settings.reserve, context // 2)

    async def compact(self, instructions: str = "", *, why: str) -> bool:
        agent = self._agent
        messages = agent.memory.messages
        cut = cut_at(messages, self._keep_recent(why))
        if not cut:
            return False
        before = tokens_used(messages, self._overhead())
        agent.stage.publish(State("compaction", {"running": True, "why": why, "tokens": before}, source="agent"))
        try:
            summary = await self.summary(SUMMARISER, messages[:cut], instructions)
        except asyncio.CancelledError:
            agent.stage.publish(State("compaction", None, source="agent"))
            raise
        except ModelError as error:
            agent.stage.publish(State("compaction", None, source="agent"))
            agent.stage.publish(Notice(f"the conversation could not be summarised: {error.message}", "warning"))
            if why != "overflow":
                return False
            summary = "(The earlier part of this conversation was too long and could not be summarised.)"
        agent.memory.compact(cut, summary, before)
        after = sum(map(tokens_in, agent.memory.messages)) + self._overhead()
        value = {"running": False, "why": why, "tokens": before, "after": after, "summary": summary}
        agent.stage.publish(State("compaction", value, source="agent"))
        return True

    async def move(self, target: str, *, summarize: bool, instructions: str) -> dict[str, Any]:
        agent = self._agent
        tree = agent.memory.tree
        move = tree.move(target)
        if move.already:
            return {"moved": False, "leaf": tree.leaf, "prefill": ""}
        left = tree.abandoned(tree.leaf, move.leaf)
        messages = [message for entry in left if (message := remembered(entry)) is not None]
        said = await agent.hooks.before_tree({"from": tree.leaf, "to": move.leaf, "summarize": summarize})
        if isinstance(said, Cancelled):
            raise UserMistake(f"the move was stopped by an extension: {said.reason}".rstrip(": "))
        summary = said.text if isinstance(said, Summary) else ""
        if not summary and summarize and messages:
            summary = await self.summary(BRANCH_SUMMARISER, messages, instructions)
        agent.memory.move(move.leaf, summary)
        agent.workplace.kept = agent.memory.kept()
        value = {"leaf": tree.leaf, "ranges": tree.ranges()}
        agent.stage.publish(State("branch", value, source="agent"))
        await agent.hooks.tell("tree", value)
        return {"moved": True, "leaf": tree.leaf, "prefill": move.prefill, "summary": summary}

    async def summary(self, system: str, messages: list[Message], instructions: str = "") -> str:
        """In the words of the model for small work. It is a turn: what it costs is part of what the session costs."""
        agent = self._agent
        small = agent.settings.models.small
        model = agent.open_model(small) if small else agent.model
        answers: list[AssistantMessage] = []
        agent.stage.publish(TurnStarted(source="agent"))
        try:
            text = await summarised(model, system, messages, instructions, self._tell_wait, answers.append)
            return encodable(agent.secrets.masked(text))
        finally:
            usage, cost = (answers[0].usage, answers[0].cost) if answers else (None, None)
            agent.stage.publish(TurnEnded(usage, cost, "summary", source="agent"))
            if model is not agent.model:
                await model.close()

    def _tell_wait(self, wait: Retrying) -> None:
        text = f"{wait.reason}; retrying in {wait.seconds:.0f} s"
        self._agent.stage.publish(Notice(text, source="agent"))

    def _keep_recent(self, why: str) -> int:
        """After an overflow less is kept: how much there is room for was known wrongly."""
        settings, context = self._agent.settings.compaction, self._agent.model.facts.context
        keep = min(settings.keep_recent, context // 4) if context else settings.keep_recent
        if why == "overflow":
            used = sum(map(tokens_in, self._agent.memory.messages))
            return min(keep, max(1, used // 2))
        return keep

    def _overhead(self) -> int:
        return len(self._agent.asking.system) // 4


async def summarised(
    model: Model,
    system: str,
    messages: list[Message],
    instructions: str = "",
    on_wait: Callable[[Retrying], None] = lambda wait: None,
    on_answer: Callable[[AssistantMessage], None] = lambda answer: None,
) -> str:
    """What a model makes of a conversation."""
    context = model.facts.context
    most = min(_CHARACTERS_AT_MOST, 2 * context) if context else _CHARACTERS_AT_MOST  # half of what it reads, about
    text = encodable(written_out(messages))
    text = text[-most:] + (f"\n\nWhat matters most: {instructions}" if instructions else "")
    answer: str | None = None
    async for piece in model.stream(ModelRequest(system=system, messages=[UserMessage([TextPart(text)])])):
        if isinstance(piece, Done):
            answer = piece.message.text.strip()
            on_answer(piece.message)
        elif isinstance(piece, Retrying):
            on_wait(piece)
    if answer is None:
        raise ModelError("protocol", "the model's answer is incomplete")
    return answer


async def summarise_branch(model: Model, entries: list[Entry], instructions: str = "") -> str:
    """What is worth knowing of a branch that is left."""
    messages = [message for entry in entries if (message := remembered(entry)) is not None]
    try:
        return await summarised(model, BRANCH_SUMMARISER, messages, instructions)
    finally:
        await model.close()
