"""One request to the model: its pieces become events, its answer a message.

Rules:

- `turn_started`, then what the model says as it says it, then `turn_ended`. An answer that was stopped or cut has an
  end too, and what was said of it is kept.
- A text block is numbered by the event it begins with, so that no two of a session are the same. Words that were shown
  before the answer was cut are not shown again.
- A call is known from its first argument on by the name it then has, whatever becomes of the answer.
- What a call's arguments look like while they are written is told at most ten times a second.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from sightline.agent._again import Again
from sightline.agent._bounds import bounded_value, pieces
from sightline.agent._bugs import log_bug
from sightline.agent._names import shown_names
from sightline.agent._secrets import MaskedStream, Secrets
from sightline.agent._stage import Stage
from sightline.conversation import AssistantMessage, CallPart
from sightline.events import Reasoning, State, Text, ToolArgs, ToolResult, ToolUpdate, TurnEnded, TurnStarted
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
from sightline.text import StreamFilter

_SECONDS_BETWEEN_PREVIEWS = 0.1
_UNFINISHED = "not run: the model did not finish writing the call"

Preview = Callable[[str, str, str], dict[str, Any] | None]  # call, tool name, arguments so far → details


class _Block:
    """A block of the answer: its words, held back where they may be the beginning of a secret."""

    def __init__(self, stream: MaskedStream, tell: Callable[[str], None]) -> None:
        self._stream = stream
        self._tell = tell

    def say(self, text: str) -> None:
        self._told(self._stream.feed(text))

    def end(self) -> None:
        self._told(self._stream.end())

    def _told(self, text: str) -> None:
        if text:
            for piece in pieces(text):
                self._tell(piece)


class Turn:
    """A request under way. `run` once; `stop` ends it early and keeps what came."""

    def __init__(
        self, stage: Stage, model: Model, secrets: Secrets, preview: Preview, again: Again, *, retrying: bool = False
    ) -> None:
        """`again`: what was shown of the answer when it was cut. `retrying`: whoever watches was told that it is asked
        again, and is to hear when that is over."""
        self._stage = stage
        self._model = model
        self._secrets = secrets
        self._preview = preview
        self._again = again
        again.begin()
        self._task: asyncio.Task[AssistantMessage] | None = None
        self._stopped = False
        self._blocks: dict[int, _Block] = {}  # by index in the answer
        self._speaking: int | None = None  # which of them is being told
        self._heard = Assembly(model.api, model.facts.id)
        self._calls: dict[int, str] = {}  # index → our name of the call
        self._written: dict[str, list[str]] = {}
        self._filters: dict[str, StreamFilter] = {}
        self._shown_at = 0.0
        self._retrying = retrying

    async def run(self, request: ModelRequest) -> AssistantMessage:
        """The answer, whole or as far as it came. Raises ModelError when there is none to go on with."""
        self._stage.publish(TurnStarted(source="agent"))
        self._task = asyncio.get_running_loop().create_task(self._asked(request))
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

    async def _asked(self, request: ModelRequest) -> AssistantMessage:
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
            self._stage.publish(State("retry", msgspec.to_builtins(piece), source="agent"))
            return
        self._tell_no_retry()
        if self._speaking != piece.index:
            if self._speaking is not None:
                self._again.interrupted()
            self._end_block()
            self._speaking = piece.index
        match piece:
            case TextDelta():
                self._heard.text(piece.index, piece.text)
                if new := self._again.new(piece.text):
                    self._words(piece.index, Text).say(new)
            case ReasoningDelta():
                self._heard.reasoning(piece.index, piece.text)
                self._again.interrupted()
                self._words(piece.index, Reasoning).say(piece.text)
            case CallBegun():
                self._again.interrupted()
                self._begin_call(piece)
            case CallDelta():
                self._call_delta(piece)

    def _words(self, index: int, kind: type[Text] | type[Reasoning]) -> _Block:
        if index not in self._blocks:
            number = self._again.block if kind is Text else 0

            def tell(text: str) -> None:
                nonlocal number
                number = number or self._stage.seq + 1
                self._again.block = number if kind is Text else 0
                self._stage.publish(kind(text, number, source="agent"))

            self._blocks[index] = _Block(self._secrets.stream(), tell)
        return self._blocks[index]

    def _begin_call(self, piece: CallBegun) -> None:
        self._heard.call(piece.index, piece.name)
        call = self._calls[piece.index] = self._stage.new_call()
        name, native_name = shown_names(piece.name)
        self._written[call] = []
        self._filters[call] = StreamFilter()

        def tell(text: str) -> None:
            self._stage.publish(ToolArgs(call, name, text, native_name, source="agent"))

        self._blocks[piece.index] = _Block(self._secrets.stream(), tell)
        tell("")

    def _call_delta(self, piece: CallDelta) -> None:
        self._heard.arguments(piece.index, piece.delta)
        call = self._calls[piece.index]
        self._written[call].append(piece.delta)
        self._blocks[piece.index].say(self._filters[call].feed(piece.delta))
        now = time.monotonic()
        if now - self._shown_at >= _SECONDS_BETWEEN_PREVIEWS:
            self._shown_at = now
            details = self._preview(call, piece.name, "".join(self._written[call]))
            if details is not None:
                details = bounded_value(self._secrets.masked_value(details))
                self._stage.publish(ToolUpdate(call, details, source="agent"))

    def _end_block(self) -> None:
        if self._speaking is not None and self._speaking in self._blocks:
            self._blocks[self._speaking].end()
        self._speaking = None

    def _tell_no_retry(self) -> None:
        if self._retrying:
            self._retrying = False
            self._stage.publish(State("retry", None, source="agent"))

    def _ended(self, message: AssistantMessage) -> AssistantMessage:
        """The end is told, and the answer has our names for its calls: those that were shown while they were written.

        A call that was shown and is not in the answer ends here."""
        for block in self._blocks.values():
            block.end()
        self._tell_no_retry()
        names = list(self._calls.values())
        calls = [
            msgspec.structs.replace(part, id=names.pop(0) if names else self._stage.new_call())
            if isinstance(part, CallPart)
            else part
            for part in message.parts
        ]
        for name in names:
            self._stage.end_call(ToolResult(name, _UNFINISHED, {"ended": "unfinished"}, True, source="agent"))
        self._stage.publish(TurnEnded(message.usage, message.cost, message.stop_reason, source="agent"))
        return msgspec.structs.replace(message, parts=calls)

    def _failure(self, error: Exception) -> ModelError:
        """A bug in a client fails its request, not the session."""
        log_bug("a model's client failed", error)
        partial = self._ended(self._heard.message("error"))
        text = f"the request failed: {type(error).__name__}: {str(error)[:500]}"
        return ModelError("protocol", text, "this is a bug in sightline: run it with --debug-log FILE", partial=partial)
