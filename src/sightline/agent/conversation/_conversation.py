"""The conversation of an agent: its messages and stored values, its length, its compaction, and moves in its tree.

Rules:

- What is stored has neither secrets nor what cannot be encoded.
- `compact` and `move` are called while nothing else changes it: the agent sees to that.
"""

import asyncio
from collections.abc import Callable

import msgspec

from sightline.actors import Actor, encodable, encodable_call
from sightline.agent._current_model import CurrentModel
from sightline.agent.conversation._compaction import BRANCH_SUMMARISER, SUMMARISER, cut_at, tokens_in, tokens_used
from sightline.agent.conversation._memory import Memory, remembered
from sightline.agent.conversation._summaries import summarised
from sightline.agent.extensions._hooks import Cancelled, Hooks, Summary
from sightline.agent.loop._queue import QueuedPrompt
from sightline.conversation import SKILL, AssistantMessage, CallPart, Content, Message, TextPart, UserMessage
from sightline.events import BranchState, CompactionState, ContextState, Notice, StateFact, TurnEnded, TurnStarted, User
from sightline.exceptions import UserMistake
from sightline.models import ModelError, Retrying
from sightline.settings import Settings
from sightline.tools._truncation import human_size
from sightline.tools.skills import USED, SkillUse


class AgentConversation:
    """`memory` has its messages, `stored` the values of tools and extensions on this branch."""

    def __init__(
        self,
        memory: Memory,
        model: CurrentModel,
        *,
        actor: Actor,
        hooks: Hooks,
        settings: Callable[[], Settings],
        system: Callable[[], str],
    ) -> None:
        self.memory = memory
        self.stored = memory.stored_values()
        self._model = model
        self._actor = actor
        self._secrets = actor.secrets
        self._hooks = hooks
        self._settings = settings
        self._system = system

    def add_prompt(self, queued: QueuedPrompt) -> None:
        """Add a prompt for the model; shown, unless views see it in some other way."""
        if queued.shown:
            self.show_prompt(queued)
        self.store_prompt(queued)

    def show_prompt(self, queued: QueuedPrompt) -> None:
        event = User(self._storable_text(queued), queued.attachments, queued.how, job=queued.job, mail=queued.mail)
        self._actor.observed_by(queued.origin or "person").publish(event)

    def store_prompt(self, queued: QueuedPrompt) -> None:
        """The model reads it; it is shown already, or seen in some other way."""
        text = self._storable_text(queued)
        parts: list[Content] = [TextPart(text)] if text.strip() else []
        parts += [TextPart(f"[attached file: {url}]") for url in queued.files]
        message = UserMessage([*parts, *queued.images], queued.origin)
        if queued.shown:
            self.memory.add(message)
        else:
            self.memory.add_custom(queued.origin, message)
        if queued.skill is not None:
            self._add_skill(queued.skill)

    def _storable_text(self, queued: QueuedPrompt) -> str:
        return encodable(self._secrets.masked(queued.text))

    def _add_skill(self, skill: SkillUse) -> None:
        """Its text is a message of its own, so that no view takes it for the user's words."""
        text = encodable(self._secrets.masked(skill.text))
        self.memory.add_custom(SKILL, UserMessage([TextPart(text)], SKILL))
        used = self.stored.get(USED)
        names = [*used, skill.name] if isinstance(used, list) else [skill.name]
        self.store_value(USED, list(dict.fromkeys(names)))
        size = human_size(len(text.encode()))
        notice = Notice(f"skill {skill.name} goes to the model with this prompt ({size}): {skill.file}")
        self._actor.observed_by(SKILL).publish(notice)

    def add_extension_message(self, extension: str, text: str) -> None:
        """Add a message of an extension, outside a run."""
        text = encodable(self._secrets.masked(text))
        self._actor.observed_by(extension).publish(User(text, [], "steer"))
        self.memory.add_custom(extension, UserMessage([TextPart(text)], extension))

    def remember(self, message: AssistantMessage) -> None:
        """Store an answer of the model."""
        message = self._secrets.masked_message(message)
        error = self._secrets.masked(message.error)
        parts = [self._storable(part) if isinstance(part, CallPart) else part for part in message.parts]
        model = self._actor.name(message.model)
        self.memory.add(msgspec.structs.replace(message, parts=parts, error=error, model=model))

    def _storable(self, call: CallPart) -> CallPart:
        return encodable_call(msgspec.structs.replace(call, name=self._actor.name(call.name)))

    def store_value(self, name: str, value: object, shown: StateFact | None = None) -> None:
        """Store a value with the conversation, for a tool or an extension: plain data. `shown`: what views receive."""
        masked = self._secrets.masked_value(msgspec.to_builtins(value, str_keys=True))
        self.memory.note("custom", masked, name)
        self.stored[name] = value
        if shown is not None:
            self._actor.publish(shown.as_state())

    def count(self, message: AssistantMessage) -> None:
        """Publish how full the model's context is after an answer."""
        self._publish_context(tokens_used([message]) if message.usage is not None else None)

    def publish_context(self) -> None:
        """The same before the first request: an estimate, of a conversation that is resumed."""
        self._publish_context(tokens_used(self.memory.messages) if self.memory.messages else 0)

    def _publish_context(self, used: int | None) -> None:
        self._actor.publish(ContextState(used, self._model.facts.context).as_state())

    def is_long(self) -> bool:
        """Whether it should be compacted before the next request."""
        context, settings = self._model.facts.context, self._settings().compaction
        if not settings.auto or not context:
            return False
        return tokens_used(self.memory.messages, self._overhead()) > context - min(settings.reserve, context // 2)

    async def compact(self, instructions: str = "", *, why: str) -> bool:
        """Its older part becomes a summary; false when there is nothing to gain."""
        messages = self.memory.messages
        cut = cut_at(messages, self._recent_tokens(why))
        if not cut:
            return False
        before = tokens_used(messages, self._overhead())
        self._actor.publish(CompactionState(True, why, before).as_state())
        try:
            summary = await self._summary(SUMMARISER, messages[:cut], instructions)
        except asyncio.CancelledError:
            self._actor.publish(CompactionState.over())
            raise
        except ModelError as error:
            self._actor.publish(CompactionState.over())
            self._actor.publish(Notice(f"the conversation could not be summarised: {error.message}", "warning"))
            if why != "overflow":
                return False
            summary = "(The earlier part of this conversation was too long and could not be summarised.)"
        self.memory.compact(cut, summary, before)
        after = sum(map(tokens_in, self.memory.messages)) + self._overhead()
        self._actor.publish(CompactionState(False, why, before, after, summary).as_state())
        return True

    async def move(self, target: str, *, summarize: bool, instructions: str) -> dict[str, object]:
        """Continue from another entry of the tree."""
        tree = self.memory.tree
        move = tree.move(target)
        if move.already:
            return {"moved": False, "leaf": tree.leaf, "prefill": ""}
        left = tree.abandoned(tree.leaf, move.leaf)
        messages = [message for entry in left if (message := remembered(entry)) is not None]
        decision = await self._hooks.before_tree({"from": tree.leaf, "to": move.leaf, "summarize": summarize})
        if isinstance(decision, Cancelled):
            raise UserMistake(f"the move was stopped by an extension: {decision.reason}".rstrip(": "))
        summary = decision.text if isinstance(decision, Summary) else ""
        if not summary and summarize and messages:
            summary = await self._summary(BRANCH_SUMMARISER, messages, instructions)
        self.memory.move(move.leaf, summary)
        self.stored.clear()
        self.stored.update(self.memory.stored_values())
        branch = BranchState(tree.ranges(), tree.leaf)
        self._actor.publish(branch.as_state())
        await self._hooks.notify("tree", branch.value)
        return {"moved": True, "leaf": tree.leaf, "prefill": move.prefill, "summary": summary}

    async def _summary(self, system: str, messages: list[Message], instructions: str = "") -> str:
        """A summary by the model for small work. It is a turn: its cost is part of the session's."""
        model = self._model.for_small_work()
        answers: list[AssistantMessage] = []
        self._actor.publish(TurnStarted())
        try:
            text = await summarised(model, system, messages, instructions, self._report_wait, answers.append)
            return encodable(self._secrets.masked(text))
        finally:
            usage, cost = (answers[0].usage, answers[0].cost) if answers else (None, None)
            self._actor.publish(TurnEnded(usage, cost, "summary"))
            if model is not self._model.model:
                await model.close()

    def _report_wait(self, wait: Retrying) -> None:
        text = f"{wait.reason}; retrying in {round(wait.seconds, 1):g} s"
        self._actor.publish(Notice(text))

    def _recent_tokens(self, why: str) -> int:
        """How much stays as it is. After an overflow less does: the room that was assumed was wrong."""
        settings, context = self._settings().compaction, self._model.facts.context
        tokens = min(settings.keep_recent, context // 4) if context else settings.keep_recent
        if why == "overflow":
            used = sum(map(tokens_in, self.memory.messages))
            return min(tokens, max(1, used // 2))
        return tokens

    def _overhead(self) -> int:
        return len(self._system()) // 4
