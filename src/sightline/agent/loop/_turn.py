"""One request to the model: its pieces become events, its answer a message.

Rules:

- `turn_started`, then the answer as it streams, then `turn_ended`. An answer that was stopped or cut has an end too,
  and the part that came is stored.
- A text block is numbered by the event it begins with, so that no two of a session are the same. Text that was shown
  before the answer was cut is not shown again.
- A call has its id from its first argument on, whatever becomes of the answer.
- Previews of a call's arguments while they are written are published at most ten times a second.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from sightline.actors import Actor
from sightline.agent._bugs import log_bug
from sightline.agent._names import shown_names
from sightline.conversation import AssistantMessage, CallPart
from sightline.events import (
    CallEnding,
    Reasoning,
    RetryState,
    Text,
    ToolArgs,
    ToolResult,
    ToolUpdate,
    TurnEnded,
    TurnStarted,
)
from sightline.models import (
    Assembly,
    CallDelta,
    CallStarted,
    Done,
    Model,
    ModelError,
    ModelRequest,
    ReasoningDelta,
    Retrying,
    TextDelta,
)
from sightline.text import StreamFilter

_SECONDS_BETWEEN_PREVIEWS = 0.1
_UNFINISHED = "not run: the model did not finish writing the call"

Preview = Callable[[str, str, str], dict[str, object] | None]  # call, tool name, arguments so far → details


class ShownAnswer:
    """What was shown of an answer, over all the attempts to get it.

    While a new attempt repeats the old answer literally, nothing is published; what follows continues the block that
    was cut. Where it differs, it is another answer, and all of it is published."""

    def __init__(self) -> None:
        self.block = 0  # the number of the block that was cut; 0: words begin a block of their own
        self._shown = ""
        self._heard = ""
        self._comparing = False

    def begin(self) -> None:
        """A request begins, the first or a retry."""
        self._heard = ""
        self._comparing = bool(self._shown)

    def interrupted(self) -> None:
        """Something else was shown in between: a block is never reopened after that."""
        self.block = 0

    def new(self, text: str) -> str:
        """The part of this text that was not shown yet."""
        if not self._comparing:
            self._shown += text
            return text
        self._heard += text
        if self._shown.startswith(self._heard):
            return ""
        self._comparing = False
        if self._heard.startswith(self._shown):
            more = self._heard[len(self._shown) :]
            self._shown = self._heard
            return more
        self._shown, self.block = self._heard, 0
        return self._heard


class ModelTurn:
    """A request under way. `run` once; `stop` ends it early and keeps what came."""

    def __init__(
        self, actor: Actor, model: Model, preview: Preview, again: ShownAnswer, *, retrying: bool = False
    ) -> None:
        """`again`: what was shown of the answer when it was cut. `retrying`: views show a retry that is to end."""
        self._actor = actor
        self._model = model
        self._preview = preview
        self._again = again
        again.begin()
        self._task: asyncio.Task[AssistantMessage] | None = None
        self._stopped = False
        self._blocks: dict[int, int] = {}  # index in the answer → number of the block
        self._speaking: int | None = None  # the index of what is being written
        self._heard = Assembly(model.api, model.facts.id)
        self._calls: dict[int, str] = {}  # index → our name of the call
        self._written: dict[str, list[str]] = {}
        self._filters: dict[str, StreamFilter] = {}
        self._shown_at = 0.0
        self._retrying = retrying

    async def run(self, request: ModelRequest) -> AssistantMessage:
        """The answer, whole or as far as it came. Raises ModelError when there is none to continue with."""
        self._actor.publish(TurnStarted())
        self._task = asyncio.get_running_loop().create_task(self._stream_answer(request))
        try:
            message = await self._task
        except asyncio.CancelledError:
            message = self._ended(self._heard.message("aborted"))
            if not self._stopped:
                raise
            return message
        except ModelError as error:
            error.partial = self._ended(error.partial or self._heard.message("error"))
            raise
        except Exception as error:
            raise self._failure(error) from error
        return self._ended(message)

    def stop(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def _stream_answer(self, request: ModelRequest) -> AssistantMessage:
        answer: AssistantMessage | None = None
        async for piece in self._model.stream(request):  # to its end, so that the connection is free again
            if type(piece) is Done:
                answer = piece.message
            else:
                self._take(piece)
        if answer is None:
            raise ModelError("protocol", "the model's answer is incomplete")
        return answer

    def _take(self, piece: Any) -> None:
        if type(piece) is Retrying:
            self._retrying = True
            self._actor.publish(RetryState(piece.reason, piece.attempt, piece.attempts, piece.seconds).as_state())
            return
        self._end_retry()
        if self._speaking != piece.index:
            if self._speaking is not None:
                self._again.interrupted()
            self._speaking = piece.index
        match piece:
            case TextDelta():
                self._heard.text(piece.index, piece.text)
                if new := self._again.new(piece.text):
                    block = self._again.block = self._block(piece.index, self._again.block)
                    self._actor.publish(Text(new, block))
            case ReasoningDelta():
                self._heard.reasoning(piece.index, piece.text)
                self._again.interrupted()
                if piece.text:
                    self._again.block = 0
                    self._actor.publish(Reasoning(piece.text, self._block(piece.index)))
            case CallStarted():
                self._again.interrupted()
                self._begin_call(piece)
            case CallDelta():
                self._call_delta(piece)

    def _block(self, index: int, begun: int = 0) -> int:
        """The number of a block of the answer. `begun`: of one that was cut off and is continued."""
        if index not in self._blocks:
            self._blocks[index] = begun or self._actor.new_block()
        return self._blocks[index]

    def _begin_call(self, piece: CallStarted) -> None:
        self._heard.call(piece.index, piece.name)
        call = self._calls[piece.index] = self._actor.new_call()
        name, native_name = shown_names(piece.name)
        self._written[call] = []
        self._filters[call] = StreamFilter()
        self._actor.publish(ToolArgs(call, name, "", native_name))

    def _call_delta(self, piece: CallDelta) -> None:
        self._heard.arguments(piece.index, piece.delta)
        call = self._calls[piece.index]
        self._written[call].append(piece.delta)
        name, native_name = shown_names(piece.name)
        if delta := self._filters[call].feed(piece.delta):
            self._actor.publish(ToolArgs(call, name, delta, native_name))
        now = time.monotonic()
        if now - self._shown_at >= _SECONDS_BETWEEN_PREVIEWS:
            self._shown_at = now
            details = self._preview(call, piece.name, "".join(self._written[call]))
            if details is not None:
                self._actor.publish(ToolUpdate(call, details))

    def _end_retry(self) -> None:
        if self._retrying:
            self._retrying = False
            self._actor.publish(RetryState.over())

    def _ended(self, message: AssistantMessage) -> AssistantMessage:
        """Publish the end. Returns the answer with our ids of its calls: those shown while they were written.

        A call that was shown and is not in the answer ends here."""
        self._end_retry()
        names = list(self._calls.values())
        calls = [
            msgspec.structs.replace(part, id=names.pop(0) if names else self._actor.new_call())
            if isinstance(part, CallPart)
            else part
            for part in message.parts
        ]
        for name in names:
            self._actor.publish(ToolResult(name, _UNFINISHED, CallEnding(ended="unfinished").as_details(), True))
        self._actor.publish(TurnEnded(message.usage, message.cost, message.stop_reason))
        return msgspec.structs.replace(message, parts=calls)

    def _failure(self, error: Exception) -> ModelError:
        """A bug in a client fails its request, not the session."""
        log_bug("a model's client failed", error)
        partial = self._ended(self._heard.message("error"))
        text = f"the request failed: {type(error).__name__}: {str(error)[:500]}"
        return ModelError("protocol", text, "this is a bug in sightline: run it with --debug-log FILE", partial=partial)
