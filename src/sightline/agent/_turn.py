"""One request to the model: its pieces become events, its answer a message.

Rules:

- `turn_started`, then what the model says as it says it, then `turn_ended`. An answer that was stopped or cut has an
  end too, and what was said of it is kept.
- A text block is numbered by the event it begins with, so that no two of a session are the same.
- What a call's arguments look like while they are written is told at most ten times a second.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from sightline.agent._secrets import Secrets
from sightline.agent._stage import Stage
from sightline.conversation import AssistantMessage, CallPart
from sightline.events import Reasoning, State, Text, ToolArgs, ToolUpdate, TurnEnded, TurnStarted
from sightline.models import (
    Assembly,
    CallBegun,
    CallDelta,
    Done,
    Model,
    ModelError,
    ModelRequest,
    ReasoningDelta,
    Retrying,
    TextDelta,
)

_SECONDS_BETWEEN_PREVIEWS = 0.1

Preview = Callable[[str, str, str], dict[str, Any] | None]  # call, tool name, arguments so far → details


class Turn:
    """A request under way. `run` once; `stop` ends it early and keeps what came."""

    def __init__(self, stage: Stage, model: Model, secrets: Secrets, preview: Preview) -> None:
        self._stage = stage
        self._model = model
        self._secrets = secrets
        self._preview = preview
        self._task: asyncio.Task[AssistantMessage] | None = None
        self._stopped = False
        self._blocks: dict[int, int] = {}  # index of a block in the answer → its number
        self._heard = Assembly(model.api, model.facts.id)
        self._calls: dict[int, str] = {}  # index → our name of the call
        self._written: dict[str, list[str]] = {}
        self._shown_at = 0.0
        self._retrying = False

    async def run(self, request: ModelRequest) -> AssistantMessage:
        """The answer, whole or as far as it came. Raises ModelError when there is none to go on with."""
        self._stage.publish(TurnStarted(source="agent"))
        self._task = asyncio.get_running_loop().create_task(self._asked(request))
        try:
            message = await self._task
        except asyncio.CancelledError:
            if not self._stopped:
                self._end(None, "aborted")
                raise
            message = self._heard.message("aborted")
        except ModelError as error:
            self._end(error.partial, "error")
            raise
        message = self._named(message)
        self._end(message, message.stop_reason)
        return message

    def stop(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def _asked(self, request: ModelRequest) -> AssistantMessage:
        answer: AssistantMessage | None = None
        async for piece in self._model.stream(request):  # to its end, so that the connection is free again
            if type(piece) is Done:
                answer = piece.message
            else:
                self._take(piece)
        if answer is None:
            raise ModelError("protocol", "the model's answer has no end", partial=self._heard.message("error"))
        return answer

    def _take(self, piece: Any) -> None:
        if self._retrying and type(piece) is not Retrying:
            self._retrying = False
            self._stage.publish(State("retry", None, source="agent"))
        match piece:
            case TextDelta():
                self._heard.text(piece.index, piece.text)
                self._stage.publish(Text(self._secrets.masked(piece.text), self._block(piece.index), source="agent"))
            case ReasoningDelta():
                self._heard.reasoning(piece.index, piece.text)
                text = self._secrets.masked(piece.text)
                self._stage.publish(Reasoning(text, self._block(piece.index), source="agent"))
            case CallBegun():
                self._begin_call(piece)
            case CallDelta():
                self._call_delta(piece)
            case Retrying():
                self._retrying = True
                said = msgspec.to_builtins(piece)
                self._stage.publish(State("retry", said, source="agent"))

    def _begin_call(self, piece: CallBegun) -> None:
        self._heard.call(piece.index, piece.name)
        call = self._calls[piece.index] = self._stage.new_call()
        self._written[call] = []
        self._stage.publish(ToolArgs(call, piece.name, "", source="agent"))

    def _call_delta(self, piece: CallDelta) -> None:
        self._heard.arguments(piece.index, piece.delta)
        call = self._calls[piece.index]
        self._written[call].append(piece.delta)
        self._stage.publish(ToolArgs(call, piece.name, self._secrets.masked(piece.delta), source="agent"))
        now = time.monotonic()
        if now - self._shown_at >= _SECONDS_BETWEEN_PREVIEWS:
            self._shown_at = now
            details = self._preview(call, piece.name, "".join(self._written[call]))
            if details is not None:
                self._stage.publish(ToolUpdate(call, self._secrets.masked_value(details), source="agent"))

    def _block(self, index: int) -> int:
        if index not in self._blocks:
            self._blocks[index] = self._stage.seq + 1
        return self._blocks[index]

    def _named(self, message: AssistantMessage) -> AssistantMessage:
        """With our names for its calls: those that were shown while they were written."""
        names = iter(self._calls.values())
        parts = [
            msgspec.structs.replace(part, id=next(names, None) or self._stage.new_call())
            if isinstance(part, CallPart)
            else part
            for part in message.parts
        ]
        return msgspec.structs.replace(message, parts=parts)

    def _end(self, message: AssistantMessage | None, reason: str) -> None:
        usage = None if message is None else message.usage
        cost = None if message is None else message.cost
        self._stage.publish(TurnEnded(usage, cost, reason, source="agent"))
