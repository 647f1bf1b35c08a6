"""A question of the user beside the conversation (`/btw`), answered by a copy of the agent.

Rules:

- The copy reads the conversation as it stands, in the request the agent itself would make: the same system text, tools,
  model and thinking level, so that a server has the beginning of it in its cache.
- The tools are there for that cache alone: the copy answers from what it reads. A call it makes is not run, and it is
  sent once more.
- Of the question and the answer nothing is stored with the conversation, and the agent's run, its queue and what is
  counted for it are left alone.
"""

from collections.abc import Sequence

from sightline.actors import Actor, encodable
from sightline.agent._current_model import CurrentModel
from sightline.agent.conversation._repair import unanswered
from sightline.agent.loop._model_request import ModelRequests
from sightline.agent.loop._run import ENDS, STOPPED, RunOutcome, added
from sightline.agent.loop._turn import ModelTurn, ShownAnswer
from sightline.conversation import (
    SIDE_QUESTION,
    AssistantMessage,
    CallPart,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)
from sightline.events import CallEnding, Notice, RetryState, ToolResult, Usage
from sightline.models import ModelError
from sightline.settings import Settings, stored_keys

_REQUESTS = 2
_ABOUT = """\
The user asks this beside the conversation. Answer it now, in one answer, from what you know and from what stands \
above: you have no tools for it, and a call would not be run. You may be in the middle of a task, which continues \
beside this: do not continue it in your answer, and do not announce what you are going to do. Neither the question nor \
your answer becomes part of the conversation."""
_RUNNING = "There is no result yet: the call has not ended."
_NOT_RUN = "not run: a side question is answered without tools"
_TOO_LONG = "`/compact` makes the conversation shorter"


class SideQuestion:
    """Answer it once. `actor`: what the answer is published by."""

    def __init__(
        self,
        text: str,
        actor: Actor,
        messages: Sequence[Message],
        *,
        model: CurrentModel,
        model_requests: ModelRequests,
        settings: Settings,
    ) -> None:
        """`messages`: the conversation, as it is when this is made."""
        self._text = text
        self._actor = actor
        self._messages = [*messages, *_without_result(messages)]
        self._model = model.model  # another one may be chosen meanwhile
        self._thinking = model.thinking
        self._model_requests = model_requests
        self._settings = settings
        self._turn: ModelTurn | None = None
        self._stopped = False
        self.usage: Usage | None = None
        self.cost: float | None = None

    def stop(self) -> None:
        """End it soon. The text so far stays."""
        self._stopped = True
        if self._turn is not None:
            self._turn.stop()

    async def answer(self) -> RunOutcome:
        """Publishes the answer as it comes; a ModelError is up to the caller."""
        self._actor.secrets.learn(stored_keys())  # one may have been pasted since
        self._messages.append(self._question())
        text, reason = "", "stop"
        try:
            for _ in range(_REQUESTS):
                if self._stopped:
                    break
                message = await self._ask()
                text, reason = message.text, message.stop_reason
                if not message.calls:
                    break
        except ModelError as error:
            if error.partial is not None:
                self._count(error.partial)
                self._refuse(error.partial)
            if not self._stopped:
                self._actor.publish(RetryState.over())
                error.hint = _TOO_LONG if error.kind == "overflow" else error.hint
                raise
        if self._stopped:
            return RunOutcome(exit_code=STOPPED["cancelled"], stop_reason="cancelled", text=text)
        problem = reason if reason in ENDS else "" if text.strip() else "empty"
        if problem:
            about, hint = ENDS[problem]
            self._actor.publish(Notice(about, "warning", hint))
        return RunOutcome(exit_code=0, stop_reason=reason, text=text)

    def _question(self) -> UserMessage:
        question = f"<side-question>\n{_ABOUT}\n</side-question>\n\n{self._text}"
        return UserMessage([TextPart(encodable(self._actor.secrets.masked(question)))], SIDE_QUESTION)

    async def _ask(self) -> AssistantMessage:
        request = self._model_requests.aside(
            self._messages,
            thinking=self._thinking,
            max_output=self._settings.models.max_output,
            sees=self._model.facts.images is not False,
        )
        self._turn = ModelTurn(self._actor, self._model, lambda call, name, args: None, ShownAnswer())
        message = await self._turn.run(request)
        self._count(message)
        self._refuse(message)
        return message

    def _refuse(self, message: AssistantMessage) -> None:
        """None of its calls is run; the copy reads that."""
        self._messages.append(message)
        for call in message.calls:
            self._actor.publish(ToolResult(call.id, _NOT_RUN, CallEnding(ended="refused").as_details(), True))
            self._messages.append(_result(call, _NOT_RUN, is_error=True))

    def _count(self, message: AssistantMessage) -> None:
        self.usage = added(self.usage, message.usage)
        if message.cost is not None:
            self.cost = (self.cost or 0.0) + message.cost


def _without_result(messages: Sequence[Message]) -> list[Message]:
    """A result for each call that is running, or waits for an answer of the user: no request may be without."""
    if not messages or isinstance(messages[-1], UserMessage):
        return []
    return [_result(call, _RUNNING) for call in unanswered(messages)]


def _result(call: CallPart, text: str, *, is_error: bool = False) -> ToolMessage:
    return ToolMessage(call.id, call.name, [TextPart(text)], call.native_id, is_error)
