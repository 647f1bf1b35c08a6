"""Gemini.

An answer is a list of parts of one candidate; streamed, each event is such an answer with the next parts in it, and
the last has the finish reason. A call is always one whole part. The path says whether to stream.
"""

import re
from collections.abc import Iterator
from typing import Any

from sightline.testing.standin._conversation import Conversation, OfferedTool, text_of
from sightline.testing.standin._dialect import Frame, Stream, frame
from sightline.testing.standin._script import ErrorBlock
from sightline.testing.standin._turn import Calling, Cut, ReadyTurn, Saying, Speech, Thinking, as_json, stable_id

_model_in_path = re.compile(r"models/([^:]+):")

_STATUS_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class Gemini:
    def read(self, body: dict[str, Any], path: str) -> Conversation:
        contents = body.get("contents") or []
        config = body.get("generationConfig") or {}
        model = _model_in_path.search(path)
        return Conversation(
            user_text="\n".join(text_of(content) for content in contents if content.get("role") != "model"),
            system=text_of(body.get("systemInstruction")),
            history="".join(map(_letters, contents)),
            tools=_tools(body),
            model=model.group(1) if model else "",
            stream="streamGenerateContent" in path,
            answer_schema=config.get("responseJsonSchema") or config.get("responseSchema"),
        )

    def whole(self, turn: ReadyTurn, conversation: Conversation) -> Any:
        return _answer(turn, conversation, [_part(speech) for speech in turn.speeches], is_last=True)

    def stream(self, turn: ReadyTurn, conversation: Conversation) -> Stream:
        for speech in turn.speeches:
            for part in _parts(speech):
                if isinstance(part, Cut):
                    yield part
                    continue
                yield _frame(_answer(turn, conversation, [part]), speech.block.delay_ms)
        yield _frame(_answer(turn, conversation, [{"text": ""}], is_last=True))

    def error(self, error: ErrorBlock) -> Any:
        word = _STATUS_WORDS.get(error.status, "UNKNOWN")
        return {"error": {"code": error.status, "message": error.error, "status": word}}


def _letters(content: dict[str, Any]) -> str:
    if content.get("role") != "model":
        return "u"
    return "".join("c" if "functionCall" in part else "t" for part in content.get("parts") or [])


def _tools(body: dict[str, Any]) -> dict[str, OfferedTool]:
    return {
        tool["name"]: OfferedTool.from_schema(tool.get("parametersJsonSchema") or tool.get("parameters"))
        for group in body.get("tools") or []
        for tool in group.get("functionDeclarations") or []
    }


def _part(speech: Speech) -> dict[str, Any]:
    match speech:
        case Saying():
            return {"text": speech.text}
        case Thinking():
            return {"text": speech.text, "thought": True}
        case Calling():
            call = {"name": speech.name, "args": speech.args}
            return {"functionCall": call, "thoughtSignature": stable_id(speech.uid, "signature", length=40)}


def _parts(speech: Speech) -> Iterator[dict[str, Any] | Cut]:
    if not isinstance(speech, Saying):
        yield _part(speech)
        return
    for piece in speech.pieces():
        yield piece if isinstance(piece, Cut) else {"text": piece}


def _answer(
    turn: ReadyTurn, conversation: Conversation, parts: list[dict[str, Any]], *, is_last: bool = False
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if is_last:
        candidate["finishReason"] = "STOP"
    spoken = turn.output_tokens - turn.reasoning_tokens
    usage = {
        "promptTokenCount": turn.input_tokens,
        "candidatesTokenCount": spoken,
        "thoughtsTokenCount": turn.reasoning_tokens,
        "totalTokenCount": turn.input_tokens + turn.output_tokens,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": conversation.model,
        "responseId": turn.uid,
    }


def _frame(answer: dict[str, Any], pause_ms: float = 0) -> Frame:
    # Gemini's own client splits events at these two characters when they are not escaped.
    text = as_json(answer).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return frame(text, pause_ms=pause_ms)
