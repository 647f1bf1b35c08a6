"""The events of one answer of generateContent.

Each event has the next parts of the first candidate; a call is one whole part. Text ends where a part of another kind
comes. The event with a finish reason ends the answer, usage may come with any event. A prompt that is refused has
no candidates but `promptFeedback`.
"""

from collections.abc import Callable, Iterator

from sightline.conversation import StopReason
from sightline.events import Usage
from sightline.models._api import Done, ModelError, Piece
from sightline.models._assembly import Assembly
from sightline.models._gemini import _failure
from sightline.models._gemini import _wire as wire
from sightline.models.http import _json
from sightline.models.http._failing import failure, quoted
from sightline.models.http._usage import TokenCounts

_STOP_REASONS: dict[str, StopReason] = {
    "STOP": "stop",
    "FINISH_REASON_UNSPECIFIED": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
}


class GeminiAnswer:
    """Takes events in, gives pieces out."""

    is_over = False  # only the end of the stream shows it

    def __init__(self, assembly: Assembly, price: Callable[[Usage], float | None]) -> None:
        self._assembly = assembly
        self._price = price
        self._tokens = TokenCounts(
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "cachedContentTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "totalTokenCount",
        )
        self._finish: wire.GeminiCandidate | None = None
        self._block = 0
        self._kind = ""  # of the part before: text, thought or another

    def read(self, data: bytes) -> Iterator[Piece]:
        event = _decoded(data)
        if event.error is not None:
            raise _failure.in_stream(event.error)
        if self._tokens.update(event.usage_metadata):
            usage = _usage(self._tokens)
            self._assembly.count(usage, self._price(usage))
        for candidate in event.candidates or []:
            if candidate.index:
                continue
            for part in (candidate.content and candidate.content.parts) or []:
                yield from self._part(part)
            if candidate.finish_reason:
                self._finish = candidate
        blocked = event.prompt_feedback and event.prompt_feedback.block_reason
        if blocked and not event.candidates:
            raise _refused(event.prompt_feedback or wire.PromptFeedback())

    def done(self) -> Done:
        """The stream has ended; ModelError when the answer had not, or came to nothing."""
        if self._finish is None:
            raise failure("cut", "the answer broke off before its end")
        reason = self._finish.finish_reason or ""
        stop_reason = _STOP_REASONS.get(reason)
        ending = quoted(f"{reason}: {self._finish.finish_message}" if self._finish.finish_message else reason)
        if stop_reason is None:
            error = failure("protocol", f"the model could not finish its answer: {ending}")
            error.hint, error.retryable = "try again", True
            raise error
        if stop_reason == "refusal":
            return Done(self._assembly.message(stop_reason, ending))
        return self._assembly.done(stop_reason)

    def _part(self, part: wire.Part) -> Iterator[Piece]:
        if part.function_call is not None:
            yield from self._call(part.function_call, part.thought_signature)
            return
        if part.text is None:
            return
        signature = part.thought_signature or ""
        piece: Piece | None = None
        if part.thought:
            piece = self._assembly.reasoning(self._block_of("thought"), part.text, signature=signature)
            self._kind = "" if signature else "thought"
        elif part.text:
            piece = self._assembly.text(self._block_of("text"), part.text)
        if piece is not None:
            yield piece
        if signature and not part.thought:
            self._assembly.reasoning(self._block_of("signature"), signature=signature)
            self._kind = ""

    def _call(self, call: wire.FunctionCall, signature: str | None) -> Iterator[Piece]:
        key = self._block_of("call")
        self._kind = ""
        opaque = {"thoughtSignature": signature} if signature else None
        begun = self._assembly.call(key, call.name, call.id or "", opaque=opaque)
        arguments = self._assembly.arguments(key, _json.encode(call.args or {}).decode())
        yield from (piece for piece in (begun, arguments) if piece is not None)

    def _block_of(self, kind: str) -> int:
        if kind != self._kind:
            self._block += 1
            self._kind = kind
        return self._block


def _usage(counts: TokenCounts) -> Usage:
    """The API counts thinking beside the text; we count all that was written."""
    return Usage(
        input_tokens=counts.sum("promptTokenCount", "toolUsePromptTokenCount"),
        output_tokens=counts.sum("candidatesTokenCount", "thoughtsTokenCount"),
        cache_read_tokens=counts.sum("cachedContentTokenCount"),
        reasoning_tokens=counts.sum("thoughtsTokenCount"),
        total_tokens=counts.sum("totalTokenCount"),
    )


def _refused(feedback: wire.PromptFeedback) -> ModelError:
    words = feedback.block_reason_message or feedback.block_reason
    return failure("refused", f"the server will not answer this: {quoted(words)}")


def _decoded(data: bytes) -> wire.GeminiResponse:
    try:
        return _json.decode(wire.answer_decoder, data)
    except ValueError as problem:
        raise failure("protocol", f"an event of the answer cannot be read: {problem}") from None
